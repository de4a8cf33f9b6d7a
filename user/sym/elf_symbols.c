// SPDX-License-Identifier: BSD-2-Clause
#include "sym/elf_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/confined.h"
#include "types/extents.h"
#include "types/go_file.h"

#define MAX_SEGMENTS 1024
/* The largest page size of supported machines: the kernel maps files in pages. */
#define PAGE_MAX 65536ULL

/*
 * The child's answer begins with this; segments, entries and names follow. The members have types
 * without invalid values, unlike bool.
 */
struct head {
	s64 err;
	u64 nsegments;
	u64 nentries;
	u64 names_size;
	struct build_id build_id;
	struct debug_link link;
	u32 complete;
	u32 debug_info;
	struct debug_alt alt;
	u64 moved, dropped;
	u64 machine;
};

struct sent_segment {
	u64 address, offset, size, executable;
};

/*
 * --- the child: reads untrusted files ----------------------------------------------------------
 */

/* Code ranges of sections. Symbols outside them are ignored. */
struct code {
	u64 start, end;
};

struct reading {
	struct symbol_list list;
	struct code *code;      /* per section; empty if it has no code */
	size_t ncode;
	u64 moved;              /* to add to addresses: prelink moves a file, but not its debug file */
	u64 names;              /* limit in bytes */
	u64 dropped;            /* symbols dropped at the limit */
	bool has_locals;        /* has symbols of local code: `strip -x` and `ld -x` keep only the others */
};

static enum symbol_rank rank_of(const GElf_Sym *s)
{
	int type = GELF_ST_TYPE(s->st_info);

	if (type == STT_NOTYPE)
		return SYMBOL_RANK_LABEL;
	if (type == STT_GNU_IFUNC)
		return SYMBOL_RANK_INDIRECT;
	return GELF_ST_BIND(s->st_info) == STB_LOCAL ? SYMBOL_RANK_LOCAL : SYMBOL_RANK_GLOBAL;
}

/* True for functions and labels in code. Excludes the compiler's local labels and mapping symbols. */
static bool is_code(const GElf_Sym *s, const char *name)
{
	int type = GELF_ST_TYPE(s->st_info);

	if (type == STT_NOTYPE)
		return strncmp(name, ".L", 2) && name[0] != '$';
	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* True if the source makes it local. The linker makes hidden symbols like _init local, and keeps them with -x. */
static bool is_own_local(const GElf_Sym *s, const char *name)
{
	return GELF_ST_BIND(s->st_info) == STB_LOCAL && GELF_ST_VISIBILITY(s->st_other) == STV_DEFAULT &&
	       strcmp(name, "_init") && strcmp(name, "_fini");
}

static int keep(void *arg, const GElf_Sym *symbol, const char *name, size_t len)
{
	struct reading *r = arg;
	struct symbol_candidate c = { .start = symbol->st_value, .size = symbol->st_size };
	const struct code *code;

	if (!is_code(symbol, name) || symbol->st_shndx >= r->ncode)
		return 0;
	code = &r->code[symbol->st_shndx];
	if (c.start < code->start || c.start >= code->end)
		return 0;
	r->has_locals |= is_own_local(symbol, name);
	if (c.size > code->end - c.start)
		c.size = code->end - c.start;
	c.limit = code->end + r->moved;
	c.start += r->moved;
	c.rank = rank_of(symbol);
	if (len >= r->names) {
		r->dropped++;
		return 0;
	}
	r->names -= len + 1;
	return symbol_list__add(&r->list, &c, name, len);
}

static void allow_names(struct reading *r, const struct elf_file *f)
{
	static const char *const strings[] = { ".strtab", ".dynstr" };
	GElf_Shdr header;
	Elf_Data *data;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(strings); i++)
		if (!elf_file__section(f, strings[i], &header, &data))
			r->names += 4 * (u64)data->d_size;
}

static int find_code(struct reading *r, const struct elf_file *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;
	size_t n, i;

	if (elf_getshdrnum(f->elf, &n) || n > SHN_LORESERVE)
		n = 0;
	free(r->code);
	r->ncode = 0;
	r->code = calloc(n ?: 1, sizeof(*r->code));
	if (!r->code)
		return -ENOMEM;
	r->ncode = n;
	while ((section = elf_nextscn(f->elf, section))) {
		i = elf_ndxscn(section);
		if (i >= n || !gelf_getshdr(section, &h) || !(h.sh_flags & SHF_EXECINSTR) ||
		    !(h.sh_flags & SHF_ALLOC))
			continue;
		r->code[i].start = h.sh_addr;
		if (__builtin_add_overflow(h.sh_addr, h.sh_size, &r->code[i].end))
			r->code[i].end = h.sh_addr;
	}
	return 0;
}

