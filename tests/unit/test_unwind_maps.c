// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables of processes in BPF maps, looked up the way bpf/lib/unwind.h describes, and compared with the
 * files' own tables. Needs the right to create maps.
 */
#include "unit.h"

#include <bpf/bpf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "sym/elf_symbols.h"
#include "unwind/unwinder.h"
#include "unwind/walk.h"

static struct unwind_maps maps;

static int make_map(enum bpf_map_type type, const char *name, u32 value, u32 entries, u32 flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd = bpf_map_create(type, name, sizeof(u32), value, entries, &opts);

	if (fd < 0)
		fail_msg("%s: %s", name, strerror(-fd));
	return fd;
}

static int make_slabs(void)
{
	int inner = make_map(BPF_MAP_TYPE_ARRAY, "unwind_slab", sizeof(struct unwind_line),
			     UNWIND_SLAB_LINES, BPF_F_MMAPABLE), fd;
	LIBBPF_OPTS(bpf_map_create_opts, opts, .inner_map_fd = inner);

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "unwind_slabs", sizeof(u32), sizeof(u32),
			    UNWIND_SLABS, &opts);
	assert_true(fd >= 0);
	close(inner);
	return fd;
}

static void make_maps(u32 mappings)
{
	maps = (struct unwind_maps){
		.rules = make_map(BPF_MAP_TYPE_ARRAY, "unwind_rules", sizeof(struct unwind_rule),
				  UNWIND_RULES, 0),
		.files = make_map(BPF_MAP_TYPE_ARRAY, "unwind_files", sizeof(struct unwind_file),
				  UNWIND_FILES, 0),
		.slabs = make_slabs(),
		.found = make_map(BPF_MAP_TYPE_HASH, "unwind_found", sizeof(struct unwind_found),
				  UNWIND_FILES, 0),
		.mappings = make_map(BPF_MAP_TYPE_ARRAY, "unwind_mappings",
				     sizeof(struct unwind_mapping), mappings, BPF_F_MMAPABLE),
		.spaces = make_map(BPF_MAP_TYPE_HASH, "unwind_spaces", sizeof(struct unwind_space),
				   UNWIND_SPACES, 0),
	};
}

static void close_maps(void)
{
	close(maps.rules);
	close(maps.files);
	close(maps.found);
	close(maps.slabs);
	close(maps.mappings);
	close(maps.spaces);
}

/*
 * --- lookups like those of programs ------------------------------------------------------------
 */

static u32 look_word(u32 w)
{
	u32 slab = w / UNWIND_SLAB_WORDS, line = w / UNWIND_LINE_WORDS % UNWIND_SLAB_LINES, id;
	struct unwind_line found;
	int fd;

	assert_int_equal(bpf_map_lookup_elem(maps.slabs, &slab, &id), 0);
	fd = bpf_map_get_fd_by_id(id);
	assert_true(fd >= 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &line, &found), 0);
	close(fd);
	return found.word[w % UNWIND_LINE_WORDS];
}

static bool look_mapping(const struct unwind_space *s, u64 address, struct unwind_mapping *m)
{
	u32 i;

	for (i = s->first; i < s->first + s->n; i++) {
		assert_int_equal(bpf_map_lookup_elem(maps.mappings, &i, m), 0);
		if (address >= m->start && address < m->end)
			return true;
	}
	return false;
}

/* Returns UNWIND_UNKNOWN if there is no rule. */
static struct unwind_rule look(u32 pid, u64 address)
{
	struct unwind_rule rule = {};
	struct unwind_mapping m;
	struct unwind_space space;
	struct unwind_file f;
	u32 page, from, to, i, n;
	u64 own;

	assert_int_equal(bpf_map_lookup_elem(maps.spaces, &pid, &space), 0);
	assert_true(look_mapping(&space, address, &m));
	if (m.file == UNWIND_NO_FILE)
		return rule;
	assert_int_equal(bpf_map_lookup_elem(maps.files, &m.file, &f), 0);
	own = address - m.bias;
	page = (own - f.start) / UNWIND_PAGE;
	if (own < f.start || (own - f.start) / UNWIND_PAGE >= f.pages)
		return rule;
	from = look_word(f.index + page);
	to = look_word(f.index + page + 1);
	assert_true(to - from <= UNWIND_MOST_ROWS_OF_A_PAGE);
	for (i = to; i > from && look_word(f.rows + i - 1) % UNWIND_PAGE > own % UNWIND_PAGE; i--)
		;
	assert_true(i > 0);
	n = look_word(f.rows + i - 1) >> UNWIND_PAGE_BITS;
	assert_int_equal(bpf_map_lookup_elem(maps.rules, &n, &rule), 0);
	return rule;
}

