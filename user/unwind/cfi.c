// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/cfi.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confined.h"
#include "types/cie.h"

#define MAX_SEGMENTS 1024

/*
 * --- the child: reads untrusted files ----------------------------------------------------------
 */

/* Bytes of the file, and their address. */
struct section {
	struct cursor bytes;
	u64 address;
	void *memory;           /* freed at the end */
};

static int check_kind(const struct elf_file *f, const struct unwind_machine *machine)
{
	const GElf_Ehdr *h = &f->header;

	/* The x32 ABI has another class. */
	if (h->e_machine != machine->elf || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    (h->e_type != ET_EXEC && h->e_type != ET_DYN))
		return -ENOEXEC;
	return 0;
}

/* Keeps the segments that have data in the file, and whose addresses do not wrap, even one page further. */
static int keep_segments(struct cfi_table *t, const struct elf_file *f)
{
	struct stat st;
	size_t i;

	if (fstat(f->fd, &st))
		return -errno;
	t->segment = calloc(f->nsegments ?: 1, sizeof(*t->segment));
	if (!t->segment)
		return -ENOMEM;
	for (i = 0; i < f->nsegments && t->nsegments < MAX_SEGMENTS; i++) {
		struct elf_segment s = f->segment[i];

		if (s.offset >= (u64)st.st_size || s.address > INT64_MAX)
			continue;
		if (s.size > st.st_size - s.offset)
			s.size = st.st_size - s.offset;
		t->segment[t->nsegments++] = s;
	}
	return 0;
}

static bool find_header(const struct elf_file *f, GElf_Phdr *header)
{
	size_t n, i;

	if (elf_getphdrnum(f->elf, &n))
		return false;
	for (i = 0; i < n && i < INT_MAX; i++)
		if (gelf_getphdr(f->elf, i, header) && header->p_type == PT_GNU_EH_FRAME)
			return true;
	return false;
}

/* Parses .eh_frame_hdr: a version, three encodings, and the address of .eh_frame in the first encoding. */
static int find_by_header(const struct elf_file *f, u64 *address)
{
	u8 bytes[16];
	struct eh_bytes b;
	struct cursor c;
	GElf_Phdr h;
	ssize_t n;
	u8 encoding;

	if (!find_header(f, &h))
		return -ENOENT;
	n = pread(f->fd, bytes, sizeof(bytes), h.p_offset);
	if (n < 0)
		return -EBADMSG;
	c = cursor__of(bytes, n);
	if (cursor__take(&c, 1) != 1)
		return -EBADMSG;
	encoding = cursor__take(&c, 1);
	cursor__take(&c, 2);
	b = (struct eh_bytes){ bytes, bytes + n, h.p_vaddr, 8 };
	return eh_take_pointer(&c, encoding, &b, address) ? 0 : -EBADMSG;
}

/* Reads from an address to the end of its segment, or up to the limit. */
static int read_segment(const struct elf_file *f, const struct cfi_table *t, u64 address,
			struct section *to)
{
	const struct elf_segment *s;
	u64 size;
	ssize_t n;

	for (s = t->segment; s < t->segment + t->nsegments; s++)
		if (address >= s->address && address - s->address < s->size)
			break;
	if (s == t->segment + t->nsegments)
		return -EBADMSG;
	size = s->size - (address - s->address);
	if (size > EH_FRAME_MAX_SIZE)
		size = EH_FRAME_MAX_SIZE;
	to->memory = malloc(size ?: 1);
	if (!to->memory)
		return -ENOMEM;
	n = pread(f->fd, to->memory, size, s->offset + (address - s->address));
	if (n < 0)
		return -EBADMSG;
	to->bytes = cursor__of(to->memory, n);
	to->address = address;
	return 0;
}

static int find_section(const struct elf_file *f, const struct cfi_table *t, struct section *found)
{
	GElf_Shdr header;
	Elf_Data *data;
	u64 address;
	int err;

	if (!elf_file__section(f, ".eh_frame", &header, &data)) {
		found->bytes = cursor__of(data->d_buf, data->d_size);
		found->address = header.sh_addr;
		return 0;
	}
	err = find_by_header(f, &address);
	return err ?: read_segment(f, t, address, found);
}

static int keep_rules(struct cfi_table *t, const struct rule_set *rules)
{
	t->rule = calloc(rules->n, sizeof(*t->rule));
	if (!t->rule)
		return -ENOMEM;
	memcpy(t->rule, rules->rule, rules->n * sizeof(*t->rule));
	t->nrules = rules->n;
	return 0;
}