/* Reads both symbol tables of a file. Sets *complete if it has a .symtab. Skips a damaged table. */
static int read_tables(struct reading *r, const struct elf_file *f, u32 *complete)
{
	int err = find_code(r, f);

	if (err)
		return err;
	allow_names(r, f);
	err = elf_file__symbols(f, ".symtab", ".strtab", keep, r);
	*complete |= !err;
	if (!err || err == -ENOENT || err == -EBADMSG)
		err = elf_file__symbols(f, ".dynsym", ".dynstr", keep, r);
	return err == -ENOENT || err == -EBADMSG ? 0 : err;
}

/*
 * Limits symbols without a size to their function's extent in .eh_frame. A symbol that .eh_frame does not cover is
 * assumed to extend to the next one, unless local functions may lack symbols.
 */
static int end_unsized(struct reading *r, const struct elf_file *f, bool has_locals)
{
	struct symbol_candidate *s = r->list.symbol, *end = s + r->list.n;
	const struct code_extent *extent;
	struct code_extents e;
	int err;

	while (s < end && s->size)
		s++;
	if (s == end)
		return 0;
	err = code_extents__of_file(&e, f);
	if (err == -ENOMEM)
		return err;
	for (; s < end; s++) {
		extent = code_extents__find(&e, s->start);
		if (extent && extent->start + extent->size < s->limit)
			s->limit = extent->start + extent->size;
		s->is_near = !extent && !has_locals;
	}
	code_extents__free(&e);
	return 0;
}

/* --- Go ---------------------------------------------------------------------------------------- */

static const struct code *code_at(const struct reading *r, u64 address)
{
	size_t i;

	for (i = 0; i < r->ncode; i++)
		if (address >= r->code[i].start && address < r->code[i].end)
			return &r->code[i];
	return NULL;
}

static int keep_go(void *arg, const struct go_function *g)
{
	struct reading *r = arg;
	const struct code *code = code_at(r, g->start);
	struct symbol_candidate c = { .start = g->start, .size = g->end - g->start, .rank = SYMBOL_RANK_LOCAL };

	if (!code)
		return 0;
	if (c.size > code->end - g->start)
		c.size = code->end - g->start;
	c.limit = code->end;
	if (g->len >= r->names) {
		r->dropped++;
		return 0;
	}
	r->names -= g->len + 1;
	return symbol_list__add(&r->list, &c, g->name, g->len);
}

static int read_go(struct reading *r, const struct elf_file *f)
{
	struct go_table t;

	if (go_table__of_file(&t, f))
		return 0;
	r->names += 4 * (u64)t.size;
	return go_table__each(&t, keep_go, r);
}

static u64 first_code(const struct elf_file *f)
{
	size_t i;

	for (i = 0; i < f->nsegments; i++)
		if (f->segment[i].executable)
			return f->segment[i].address;
	return 0;
}

static void find_debug_info(struct head *head, const struct elf_file *f, enum debug_info where)
{
	if (head->debug_info || !elf_file__has_debug_info(f))
		return;
	head->debug_info = where;
	elf_file__alt_link(f, &head->alt);
}

static int read_debug(struct reading *r, const struct elf_file *f, int fd, struct head *head)
{
	struct elf_file debug;
	int err;

	if (elf_file__open_fd(&debug, fd))
		return -ESTALE;
	if (elf_file__belongs(&debug, &head->build_id, &head->link)) {
		head->moved = r->moved = first_code(f) - first_code(&debug);
		err = read_tables(r, &debug, &head->complete);
		r->moved = 0;
		find_debug_info(head, &debug, DEBUG_INFO_SEPARATE);
	} else {
		err = -ESTALE;
	}
	elf_file__close(&debug);
	return err;
}

static int read_all(struct reading *r, const struct elf_file *f, int debug_fd, struct head *head)
{
	struct elf_file small;
	u32 is_small = 0;
	int err;

	elf_file__build_id(f, &head->build_id);
	if (elf_file__debug_link(f, &head->link))
		head->link.name[0] = 0;
	find_debug_info(head, f, DEBUG_INFO_OWN);
	err = read_tables(r, f, &head->complete);
	if (!err && debug_fd >= 0)
		err = read_debug(r, f, debug_fd, head);
	if (!err && !head->complete && !elf_file__open_debugdata(&small, f)) {
		err = read_tables(r, &small, &is_small);
		elf_file__close(&small);
	}
	if (!err)
		err = end_unsized(r, f, r->has_locals || is_small);
	if (err || head->complete)
		return err;
	err = find_code(r, f);
	return err ?: read_go(r, f);
}