/*
 * --- tests -------------------------------------------------------------------------------------
 */

struct check {
	const struct unwinder *unwinder;
	u32 pid;
	u64 lookups, known;
	struct random random;
};

/* Whether the loader judges frame pointers rightly, by the rule that it finds in the maps itself. */
static bool is_judged(const struct check *c, u64 address, const struct unwind_rule *want)
{
	bool follows = want->cfa == UNWIND_UNKNOWN;
	struct symbol symbol;

	if (want->cfa == UNWIND_FP && want->fp == UNWIND_FP_AT_CFA)
		follows = want->fp_offset == -want->offset && want->ra_offset == 8 - want->offset;
	assert_int_equal(symbols__user(c->unwinder->symbols, c->pid, address, &symbol), 0);
	assert_non_null(symbol.mark);
	return unwinder__is_walked_by_frame_pointers(c->unwinder, *symbol.mark, symbol.module_offset) == follows;
}

/* An address beyond all code of this program, which has no rule. */
#define NO_CODE (1ULL << 40)

/* Frame pointers are as good as anything at NO_CODE, unless the tables cannot be read: then nothing is known. */
static void without_tables(struct unwinder *u, u32 pid)
{
	int files_fd = u->tables.files_fd;
	struct symbol symbol;

	assert_int_equal(symbols__user(u->symbols, pid, (u64)without_tables, &symbol), 0);
	assert_true(unwinder__is_walked_by_frame_pointers(u, *symbol.mark, NO_CODE));
	u->tables.files_fd = -1;
	assert_false(unwinder__is_walked_by_frame_pointers(u, *symbol.mark, NO_CODE));
	u->tables.files_fd = files_fd;
}

/* Compares 40 places of each piece of code in the file's own table and in the maps. */
static int check_code(void *arg, const struct mapping_line *line)
{
	struct check *c = arg;
	struct cfi_table t;
	char path[64];
	u64 address, own;
	int fd, i;

	if (!line->executable || !line->inode)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", c->pid, line->start, line->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!cfi_table__read(&t, fd, NULL)) {
		const struct elf_symbols file = { .segment = t.segment, .nsegments = t.nsegments };

		for (i = 0; i < 40; i++) {
			struct unwind_rule none = {}, got;
			const struct unwind_rule *want;

			address = line->start + random__below(&c->random, line->end - line->start);
			assert_int_equal(elf_symbols__address(&file, address - line->start + line->offset,
							      &own), 0);
			want = cfi_table__find(&t, own) ?: &none;
			got = look(c->pid, address);
			assert_memory_equal(&got, want, sizeof(got));
			assert_true(is_judged(c, address, want));
			c->lookups++;
			c->known += got.cfa != UNWIND_UNKNOWN;
		}
		cfi_table__free(&t);
	}
	close(fd);
	return 0;
}

static void begin(struct unwinder *u, struct symbols **symbols, u32 mappings)
{
	make_maps(mappings);
	assert_int_equal(symbols__new(symbols), 0);
	assert_int_equal(unwinder__init(u, &maps, *symbols), 0);
}

static void end(struct unwinder *u, struct symbols *symbols)
{
	unwinder__end(u);
	symbols__free(symbols);
	close_maps();
}

static void own_process(void **state)
{
	struct unwinder u;
	struct check c = { .unwinder = &u, .pid = getpid(), .random = { 1 } };
	struct symbols *symbols;
	struct unwind_rule rule;
	u32 files;

	(void)state;
	begin(&u, &symbols, UNWIND_MAPPINGS);
	assert_int_equal(unwinder__see(&u, c.pid), 0);
	assert_false(unwinder__is_walked_by_frame_pointers(&u, 0, 0));
	/* The mappings of the process are there at once, but nothing of its files. */
	rule = look(c.pid, (u64)own_process + 40);
	assert_int_equal(rule.cfa, UNWIND_UNKNOWN);
	assert_int_equal(unwinder__finish(&u, UINT64_MAX), 0);
	assert_int_equal(mappings__each(c.pid, check_code, &c), 0);
	assert_true(c.lookups >= 200 && c.known > c.lookups / 2);
	rule = look(c.pid, (u64)own_process + 40);
	assert_true(rule.cfa == UNWIND_SP || rule.cfa == UNWIND_FP);
	without_tables(&u, c.pid);
	/* libc, ld.so, this program and the vdso are there once, however often the process is seen. */
	files = u.tables.nfiles;
	assert_true(files > 5);
	assert_int_equal(unwinder__see(&u, c.pid), 0);
	assert_int_equal(u.tables.nfiles, files);
	end(&u, symbols);
}

