// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file_owner.h"
#include "base/local.h"
#include "base/regular.h"
#include "sym/elf_symbols.h"

#define SLAB_BYTES (sizeof(struct unwind_line) * UNWIND_SLAB_LINES)

int unwind_tables__init(struct unwind_tables *t, const struct unwind_maps *maps, u64 budget)
{
	struct rule_set *rules = malloc(sizeof(*rules));
	u64 slabs = budget / SLAB_BYTES;
	u32 i;

	memset(t, 0, sizeof(*t));
	if (!rules)
		return -ENOMEM;
	*t = (struct unwind_tables){
		.rules_fd = maps->rules,
		.files_fd = maps->files,
		.slabs_fd = maps->slabs,
		.found_fd = maps->found,
		.rules = rules,
		.most_slabs = slabs < UNWIND_SLABS ? slabs : UNWIND_SLABS,
	};
	rule_set__init(rules);
	for (i = 0; i < rules->n; i++)
		if (bpf_map_update_elem(maps->rules, &i, &rules->rule[i], BPF_ANY))
			return -errno;
	return 0;
}

void unwind_tables__free(struct unwind_tables *t)
{
	u32 i;

	for (i = 0; i < t->nfiles; i++)
		free(t->file[i].segment);
	free(t->file);
	free(t->owner);
	free(t->rules);
	if (t->slab)
		munmap(t->slab, SLAB_BYTES);
	memset(t, 0, sizeof(*t));
}

/*
 * --- words -------------------------------------------------------------------------------------
 */

/* Adds the next slab for writing, and stores it in the map. */
static int add_slab(struct unwind_tables *t)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	void *memory;
	int fd, err = 0;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_slab", sizeof(u32),
			    sizeof(struct unwind_line), UNWIND_SLAB_LINES, &opts);
	if (fd < 0)
		return -errno;
	memory = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		err = -errno;
	else if (bpf_map_update_elem(t->slabs_fd, &t->nslabs, &fd, BPF_ANY))
		err = -errno;
	close(fd);
	if (err) {
		if (memory != MAP_FAILED)
			munmap(memory, SLAB_BYTES);
		return err;
	}
	if (t->slab)
		munmap(t->slab, SLAB_BYTES);
	t->slab = memory;
	t->nslabs++;
	return 0;
}

static int put_word(struct unwind_tables *t, u32 word)
{
	u64 at = t->counts.words;
	int err = 0;

	if (at / UNWIND_SLAB_WORDS == t->nslabs)
		err = add_slab(t);
	if (err)
		return err;
	t->slab[at % UNWIND_SLAB_WORDS] = word;
	t->counts.words++;
	return 0;
}

/* If storing a file fails, its words are leaked. They are few, since memory or room has run out. */
static int put_words(struct unwind_tables *t, const struct eh_frame_rows *rows, const u32 *number)
{
	const u32 *row = rows->word + rows->pages + 1;
	int err = 0;
	u32 i;

	for (i = 0; i <= rows->pages && !err; i++)
		err = put_word(t, rows->word[i]);
	for (i = 0; i < rows->nrows && !err; i++)
		err = put_word(t, number[row[i] >> UNWIND_PAGE_BITS] << UNWIND_PAGE_BITS |
				  row[i] % UNWIND_PAGE);
	return err;
}

/*
 * --- shares ------------------------------------------------------------------------------------
 */

static u64 new_rules(const struct unwind_tables *t, const struct cfi_table *file)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < file->nrules; i++)
		n += !rule_set__has(t->rules, &file->rule[i]);
	return n;
}

static struct unwind_room all_room(const struct unwind_tables *t)
{
	return (struct unwind_room){
		.rules = UNWIND_RULES,
		.words = (u64)t->most_slabs * UNWIND_SLAB_WORDS,
		.files = UNWIND_FILES,
	};
}

static struct unwind_room with(const struct unwind_room *a, const struct unwind_room *b)
{
	return (struct unwind_room){ a->rules + b->rules, a->words + b->words, a->files + b->files };
}