static void give_segments(struct answer *to, const struct elf_file *f, u64 n)
{
	struct sent_segment sent;
	u64 i;

	for (i = 0; i < n; i++) {
		const struct elf_segment *s = &f->segment[i];

		sent = (struct sent_segment){ s->address, s->offset, s->size, s->executable };
		answer__put(to, &sent, sizeof(sent));
	}
}

static void give(struct answer *to, struct reading *r, const struct elf_file *f,
		   struct head *head)
{
	struct symbol_entry *entry = NULL;
	size_t names_size = 0;
	char *names = NULL;

	if (!head->err)
		head->err = symbol_list__finish(&r->list, &entry, &head->nentries, &names,
						&names_size);
	head->dropped = r->dropped;
	head->machine = f->header.e_machine;
	head->nsegments = f->nsegments < MAX_SEGMENTS ? f->nsegments : MAX_SEGMENTS;
	head->names_size = names_size;
	answer__put(to, head, sizeof(*head));
	if (!head->err) {
		give_segments(to, f, head->nsegments);
		answer__put(to, entry, head->nentries * sizeof(*entry));
		answer__put(to, names, names_size);
	}
	free(entry);
	free(names);
}

/* Callback of confined_work. Descriptor 0 is the file, 1 is the debug file. */
static void read_symbols(struct answer *to, void *arg)
{
	const bool *has_debug = arg;
	struct reading r = { .names = ELF_SYMBOLS_NAMES };
	struct elf_file f = {};
	struct head head;

	memset(&head, 0, sizeof(head));         /* including padding, which is sent through the pipe */
	head.err = elf_file__open_fd(&f, 0);
	if (!head.err && f.header.e_type != ET_EXEC && f.header.e_type != ET_DYN)
		head.err = -ENOEXEC;
	if (!head.err)
		head.err = read_all(&r, &f, *has_debug ? 1 : -1, &head);
	give(to, &r, &f, &head);
	/* The child exits now, so nothing needs freeing. */
}

/*
 * --- the parent: checks the child's answer -----------------------------------------------------
 */

/* Copies the next n elements of the answer. Returns NULL if the answer is too short, or if out of memory. */
static void *take(const char **at, size_t *left, u64 n, size_t size)
{
	void *copy;

	if (n > *left / size)
		return NULL;
	copy = malloc(n * size ?: 1);
	if (!copy)
		return NULL;
	memcpy(copy, *at, n * size);
	*at += n * size;
	*left -= n * size;
	return copy;
}

static bool is_errno(s64 err)
{
	return err == -ENOEXEC || err == -ESTALE;
}

/* Makes any answer of the child safe to use: checks lengths and terminates strings. */
static int take_head(struct head *head, const char **at, size_t *left)
{
	if (*left < sizeof(*head))
		return -EBADMSG;
	memcpy(head, *at, sizeof(*head));
	*at += sizeof(*head);
	*left -= sizeof(*head);
	if (head->err)
		return is_errno(head->err) ? head->err : -EBADMSG;
	if (head->build_id.n > sizeof(head->build_id.byte) || head->nsegments > MAX_SEGMENTS)
		return -EBADMSG;
	head->link.name[sizeof(head->link.name) - 1] = 0;
	head->alt.path[sizeof(head->alt.path) - 1] = 0;
	if (strchr(head->link.name, '/') || head->debug_info > DEBUG_INFO_SEPARATE ||
	    head->alt.build_id.n > sizeof(head->alt.build_id.byte))
		return -EBADMSG;
	return 0;
}

static struct elf_segment *take_segments(const char **at, size_t *left, u64 n)
{
	struct sent_segment *sent = take(at, left, n, sizeof(*sent));
	struct elf_segment *segment = calloc(n ?: 1, sizeof(*segment));
	u64 i;

	for (i = 0; sent && segment && i < n; i++)
		segment[i] = (struct elf_segment){
			.address = sent[i].address,
			.offset = sent[i].offset,
			.size = sent[i].size,
			.executable = sent[i].executable,
		};
	if (!sent) {
		free(segment);
		segment = NULL;
	}
	free(sent);
	return segment;
}