static u64 now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

static u32 start_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void end_child(u32 pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static struct unwind_space space_of(u32 pid)
{
	struct unwind_space s = {};

	assert_int_equal(bpf_map_lookup_elem(maps.spaces, &pid, &s), 0);
	return s;
}

/* A child shares its parent's range, even after it has been seen; a process that is gone is forgotten. */
static void children(void **state)
{
	u32 self = getpid(), child = start_child();
	struct unwind_space mine, its;
	struct symbols *symbols;
	struct unwinder u;

	(void)state;
	begin(&u, &symbols, UNWIND_MAPPINGS);
	assert_int_equal(unwinder__forked(&u, child, self), 0);
	assert_int_equal(bpf_map_lookup_elem(maps.spaces, &child, &its), -ENOENT);
	assert_int_equal(unwinder__see(&u, self), 0);
	assert_int_equal(unwinder__forked(&u, child, self), 0);
	mine = space_of(self);
	its = space_of(child);
	assert_memory_equal(&mine, &its, sizeof(its));
	assert_int_equal(unwinder__see(&u, child), 0);
	its = space_of(child);
	assert_memory_equal(&mine, &its, sizeof(its));
	end_child(child);
	u.spaces.swept_ns = 0;
	unwind_spaces__sweep(&u.spaces);
	assert_int_equal(bpf_map_lookup_elem(maps.spaces, &child, &its), -ENOENT);
	space_of(self);
	end(&u, symbols);
}

/* A run about one process skips records about others, but not those about its children. */
static void records(void **state)
{
	u32 self = getpid(), child = start_child(), other = start_child();
	struct unwind_space space;
	struct symbols *symbols;
	struct unwinder u;

	(void)state;
	begin(&u, &symbols, UNWIND_MAPPINGS);
	unwinder__follow(&u, self);
	assert_int_equal(unwinder__changed(&u, other), 0);
	assert_int_equal(bpf_map_lookup_elem(maps.spaces, &other, &space), -ENOENT);
	assert_int_equal(unwinder__changed(&u, self), 0);
	space_of(self);
	/* Reading it again at once would be too often: the call only says so. */
	unwind_spaces__note_seen(&u.spaces, self, now_us() * 1000, NSEC_PER_SEC);
	assert_int_equal(unwinder__changed(&u, self), -EAGAIN);
	assert_int_equal(unwinder__forked(&u, child, self), 0);
	assert_int_equal(unwinder__changed(&u, child), 0);
	space_of(child);
	/* A process that is gone is no error. */
	end_child(child);
	unwind_spaces__note_seen(&u.spaces, child, 0, 0);
	assert_int_equal(unwinder__changed(&u, child), 0);
	/* A process that was seen is not always read again: if it took long, it is left alone for a while. */
	end_child(other);
	assert_int_equal(unwinder__see(&u, other), -ESRCH);
	end(&u, symbols);
}

static void fill(struct unwind_mapping *m, u32 n, u32 tag)
{
	u32 i;

	for (i = 0; i < n; i++)
		m[i] = (struct unwind_mapping){ .start = 4096 * (i + 1), .end = 4096 * (i + 2), .file = tag };
}

/*
 * Random replacements: a process has the mappings that were put last, no two processes share a place,
 * and mappings replaced less than a second ago are still as they were.
 */
static void ranges(void **state)
{
	enum { ROOM = 1000, PROCESSES = 20, MOST = 60 };
	struct process_stamp stamp = { .code = 1, .stack = 2 };
	struct unwind_mapping m[MOST], got;
	struct unwind_spaces s;
	struct random random = { 3 };
	struct { u32 n, tag; } has[PROCESSES] = {}, was[ROOM] = {};
	struct unwind_space space;
	u32 round, pid, i, refused = 0, reused = 0;

	(void)state;
	make_maps(ROOM);
	assert_int_equal(unwind_spaces__init(&s, maps.spaces, maps.mappings), 0);
	for (round = 1; round < 500; round++) {
		pid = random__below(&random, PROCESSES);
		has[pid].n = random__below(&random, MOST);
		has[pid].tag = round;
		fill(m, has[pid].n, round);
		stamp.data = round;
		/* Now and then, pretend that a second has passed. */
		if (!random__below(&random, 8)) {
			struct unwind_range *r;

			STAILQ_FOREACH(r, &s.replaced, next)
				r->replaced_ns = 0;
			memset(was, 0, sizeof(was));
		}
		assert_int_equal(unwind_spaces__put(&s, pid, &stamp, m, has[pid].n), 0);
		if (bpf_map_lookup_elem(maps.spaces, &pid, &space)) {
			has[pid].tag = 0;
			refused++;
			continue;
		}
		assert_int_equal(space.n, has[pid].n);
		for (i = space.first; i < space.first + space.n; i++) {
			assert_int_equal(was[i].tag, 0);
			was[i].tag = round;
			reused += round > 250;
		}
		for (i = 0; i < PROCESSES; i++) {
			u32 at;

			if (!has[i].tag || bpf_map_lookup_elem(maps.spaces, &i, &space))
				continue;
			for (at = space.first; at < space.first + space.n; at++) {
				assert_int_equal(bpf_map_lookup_elem(maps.mappings, &at, &got), 0);
				assert_int_equal(got.file, has[i].tag);
				assert_int_equal(got.start, 4096 * (at - space.first + 1));
			}
		}
	}
	assert_int_equal(s.refused, refused);
	assert_true(refused > 0 && reused > 0);
	unwind_spaces__free(&s);
	close_maps();
}

static void add_file(struct unwind_tables *t, const char *path, u32 *number)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct confined_job job;

	assert_true(fd >= 0);
	assert_int_equal(unwind_tables__begin(t, &job, fd), 0);
	while ((err = unwind_tables__take(t, &job, fd, number)) == -EAGAIN)
		assert_int_equal(confined__wait(job.answer_fd, job.end_ns), 0);
	assert_int_equal(err, 0);
	close(fd);
}