/* True if `taken` is more than quarters/4 of all room. */
static bool exceeds(const struct unwind_tables *t, struct unwind_room taken, u32 quarters)
{
	struct unwind_room all = all_room(t);

	return taken.rules * 4 > all.rules * quarters || taken.words * 4 > all.words * quarters ||
	       taken.files * 4 > all.files * quarters;
}

static struct unwind_owner *get_owner(struct unwind_tables *t, u32 uid)
{
	u32 i;

	for (i = 0; i < t->nowners; i++)
		if (t->owner[i].uid == uid)
			return &t->owner[i];
	if (ARRAY_ROOM(t->owner, t->nowners))
		return NULL;
	t->owner[t->nowners] = (struct unwind_owner){ .uid = uid };
	return &t->owner[t->nowners++];
}

/* True if there is room for a file. If not, sets *why to the reason. owner is NULL if it has no share of its own. */
static bool has_room(struct unwind_tables *t, const struct cfi_table *file, const struct unwind_room *needs,
		     const struct unwind_owner *owner, enum unwind_refusal *why)
{
	const struct unwind_room taken = { t->rules->n, t->counts.words, t->nfiles };
	const struct unwind_room alone = { file->nrules, needs->words, 0 };

	if (exceeds(t, alone, 3))
		*why = UNWIND_FILE_TOO_LARGE;
	else if (owner && exceeds(t, with(&owner->taken, needs), 1))
		*why = UNWIND_OWNER_HAS_SHARE;
	else if (owner && exceeds(t, with(&t->users, needs), 2))
		*why = UNWIND_USERS_HAVE_SHARE;
	else if (exceeds(t, with(&taken, needs), 4))
		*why = UNWIND_FULL;
	else
		return true;
	return false;
}

static void note_refused(struct unwind_tables *t, int fd, u32 uid, enum unwind_refusal why)
{
	struct unwind_refused *r;
	char link[32], path[PATH_MAX], *slash;
	ssize_t n;

	if (t->counts.refused++ >= UNWIND_NAMED_REFUSED)
		return;
	r = &t->refused[t->counts.refused - 1];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = 0;
	slash = strrchr(path, '/');
	snprintf(r->name, sizeof(r->name), "%.63s", slash ? slash + 1 : path);
	r->uid = uid;
	r->why = why;
}

static void say_why(const struct unwind_tables *t, const struct unwind_refused *r, FILE *f)
{
	struct unwind_room all = all_room(t);
	u64 mib = all.words * sizeof(u32) >> 20;

	switch (r->why) {
	case UNWIND_FILE_TOO_LARGE:
		fprintf(f, "%s (a file may have %llu unwind rules and %llu MiB of rows)", r->name, all.rules * 3 / 4,
			mib * 3 / 4);
		break;
	case UNWIND_OWNER_HAS_SHARE:
		if (r->uid == OWNER_UNKNOWN)
			fprintf(f, "%s (files on FUSE, whose owners are unknown,", r->name);
		else
			fprintf(f, "%s (the files of user %u", r->name, r->uid);
		fprintf(f, " may have %llu unwind rules and %llu MiB of rows together; files of a program measured "
			   "by -p may use all)", all.rules / 4, mib / 4);
		break;
	case UNWIND_USERS_HAVE_SHARE:
		fprintf(f, "%s (the files of users other than root may have %llu unwind rules and %llu MiB of rows; "
			   "files of a program measured by -p may use all)", r->name, all.rules / 2, mib / 2);
		break;
	case UNWIND_FULL:
		fprintf(f, "%s (the %llu unwind rules or %llu MiB of rows of all files are used up; "
			"-p measures one program)", r->name, all.rules, mib);
		break;
	}
}

u64 unwind_tables__say_refused(const struct unwind_tables *t, FILE *f)
{
	u64 n = t->counts.refused, i;

	for (i = 0; i < n && i < UNWIND_NAMED_REFUSED; i++) {
		fputs(i ? ", " : "", f);
		say_why(t, &t->refused[i], f);
	}
	if (n > UNWIND_NAMED_REFUSED)
		fprintf(f, " and %llu more", n - UNWIND_NAMED_REFUSED);
	return n;
}

/*
 * --- files -------------------------------------------------------------------------------------
 */