static int read_rows(struct cfi_table *t, const struct unwind_machine *machine, const struct section *section,
		     struct rule_set *rules, bool tracks_base)
{
	rule_set__init(rules);
	rules->tracks_base = tracks_base;
	t->counts = (struct eh_frame_counts){};
	eh_frame_rows__free(&t->rows);
	return eh_frame__read(&t->rows, rules, &t->counts, machine, section->bytes, section->address,
			      t->segment, t->nsegments);
}

/* Tracks the base register only if needed: few files need it, and it would add rows to all others. */
static int read_section(struct cfi_table *t, const struct unwind_machine *machine,
			const struct section *section)
{
	struct rule_set *rules = malloc(sizeof(*rules));
	int err;

	if (!rules)
		return -ENOMEM;
	err = read_rows(t, machine, section, rules, false);
	if (!err && rules->needs_base)
		err = read_rows(t, machine, section, rules, true);
	if (!err)
		err = t->rows.nrows ? keep_rules(t, rules) : -ENOENT;
	free(rules);
	return err;
}

int cfi_table__make(struct cfi_table *t, int fd, const struct unwind_machine *machine)
{
	struct section section = {};
	struct elf_file f;
	int err;

	memset(t, 0, sizeof(*t));
	err = elf_file__open_fd(&f, fd);
	if (err)
		return err;
	err = check_kind(&f, machine);
	if (!err)
		err = keep_segments(t, &f);
	if (!err)
		err = find_section(&f, t, &section);
	if (!err)
		err = read_section(t, machine, &section);
	free(section.memory);
	elf_file__close(&f);
	if (err)
		cfi_table__free(t);
	return err;
}

/*
 * The child's answer begins with this; segments, rules and words follow. The members have types
 * without invalid values, unlike bool.
 */
struct head {
	s64 err;
	u64 nsegments, nrules, nrows, pages, start;
	struct eh_frame_counts counts;
};

struct sent_segment {
	u64 address, offset, size, executable;
};

static void give_segments(struct answer *to, const struct cfi_table *t)
{
	struct sent_segment sent;
	size_t i;

	for (i = 0; i < t->nsegments; i++) {
		const struct elf_segment *s = &t->segment[i];

		sent = (struct sent_segment){ s->address, s->offset, s->size, s->executable };
		answer__put(to, &sent, sizeof(sent));
	}
}

/* Callback of confined_work; the file is descriptor 0. */
static void give(struct answer *to, void *arg)
{
	struct cfi_table t;
	struct head head = { .err = cfi_table__make(&t, 0, &UNWIND_OWN_MACHINE) };

	(void)arg;
	head.nsegments = t.nsegments;
	head.nrules = t.nrules;
	head.nrows = t.rows.nrows;
	head.pages = t.rows.pages;
	head.start = t.rows.start;
	head.counts = t.counts;
	answer__put(to, &head, sizeof(head));
	if (head.err)
		return;
	give_segments(to, &t);
	answer__put(to, t.rule, t.nrules * sizeof(*t.rule));
	answer__put(to, t.rows.word, (t.rows.pages + 1ULL + t.rows.nrows) * sizeof(*t.rows.word));
}

/*
 * --- the parent: checks the child's answer -----------------------------------------------------
 */

static bool is_errno(s64 err)
{
	return err == -ENOEXEC || err == -ENOENT || err == -E2BIG || err == -ENOMEM;
}

/* Copies n elements from the rest of the answer. Returns NULL if the rest is too short, or if out of memory. */
static void *take(struct cursor *c, u64 n, size_t size)
{
	void *copy;

	if (n > cursor__left(c) / size)
		return NULL;
	copy = malloc(n * size ?: 1);
	if (!copy)
		return NULL;
	memcpy(copy, c->at, n * size);
	c->at += n * size;
	return copy;
}

static int take_segments(struct cfi_table *t, struct cursor *c, u64 n)
{
	struct sent_segment *sent = n <= MAX_SEGMENTS ? take(c, n, sizeof(*sent)) : NULL;
	u64 i;

	if (!sent)
		return -EBADMSG;
	t->segment = calloc(n ?: 1, sizeof(*t->segment));
	for (i = 0; t->segment && i < n; i++)
		t->segment[t->nsegments++] = (struct elf_segment){
			.address = sent[i].address,
			.offset = sent[i].offset,
			.size = sent[i].size,
			.executable = sent[i].executable,
		};
	free(sent);
	return t->segment ? 0 : -ENOMEM;
}