/* When there is no room, the first files stay as they were, and the others are counted. */
static void budget(void **state)
{
	static const char *const path[] = {
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/lib64/ld-linux-x86-64.so.2",
	};
	struct unwind_tables t;
	u32 number[ARRAY_SIZE(path)];
	size_t i;

	(void)state;
	make_maps(16);
	assert_int_equal(unwind_tables__init(&t, &maps, 1 << 20), 0);
	for (i = 0; i < ARRAY_SIZE(path); i++)
		add_file(&t, path[i], &number[i]);
	assert_int_equal(t.counts.files, 3);
	assert_int_equal(t.counts.refused, 1);
	assert_true(t.counts.words <= UNWIND_SLAB_WORDS);
	assert_int_equal(number[0], 0);
	assert_int_equal(number[1], 1);
	assert_int_equal(number[2], UNWIND_NO_FILE);
	assert_int_equal(number[3], 2);
	unwind_tables__free(&t);
	close_maps();
}

/* All processes that run: programs of all kinds, also deleted ones and those in containers. */
static void all_processes(void **state)
{
	struct symbols *symbols;
	struct unwinder u;
	u64 start;

	(void)state;
	begin(&u, &symbols, UNWIND_MAPPINGS);
	start = now_us();
	assert_int_equal(unwinder__see_all(&u), 0);
	print_message("%llu processes, %u files, %llu rows, %llu KiB in %llu us\n", u.spaces.nknown,
		      u.tables.nfiles, u.tables.counts.rows, u.tables.counts.words * 4 / 1024,
		      now_us() - start);
	assert_true(u.spaces.nknown > 1 && !u.spaces.refused && !u.tables.counts.refused);
	space_of(getpid());
	end(&u, symbols);
}

/*
 * --- walks by the loader -----------------------------------------------------------------------
 */

#define MOST_FRAMES 64

struct walked {
	struct stack stack;
	u64 frame[MOST_FRAMES];
};

static ssize_t read_self(void *arg, u64 address, void *to, size_t size)
{
	return pread(*(int *)arg, to, size, address);
}

static struct walk_regs regs_of_context(const ucontext_t *c)
{
#if defined(__x86_64__)
	const greg_t *r = c->uc_mcontext.gregs;