/* Returns the map's numbers for the file's rules, or NULL if out of memory, or if a map update failed. */
static u32 *put_rules(struct unwind_tables *t, const struct cfi_table *file)
{
	u32 *number = calloc(file->nrules, sizeof(*number)), i, known;
	bool failed = !number;

	for (i = 0; !failed && i < file->nrules; i++) {
		known = t->rules->n;
		number[i] = rule_set__number(t->rules, &file->rule[i]);
		failed = number[i] >= known &&
			 bpf_map_update_elem(t->rules_fd, &number[i], &file->rule[i], BPF_ANY);
	}
	if (!failed)
		return number;
	free(number);
	return NULL;
}

/* Takes ownership of the segments. */
static int note_file(struct unwind_tables *t, struct cfi_table *file)
{
	if (ARRAY_ROOM(t->file, t->nfiles))
		return -ENOMEM;
	t->file[t->nfiles++] = (struct unwind_segments){ file->segment, file->nsegments };
	file->segment = NULL;
	return 0;
}

/* Writes referenced data first, so that programs never see a dangling reference. */
static int put_file(struct unwind_tables *t, struct cfi_table *file, u32 *number)
{
	struct unwind_file entry = {
		.start = file->rows.start,
		.pages = file->rows.pages,
		.index = t->counts.words,
		.rows = t->counts.words + file->rows.pages + 1,
	};
	u32 *rule = put_rules(t, file), n = t->nfiles;
	int err = rule ? put_words(t, &file->rows, rule) : -ENOMEM;

	free(rule);
	if (!err && bpf_map_update_elem(t->files_fd, &n, &entry, BPF_ANY))
		err = -errno;
	if (!err)
		err = note_file(t, file);
	if (err)
		return err;
	t->counts.files++;
	t->counts.rows += file->rows.nrows;
	t->counts.unsupported += file->counts.unsupported;
	*number = n;
	return 0;
}

/* Counts a file without a table, or an unreadable one. Returns only -ENOMEM as an error. */
static int count_failure(struct unwind_tables *t, int err)
{
	if (err == -ENOEXEC || err == -ENOENT)
		t->counts.silent++;
	else if (err && err != -ENOMEM)
		t->counts.unread++;
	return err == -ENOMEM ? err : 0;
}

/* Stores the table if there is room for it, and charges its owner. */
static int put_table(struct unwind_tables *t, struct cfi_table *file, int fd, u32 *number)
{
	const struct unwind_room needs = { new_rules(t, file), file->rows.pages + 1 + file->rows.nrows, 1 };
	struct unwind_owner *owner = NULL;
	enum unwind_refusal why = UNWIND_FULL;
	u32 payer = file_owner(fd);
	int err;

	if (t->shares && payer) {
		owner = get_owner(t, payer);
		if (!owner)
			return -ENOMEM;
	}
	err = has_room(t, file, &needs, owner, &why) ? put_file(t, file, number) : -ENOSPC;
	if (err) {
		note_refused(t, fd, payer, why);
	} else if (owner) {
		owner->taken = with(&owner->taken, &needs);
		t->users = with(&t->users, &needs);
	}
	return err;
}

static int put_answer(struct unwind_tables *t, const void *answer, size_t size, int fd, u32 *number)
{
	struct cfi_table file;
	int err = cfi_table__take(&file, answer, size);

	if (err)
		return count_failure(t, err);
	err = put_table(t, &file, fd, number);
	cfi_table__free(&file);
	return err == -ENOMEM ? err : 0;
}

int unwind_tables__begin(struct unwind_tables *t, struct confined_job *job, int fd)
{
	return count_failure(t, cfi_table__begin(job, fd, &t->allowance));
}

int unwind_tables__take(struct unwind_tables *t, struct confined_job *job, int fd, u32 *number)
{
	u64 began_ns = job->began_ns;
	void *answer;
	size_t size;
	int err;

	*number = UNWIND_NO_FILE;
	if (!job->pid)
		return 0;
	err = confined__take(job, &answer, &size);
	if (err == -EAGAIN)
		return err;
	if (err)
		return count_failure(t, err);
	err = put_answer(t, answer, size, fd, number);
	free(answer);
	t->counts.time_ns += monotonic_ns() - began_ns;
	return err;
}

