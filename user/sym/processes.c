// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "sym/state.h"

/* Limit on mappings and lines of JIT maps, for all processes together. */
#define MAX_KEPT 1000000

/*
 * --- processes ---------------------------------------------------------------------------------
 */

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

struct process *symbols__find_process(const struct symbols *s, u32 pid)
{
	struct process key = { .pid = pid }, **found;

	found = tfind(&key, &s->processes, compare_processes);
	return found ? *found : NULL;
}

struct process *symbols__find_process_at(const struct symbols *s, u32 pid, u64 at_ns)
{
	struct process *p = symbols__find_process(s, pid);

	while (p && p->from_ns > at_ns)
		p = p->before;
	return p;
}

static void release_jit(struct symbols *s, struct process *p)
{
	if (p->jit.fd >= 0)
		s->held--;
	jit_map__free(&p->jit);
}

void symbols__free_process(struct symbols *s, struct process *p)
{
	release_jit(s, p);
	code__let_go(p->code);
	free(p->former);
	free(p);
}

/* Counts what the process keeps. Shared code is charged to the parent. */
void symbols__count_kept(struct symbols *s, struct process *p)
{
	size_t now = 1 + p->nformer + p->jit.table.n;

	if (p->code && p->code->users == 1)
		now += p->code->n;
	s->kept += now - p->kept;
	p->kept = now;
}

/* Removes a process from the list of those with the same PID. */
static void unchain(struct symbols *s, struct process *p)
{
	struct process **at = tfind(p, &s->processes, compare_processes);

	if (at && *at == p && !p->before) {
		tdelete(p, &s->processes, compare_processes);
		return;
	}
	while (at && *at != p)
		at = &(*at)->before;
	if (at)
		*at = p->before;
}

static void forget(struct symbols *s, struct process *p)
{
	if (p->over_ns)
		TAILQ_REMOVE(&s->over, p, order);
	else
		TAILQ_REMOVE(&s->seen, p, order);
	s->kept -= p->kept;
	unchain(s, p);
	symbols__free_process(s, p);
}

void symbols__note_seen(struct symbols *s, struct process *p)
{
	struct process *first;

	if (!p->over_ns) {
		TAILQ_REMOVE(&s->seen, p, order);
		TAILQ_INSERT_TAIL(&s->seen, p, order);
	}
	symbols__count_kept(s, p);
	while (s->kept > MAX_KEPT) {
		first = TAILQ_FIRST(&s->over) ?: TAILQ_FIRST(&s->seen);
		if (first == p)
			break;
		s->forgotten++;
		forget(s, first);
	}
}

void symbols__end_process(struct symbols *s, struct process *p, u64 at_ns)
{
	if (p->over_ns)
		return;
	TAILQ_REMOVE(&s->seen, p, order);
	TAILQ_INSERT_TAIL(&s->over, p, order);
	p->over_ns = at_ns ?: 1;
}

struct process *symbols__add_process(struct symbols *s, u32 pid, u64 from_ns)
{
	struct process *p = calloc(1, sizeof(*p)), **at, *old;

	if (!p)
		return NULL;
	p->pid = pid;
	p->from_ns = from_ns;
	jit_map__init(&p->jit);
	at = tsearch(p, &s->processes, compare_processes);
	if (!at) {
		free(p);
		return NULL;
	}
	if (*at != p) {
		symbols__end_process(s, *at, from_ns);
		for (old = *at; old && !old->gone_ns; old = old->before)
			old->gone_ns = from_ns ?: 1;
		p->before = *at;
		*at = p;
	}
	TAILQ_INSERT_TAIL(&s->seen, p, order);
	return p;
}