int elf_symbols__take(struct elf_symbols *s, const void *answer, size_t size)
{
	struct symbol_entry *entry;
	struct elf_symbols new = {};
	const char *at = answer;
	size_t left = size;
	struct head head;
	char *names;
	int err;

	err = take_head(&head, &at, &left);
	if (err)
		return err;
	new.segment = take_segments(&at, &left, head.nsegments);
	entry = take(&at, &left, head.nentries, sizeof(*entry));
	names = take(&at, &left, head.names_size, 1);
	if (!new.segment || !entry || !names) {
		free(new.segment);
		free(entry);
		free(names);
		return -EBADMSG;
	}
	err = symbol_table__adopt(&new.table, entry, head.nentries, names, head.names_size);
	if (err) {
		free(new.segment);
		return err;
	}
	new.nsegments = head.nsegments;
	new.machine = head.machine;
	new.build_id = head.build_id;
	new.link = head.link;
	new.complete = head.complete;
	new.debug_info = head.debug_info;
	new.alt = head.alt;
	new.moved = head.moved;
	new.dropped = head.dropped;
	*s = new;
	return 0;
}

int elf_symbols__ask(int fd, int debug_fd, struct allowance *allowance, void **answer,
		     size_t *size)
{
	bool has_debug = debug_fd >= 0;
	int files[] = { fd, debug_fd };

	return confined__run(read_symbols, &has_debug, files, 1 + has_debug, allowance, answer, size);
}

int elf_symbols__read(struct elf_symbols *s, int fd, int debug_fd, struct allowance *allowance)
{
	void *answer;
	size_t size;
	int err;

	err = elf_symbols__ask(fd, debug_fd, allowance, &answer, &size);
	if (err)
		return err;
	err = elf_symbols__take(s, answer, size);
	free(answer);
	return err;
}

/* Callback of confined_work. */
static void read_build_id(struct answer *to, void *arg)
{
	struct elf_file f = {};
	struct build_id id = {};

	(void)arg;
	if (!elf_file__open_fd(&f, 0))
		elf_file__build_id(&f, &id);
	answer__put(to, &id, sizeof(id));
}

int elf_symbols__build_id(struct build_id *id, int fd, struct allowance *allowance)
{
	void *answer;
	size_t size;
	int err;

	err = confined__run(read_build_id, NULL, &fd, 1, allowance, &answer, &size);
	if (err)
		return err;
	if (size == sizeof(*id))
		memcpy(id, answer, size);
	if (size != sizeof(*id) || id->n > sizeof(id->byte))
		err = -EBADMSG;
	free(answer);
	return err;
}

void elf_symbols__free(struct elf_symbols *s)
{
	symbol_table__free(&s->table);
	free(s->segment);
	memset(s, 0, sizeof(*s));
}

/* True if the segment contains the offset. With slack, the pages around the segment, which are mapped too, count. */
static bool holds(const struct elf_segment *s, u64 offset, u64 slack)
{
	u64 from = s->offset - s->offset % slack, end;

	if (__builtin_add_overflow(s->offset, s->size, &end) ||
	    __builtin_add_overflow(end, slack - 1, &end))
		return false;
	end -= end % slack;
	return offset >= from && offset < end;
}

int elf_symbols__address(const struct elf_symbols *s, u64 offset, u64 *address)
{
	static const u64 slacks[] = { 1, PAGE_MAX };
	const struct elf_segment *seg;
	size_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(slacks); i++) {
		for (seg = s->segment; seg < s->segment + s->nsegments; seg++) {
			/* Segments may share pages of the file: prefer code and exact matches. */
			if (seg->executable == (i % 2 == 0) &&
			    holds(seg, offset, slacks[i / 2])) {
				*address = offset - seg->offset + seg->address;
				return 0;
			}
		}
	}
	return -ENOENT;
}

int elf_symbols__mapped_address(const struct elf_symbols *s, u64 offset, u64 *address)
{
	static const u64 slacks[] = { 1, 4096, PAGE_MAX };
	const struct elf_segment *seg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(slacks); i++) {
		for (seg = s->segment; seg < s->segment + s->nsegments; seg++) {
			if (seg->executable && holds(seg, offset, slacks[i])) {
				*address = offset - seg->offset + seg->address;
				return 0;
			}
		}
	}
	return elf_symbols__address(s, offset, address);
}