/*
 * --- lookup ------------------------------------------------------------------------------------
 */

static int read_line(const struct unwind_tables *t, u32 slab, u32 n, struct unwind_line *line)
{
	u32 id;
	int fd, err;

	if (slab + 1 == t->nslabs) {
		memcpy(line, t->slab + (size_t)n * UNWIND_LINE_WORDS, sizeof(*line));
		return 0;
	}
	err = bpf_map_lookup_elem(t->slabs_fd, &slab, &id);
	fd = err ? err : bpf_map_get_fd_by_id(id);
	if (fd < 0)
		return fd;
	err = bpf_map_lookup_elem(fd, &n, line);
	close(fd);
	return err;
}

static int read_word(const struct unwind_tables *t, u32 n, u32 *word)
{
	struct unwind_line line = {};
	int err = read_line(t, n / UNWIND_SLAB_WORDS, n / UNWIND_LINE_WORDS % UNWIND_SLAB_LINES, &line);

	*word = line.word[n % UNWIND_LINE_WORDS];
	return err;
}

/* Must match unwind_find_rule() in bpf/lib/unwind.bpf.h. */
int unwind_tables__find(const struct unwind_tables *t, u32 number, u64 address, const struct unwind_rule **rule)
{
	u32 from, to, middle, row = 0;
	struct unwind_file f;
	u64 at, page;
	int err = bpf_map_lookup_elem(t->files_fd, &number, &f);

	*rule = NULL;
	if (err)
		return err;
	at = address - f.start;
	page = at >> UNWIND_PAGE_BITS;
	if (page >= f.pages)
		return 0;
	err = read_word(t, f.index + page, &from) ?: read_word(t, f.index + page + 1, &to);
	while (!err && from < to) {
		middle = from + (to - from) / 2;
		err = read_word(t, f.rows + middle, &row);
		if (row % UNWIND_PAGE <= at % UNWIND_PAGE)
			from = middle + 1;
		else
			to = middle;
	}
	if (err || !from)
		return err;
	err = read_word(t, f.rows + from - 1, &row);
	if (!err)
		*rule = &t->rules->rule[row >> UNWIND_PAGE_BITS];
	return err;
}

#define PAGE_BYTES 4096

/* Returns false if there are too many segments. */
static bool find_code(const struct unwind_segments *s, struct unwind_found *found)
{
	const struct elf_segment *from;

	for (from = s->segment; from < s->segment + s->n; from++) {
		if (!from->executable)
			continue;
		if (found->n == UNWIND_SEGMENTS)
			return false;
		found->segment[found->n].from = from->offset - from->offset % PAGE_BYTES;
		found->segment[found->n].to = from->offset + from->size;
		found->segment[found->n++].delta = from->address - from->offset;
	}
	return true;
}

void unwind_tables__announce(const struct unwind_tables *t, u32 number, int fd)
{
	struct unwind_found found = { .file = number };
	struct unwind_identity id;
	struct stat st;

	if (stat_known(fd, &st) || !find_code(&t->file[number], &found))
		return;
	id = (struct unwind_identity){
		.inode = st.st_ino,
		.size = st.st_size,
		.modified_s = st.st_mtim.tv_sec,
		.modified_ns = st.st_mtim.tv_nsec,
		.device = major(st.st_dev) << 20 | minor(st.st_dev),
	};
	bpf_map_update_elem(t->found_fd, &id, &found, BPF_ANY);
	if (is_local_device((u64)major(st.st_dev) << 32 | minor(st.st_dev)) || file_owner(fd))
		return;
	id.device = UNWIND_ANY_DEVICE;
	bpf_map_update_elem(t->found_fd, &id, &found, BPF_ANY);
}

int unwind_tables__bias(const struct unwind_tables *t, u32 number, u64 start, u64 offset, u64 *bias)
{
	const struct elf_symbols file = {
		.segment = t->file[number].segment,
		.nsegments = t->file[number].n,
	};
	u64 address;
	int err = elf_symbols__mapped_address(&file, offset, &address);

	if (!err)
		*bias = start - address;
	return err;
}