static bool is_gone(u32 pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

/*
 * The exit of the first thread is reported like that of the process, but other threads may continue. The process has
 * ended when its PID no longer exists; no record has the time of that.
 */
static bool has_ended(struct process *p, u64 before_ns)
{
	if (!p->over_ns)
		return false;
	if (!p->gone_ns && is_gone(p->pid))
		p->gone_ns = monotonic_ns();
	return p->gone_ns && p->gone_ns < before_ns;
}

static void mark_files(const struct mapping *m, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (m[i].file)
			m[i].file->is_mapped = true;
}

static void mark_files_of(const struct process *p)
{
	if (p->code)
		mark_files(p->code->mapping, p->code->n);
	mark_files(p->former, p->nformer);
}

/* Minimum number of open files at which we close those that only ended programs had mapped. */
#define HELD_TO_NOTE 32

static void let_files_go(struct symbols *s, bool with_names)
{
	struct process *p;

	if (s->held <= HELD_TO_NOTE && !with_names)
		return;
	TAILQ_FOREACH(p, &s->seen, order)
		mark_files_of(p);
	TAILQ_FOREACH(p, &s->over, order)
		mark_files_of(p);
	symbols__close_unmapped(s, with_names);
}

void symbols__forget_over(struct symbols *s, u64 before_ns)
{
	struct process *p, *next;
	bool any = false;

	for (p = TAILQ_FIRST(&s->over); p; p = next) {
		next = TAILQ_NEXT(p, order);
		if (!has_ended(p, before_ns))
			continue;
		forget(s, p);
		any = true;
	}
	if (any)
		let_files_go(s, false);
}

/* Adds an unknown process once its PID no longer exists: it may have run until now. */
static void note_gone(struct symbols *s, u32 pid)
{
	struct process *p = is_gone(pid) ? symbols__add_process(s, pid, 0) : NULL;

	if (!p)
		return;
	p->gone_ns = monotonic_ns();
	symbols__end_process(s, p, p->gone_ns);
	symbols__count_kept(s, p);
}

bool symbols__is_over(struct symbols *s, u32 pid, u64 at_ns, u64 before_ns)
{
	struct process *p = symbols__find_process(s, pid);
	u64 gone_ns = 0;

	for (; p && p->from_ns > at_ns; p = p->before)
		gone_ns = p->from_ns;
	if (p)
		return has_ended(p, before_ns);
	if (!gone_ns)
		note_gone(s, pid);
	return gone_ns && gone_ns < before_ns;
}

/*
 * --- mappings ----------------------------------------------------------------------------------
 */

struct taking {
	struct symbols *symbols;
	struct process *process;
	bool is_same;           /* the process's earlier mappings belong to the same address space */
	u64 from_ns;            /* for mappings that did not exist when the process was last seen */
	struct mapping *mapping;
	size_t n;
	bool makes_code;
};

static const char *base_name(const char *name)
{
	const char *slash = name[0] == '/' ? strrchr(name, '/') : NULL;

	if (!name[0])
		return "[anon]";
	return slash && slash[1] ? slash + 1 : name;
}

bool mapping_line__has_path(const struct mapping_line *line)
{
	static const char *const memory[] = {
		"/memfd:", "/dev/zero", "/anon_hugepage", "/SYSV",
	};
	size_t i;

	if (!line->inode || line->name[0] != '/')
		return false;
	for (i = 0; line->deleted && i < ARRAY_SIZE(memory); i++)
		if (!strncmp(line->name, memory[i], strlen(memory[i])))
			return false;
	return true;
}

bool mapping_line__is_made(const struct mapping_line *line)
{
	if (!line->executable)
		return false;
	/* The kernel uses other names in brackets: [vdso]. */
	return line->deleted || !line->name[0] || !strncmp(line->name, "[anon", 5) ||
	       !strncmp(line->name, "[heap]", 6) || !strncmp(line->name, "[stack", 6);
}

/* Returns an unchanged mapping, to reuse its file. Most are unchanged, and opening a file takes some microseconds. */
static const struct mapping *known_mapping(const struct taking *t, const struct mapping *m)
{
	const struct mapping *old = t->is_same ? process__find_current(t->process, m->start) : NULL;

	return old && old->start == m->start && old->end == m->end && mapping__is_same_code(old, m) ? old : NULL;
}

static int take_file(const struct taking *t, const struct mapping_line *line, struct mapping *m)
{
	const struct mapping *old = known_mapping(t, m);
	u32 pid = t->process->pid;
	int err = 0;

	if (old) {
		m->from_ns = old->from_ns;
		m->file = old->file;
		m->unopened = old->unopened;
	}
	if (m->kind != SYMBOL_VDSO && !(line->executable && line->inode))
		return 0;
	if (!m->file && m->kind == SYMBOL_VDSO)
		m->file = symbols__find_vdso(t->symbols, pid, line);
	else if (!m->file)
		err = symbols__find_file(t->symbols, pid, line, &m->file);
	m->unopened &= !m->file;
	return err;
}

/*
 * Limits on the names of mappings, so that no user can exhaust the room of others: for all processes together, for
 * each process, and for each user except root. Users are charged only once the total exceeds the limit of one
 * process. Paths too long to be opened are dropped.
 */
#define MAX_PATH_BYTES (32 << 20)
#define MAX_PATH_BYTES_OF_USER (MAX_PATH_BYTES / 4)
#define MAX_PATH_BYTES_OF_PROCESS (MAX_PATH_BYTES / 8)

/* Returns the bytes charged to the process's user, or NULL if not counted. Users in the same slot share the count. */
static size_t *share_of_user(struct symbols *s, struct process *p)
{
	struct process_self self;

	if (s->path_bytes < MAX_PATH_BYTES_OF_PROCESS)
		return NULL;
	if (!p->user_known) {
		p->user = process_self__read(&self, p->pid) ? 0 : self.uid;
		p->user_known = true;
	}
	return p->user ? &s->path_bytes_of_user[p->user % PATH_USERS] : NULL;
}

static bool has_room_for_names(struct symbols *s, struct process *p)
{
	const size_t *share = share_of_user(s, p);

	return s->path_bytes < MAX_PATH_BYTES && p->path_bytes < MAX_PATH_BYTES_OF_PROCESS &&
	       (!share || *share < MAX_PATH_BYTES_OF_USER);
}

static void charge_names(struct symbols *s, struct process *p, size_t bytes)
{
	size_t *share = share_of_user(s, p);

	s->path_bytes += bytes;
	p->path_bytes += bytes;
	if (share)
		*share += bytes;
}

static size_t keep_names(const struct mapping *m, size_t n)
{
	size_t bytes = 0, i;

	for (i = 0; i < n; i++) {
		bytes += symbols__keep_text(m[i].module);
		bytes += m[i].path ? symbols__keep_text(m[i].path) : 0;
	}
	return bytes;
}

/* Charges each name to the first process that uses it, as if the name were new. */
static void charge_again(struct symbols *s, struct process *p)
{
	size_t bytes = keep_names(p->former, p->nformer);

	if (p->code)
		bytes += keep_names(p->code->mapping, p->code->n);
	p->path_bytes = 0;
	charge_names(s, p, bytes);
}

void symbols__forget_names(struct symbols *s)
{
	struct source_file *f;
	struct process *p;

	let_files_go(s, true);
	s->path_bytes = 0;
	memset(s->path_bytes_of_user, 0, sizeof(s->path_bytes_of_user));
	TAILQ_FOREACH(p, &s->seen, order)
		charge_again(s, p);
	TAILQ_FOREACH(p, &s->over, order)
		charge_again(s, p);
	symbols__keep_told_texts(s);
	STAILQ_FOREACH(f, &s->sources.asked, next)
		symbols__keep_text(f->name);
	symbols__drop_texts(s);
}

int symbols__name_mapping(struct symbols *s, struct process *p, const struct mapping_line *line, struct mapping *m)
{
	bool path = mapping_line__has_path(line) && strlen(line->name) < PATH_MAX;
	size_t before = s->text_bytes;

	if (!has_room_for_names(s, p)) {
		m->module = symbols__interned(s, base_name(line->name));
		m->path = path ? symbols__interned(s, line->name) : NULL;
		if (m->module && !path == !m->path)
			return 0;
		m->path = NULL;
		s->unnamed++;
		m->module = symbols__intern(s, "[unnamed]");
		return m->module ? 0 : -ENOMEM;
	}
	m->module = symbols__intern(s, base_name(line->name));
	m->path = path ? symbols__intern(s, line->name) : NULL;
	charge_names(s, p, s->text_bytes - before);
	return !m->module || (path && !m->path) ? -ENOMEM : 0;
}

static int take_mapping(void *arg, const struct mapping_line *line)
{
	struct taking *t = arg;
	struct mapping m = {
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.inode = line->inode,
		.executable = line->executable,
		.kind = strcmp(line->name, "[vdso]") ? SYMBOL_USER : SYMBOL_VDSO,
		.from_ns = t->from_ns,
	};
	int err;

	err = symbols__name_mapping(t->symbols, t->process, line, &m);
	if (!err)
		err = take_file(t, line, &m);
	if (err)
		return err;
	t->makes_code |= mapping_line__is_made(line);
	return ARRAY_APPEND(t->mapping, t->n, m);
}

/* Keeps earlier code: as current if nothing is mapped there now, else as former. Both lists are sorted. */
static int keep_code(struct taking *t, struct process *p)
{
	size_t before = p->code ? p->code->n : 0, now = 0, old, n = 0, kept = 0;
	struct mapping *all = calloc(t->n + before ?: 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (old = 0; old < before; old++) {
		const struct mapping *m = &p->code->mapping[old];

		while (now < t->n && t->mapping[now].end <= m->start)
			all[n++] = t->mapping[now++];
		if (!m->executable)
			continue;
		if (now < t->n && t->mapping[now].start < m->end) {
			process__keep_former(p, m, &t->mapping[now]);
		} else if (kept < MAX_FORMER) {
			all[n++] = *m;
			kept++;
		}
	}
	while (now < t->n)
		all[n++] = t->mapping[now++];
	free(t->mapping);
	t->mapping = all;
	t->n = n;
	return 0;
}

bool process__is_same(const struct process_stamp *a, const struct process_stamp *b)
{
	return a->start_time == b->start_time && a->code == b->code && a->stack == b->stack;
}

/* True if this is the same program as last seen, or if the program is known only from records. */
static bool goes_on(const struct process *p, const struct process_stamp *now)
{
	return !p->stamp.start_time || process__is_same(&p->stamp, now);
}

/* CPU time granted to each process. Any excess is charged to the allowance. */
#define EACH_PROCESS_NS (100 * NSEC_PER_MSEC)

/* Reads the mappings, and skips those beyond the time limit. */
static int read_mappings(struct taking *t)
{
	struct allowance *a = &t->symbols->allowance;
	u64 begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), took_ns;
	u64 most_ns = EACH_PROCESS_NS + allowance__time(a, NULL, 0);
	int err;

	if (most_ns > MAPPINGS_TIME_NS)
		most_ns = MAPPINGS_TIME_NS;
	err = mappings__each_until(t->process->pid, begin_ns + most_ns, take_mapping, t);
	took_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	if (took_ns > EACH_PROCESS_NS)
		allowance__spend(a, NULL, 0, took_ns - EACH_PROCESS_NS);
	if (err != -ETIME)
		return err;
	t->symbols->cut++;
	return 0;
}

static int take_mappings(struct symbols *s, struct process *p, const struct process_stamp *now)
{
	struct taking t = { .symbols = s, .process = p, .is_same = true,
			    .from_ns = p->stamp.start_time ? p->seen_ns : p->from_ns };
	u64 begin_ns = monotonic_ns();
	struct code *code;
	int err;

	err = read_mappings(&t);
	if (!err)
		err = keep_code(&t, p);
	if (err) {
		free(t.mapping);
		return err;
	}
	code = code__new(t.mapping, t.n);
	if (!code)
		return -ENOMEM;
	code__let_go(p->code);
	p->code = code;
	p->makes_code = t.makes_code;
	p->stamp = *now;
	p->seen_ns = begin_ns;
	p->seen_until_ns = monotonic_ns();
	return 0;
}

int symbols__take_jit_map(struct symbols *s, struct process *p)
{
	bool held = p->jit.fd >= 0;

	p->jit_due = true;
	if (!p->makes_code)
		return 0;
	jit_map__open(&p->jit, p->pid);
	s->held += (p->jit.fd >= 0) - held;
	return 0;
}

/*
 * Called if the process was seen running after its recorded end, or as another program. In the latter case, the old
 * program may have run until now.
 */
static struct process *continue_process(struct symbols *s, struct process *old, const struct process_stamp *now)
{
	u64 gone_ns = goes_on(old, now) ? 0 : monotonic_ns();
	struct process *p = symbols__add_process(s, old->pid, old->over_ns ?: gone_ns);

	if (p)
		old->gone_ns = gone_ns;
	return p;
}

int symbols__see(struct symbols *s, u32 pid)
{
	struct process *p = symbols__find_process(s, pid);
	struct process_stamp stamp;
	int err;

	err = process_stamp__read(&stamp, pid);
	if (err) {
		if (p)
			p->jit_due = true;
		return err;
	}
	/* An exec was not recorded, or only the first thread has exited. */
	if (p && (p->over_ns || !goes_on(p, &stamp)))
		p = continue_process(s, p, &stamp);
	else if (!p)
		p = symbols__add_process(s, pid, 0);
	if (!p)
		return -ENOMEM;
	if (memcmp(&stamp, &p->stamp, sizeof(stamp)))
		err = take_mappings(s, p, &stamp);
	if (!err)
		err = symbols__take_jit_map(s, p);
	symbols__note_seen(s, p);
	return err;
}