	return (struct walk_regs){ r[REG_RIP], r[REG_RSP], r[REG_RBP], r[REG_RBX], r[REG_RDI] };
#else
	return (struct walk_regs){
		c->uc_mcontext.pc, c->uc_mcontext.sp, c->uc_mcontext.regs[29], 0, c->uc_mcontext.regs[30],
	};
#endif
}

/* Also returns the frames of the C library's own walk. Must be neither inlined nor a tail call. */
static __attribute__((noinline)) int walk_here(struct unwind_walker *walker, struct walked *w, void **other)
{
	ucontext_t context;

	getcontext(&context);
	const struct walk_regs regs = regs_of_context(&context);

	unwind_walker__walk(walker, getpid(), &regs, MOST_FRAMES, &w->stack);
	return backtrace(other, MOST_FRAMES);
}

static __attribute__((noinline)) int walk_below(struct unwind_walker *walker, struct walked *w, void **other, int depth)
{
	int n = depth ? walk_below(walker, w, other, depth - 1) : walk_here(walker, w, other);

	__asm__ volatile("");
	return n;
}

static void own_stack(void **state)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC), n, i;
	void *other[MOST_FRAMES];
	struct unwind_walker *walker;
	struct symbols *symbols;
	struct walked w = {};
	struct unwinder u;

	(void)state;
	assert_true(fd >= 0);
	begin(&u, &symbols, UNWIND_MAPPINGS);
	assert_int_equal(unwinder__see(&u, getpid()), 0);
	assert_int_equal(unwinder__finish(&u, UINT64_MAX), 0);
	assert_int_equal(unwind_walker__new(&walker, &u, read_self, &fd), 0);
	n = walk_below(walker, &w, other, 7);
	assert_int_equal(w.stack.user, n);
	assert_true(n > 9);
	for (i = 1; i < n; i++)
		assert_int_equal(w.frame[i], (u64)other[i]);
	assert_int_equal(w.stack.user_end, STACK_ROOT);
	assert_false(walker->is_unread);
	unwind_walker__free(walker);
	end(&u, symbols);
	close(fd);
}

/* Memory and registers may hold anything: a walk ends, with no more frames than it has room for. */
static ssize_t read_anything(void *arg, u64 address, void *to, size_t size)
{
	struct random *r = arg;
	u64 *word = to, i;

	if (!random__below(r, 8))
		return -EIO;
	/* Adjacent frames without end. */
	for (i = 0; i < size / sizeof(*word); i++)
		word[i] = random__below(r, 64) ? (i & 1 ? (u64)read_anything : address + 8 * i + 16) : random__next(r);
	return size;
}

static void any_stack(void **state)
{
	struct random random = { 7 };
	struct unwind_walker *walker;
	struct symbols *symbols;
	struct walked w;
	struct unwinder u;
	u64 full = 0, unread = 0, i;

	(void)state;
	begin(&u, &symbols, UNWIND_MAPPINGS);
	assert_int_equal(unwinder__see(&u, getpid()), 0);
	assert_int_equal(unwinder__finish(&u, UINT64_MAX), 0);
	assert_int_equal(unwind_walker__new(&walker, &u, read_anything, &random), 0);
	for (i = 0; i < 20000; i++) {
		u64 sp = random__below(&random, 3) ? 1ULL << 32 : random__next(&random) >> random__below(&random, 64);
		const struct walk_regs regs = {
			random__below(&random, 2) ? (u64)any_stack + random__below(&random, 64) : random__next(&random),
			sp, sp + 16, random__next(&random), random__next(&random),
		};

		walker->unwinder = i % 2 ? &u : NULL;
		w = (struct walked){};
		unwind_walker__walk(walker, getpid(), &regs, MOST_FRAMES, &w.stack);
		assert_true(w.stack.user >= 1 && w.stack.user <= MOST_FRAMES);
		assert_true(walker->pieces <= WALK_PIECES + 1);
		full += w.stack.user_end == STACK_DEEPER;
		unread += walker->is_unread;
	}
	assert_true(full && unread);
	unwind_walker__free(walker);
	end(&u, symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_process),
		cmocka_unit_test(children),
		cmocka_unit_test(records),
		cmocka_unit_test(ranges),
		cmocka_unit_test(budget),
		cmocka_unit_test(all_processes),
		cmocka_unit_test(own_stack),
		cmocka_unit_test(any_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