static bool are_rules(const struct cfi_table *t)
{
	static const struct unwind_rule unknown;
	u32 i;

	for (i = 0; i < t->nrules; i++)
		if (t->rule[i].cfa > UNWIND_SIGNAL || t->rule[i].fp > UNWIND_FP_LOST ||
		    t->rule[i].base_at > UNWIND_BASE_SAME)
			return false;
	return t->nrules && !memcmp(t->rule, &unknown, sizeof(unknown));
}

/* Checks the rows of each page: they must rise and have existing rules. */
static bool are_rows(const struct cfi_table *t)
{
	const u32 *index = t->rows.word, *row = index + t->rows.pages + 1;
	u32 page, i;

	if (index[0] || index[t->rows.pages] != t->rows.nrows || !t->rows.nrows ||
	    row[0] % UNWIND_PAGE)
		return false;
	for (page = 0; page < t->rows.pages; page++) {
		if (index[page + 1] < index[page] || index[page + 1] > t->rows.nrows)
			return false;
		for (i = index[page]; i < index[page + 1]; i++)
			if (row[i] >> UNWIND_PAGE_BITS >= t->nrules ||
			    (i > index[page] && row[i] % UNWIND_PAGE <= row[i - 1] % UNWIND_PAGE))
				return false;
	}
	return index[1] > 0;
}

static int take_tables(struct cfi_table *t, struct cursor *c, const struct head *head)
{
	int err;

	if (head->nrules > UNWIND_RULES || !head->pages || head->pages > EH_FRAME_MAX_PAGES ||
	    head->nrows > UINT32_MAX - 1 - head->pages || head->start % UNWIND_PAGE ||
	    head->start > INT64_MAX)
		return -EBADMSG;
	err = take_segments(t, c, head->nsegments);
	if (err)
		return err;
	t->rule = take(c, head->nrules, sizeof(*t->rule));
	t->nrules = head->nrules;
	t->rows.word = take(c, head->pages + 1 + head->nrows, sizeof(*t->rows.word));
	t->rows.nrows = head->nrows;
	t->rows.pages = head->pages;
	t->rows.start = head->start;
	t->counts = head->counts;
	if (!t->rule || !t->rows.word || !are_rules(t) || !are_rows(t))
		return -EBADMSG;
	return 0;
}

int cfi_table__take(struct cfi_table *t, const void *answer, size_t size)
{
	struct cursor c = cursor__of(answer, size);
	struct head head;
	int err;

	memset(t, 0, sizeof(*t));
	if (size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, answer, sizeof(head));
	c.at += sizeof(head);
	if (head.err)
		return is_errno(head.err) ? head.err : -EBADMSG;
	err = take_tables(t, &c, &head);
	if (err)
		cfi_table__free(t);
	return err;
}

int cfi_table__ask(int fd, struct allowance *allowance, void **answer, size_t *size)
{
	return confined__run(give, NULL, &fd, 1, allowance, answer, size);
}

int cfi_table__begin(struct confined_job *job, int fd, struct allowance *allowance)
{
	return confined__begin(job, give, NULL, &fd, 1, allowance);
}

int cfi_table__read(struct cfi_table *t, int fd, struct allowance *allowance)
{
	void *answer;
	size_t size;
	int err;

	memset(t, 0, sizeof(*t));
	err = cfi_table__ask(fd, allowance, &answer, &size);
	if (err)
		return err;
	err = cfi_table__take(t, answer, size);
	free(answer);
	return err;
}

void cfi_table__free(struct cfi_table *t)
{
	eh_frame_rows__free(&t->rows);
	free(t->rule);
	free(t->segment);
	memset(t, 0, sizeof(*t));
}

/* Returns the rule of the last row at or before the address, or NULL if the table does not cover it. */
const struct unwind_rule *cfi_table__find(const struct cfi_table *t, u64 address)
{
	const u32 *index = t->rows.word, *row = index + t->rows.pages + 1;
	u64 page = (address - t->rows.start) / UNWIND_PAGE;
	u32 i;

	if (address < t->rows.start || page >= t->rows.pages)
		return NULL;
	for (i = index[page + 1]; i > index[page]; i--)
		if (row[i - 1] % UNWIND_PAGE <= address % UNWIND_PAGE)
			break;
	return &t->rule[row[i - 1] >> UNWIND_PAGE_BITS];
}

bool cfi_table__has_row(const struct cfi_table *t, u64 address)
{
	const u32 *index = t->rows.word, *row = index + t->rows.pages + 1;
	u64 page = (address - t->rows.start) / UNWIND_PAGE;
	u32 i;

	if (address < t->rows.start || page >= t->rows.pages)
		return false;
	for (i = index[page]; i < index[page + 1]; i++)
		if (row[i] % UNWIND_PAGE == (address - t->rows.start) % UNWIND_PAGE)
			return true;
	return false;
}
