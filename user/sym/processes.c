// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/root.h"
#include "sym/state.h"

/* All processes together: mappings, and lines of their JIT maps. */
#define MAX_KEPT 1000000
/* Of one process: code that is no longer mapped, but may be in stacks that were seen earlier. */
#define MAX_FORMER 4096

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

static void release_jit(struct symbols *s, struct process *p)
{
	if (p->jit.fd >= 0)
		s->held--;
	jit_map__free(&p->jit);
}

void symbols__free_process(struct symbols *s, struct process *p)
{
	release_jit(s, p);
	free(p->mapping);
	free(p);
}

void symbols__count_kept(struct symbols *s, struct process *p)
{
	size_t now = p->n + p->jit.table.n;

	s->kept += now - p->kept;
	p->kept = now;
}

/* Makes it the last one that was seen, and forgets the first ones if they are too many. */
static void note_seen(struct symbols *s, struct process *p)
{
	struct process *first;

	TAILQ_REMOVE(&s->seen, p, order);
	TAILQ_INSERT_TAIL(&s->seen, p, order);
	symbols__count_kept(s, p);
	while (s->kept > MAX_KEPT && (first = TAILQ_FIRST(&s->seen)) != p) {
		s->kept -= first->kept;
		TAILQ_REMOVE(&s->seen, first, order);
		tdelete(first, &s->processes, compare_processes);
		symbols__free_process(s, first);
	}
}

static struct process *add_process(struct symbols *s, u32 pid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = pid;
	jit_map__init(&p->jit);
	if (!tsearch(p, &s->processes, compare_processes)) {
		free(p);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&s->seen, p, order);
	return p;
}

/*
 * --- mappings ----------------------------------------------------------------------------------
 */

const struct mapping *process__find_mapping(const struct process *p, u64 address)
{
	size_t low = 0, high = p->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (p->mapping[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->n && p->mapping[low].start <= address ? &p->mapping[low] : NULL;
}

struct taking {
	struct symbols *symbols;
	const struct process *process;
	bool is_same;           /* its former mappings are of the same memory */
	struct mapping *mapping;
	size_t n, room;
	bool makes_code;
};

static const char *base_name(const char *name)
{
	const char *slash = name[0] == '/' ? strrchr(name, '/') : NULL;

	if (!name[0])
		return "[anon]";
	return slash && slash[1] ? slash + 1 : name;
}

/* Memory that the kernel keeps in files of its own has names that look like paths. */
static bool has_path(const struct mapping_line *line)
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

/* Code that may be the process's own work: in no file, or in one that it has unlinked. */
static bool is_made(const struct mapping_line *line)
{
	if (!line->executable)
		return false;
	/* Other names in brackets are the kernel's, [vdso]. */
	return line->deleted || !line->name[0] || !strncmp(line->name, "[anon", 5) ||
	       !strncmp(line->name, "[heap]", 6) || !strncmp(line->name, "[stack", 6);
}

/* The file of a mapping that was there before: most are, and opening takes some microseconds. */
static struct mapped_file *former_file(const struct taking *t, const struct mapping *m)
{
	const struct mapping *old = t->is_same ? process__find_mapping(t->process, m->start) : NULL;

	if (!old || old->start != m->start || old->end != m->end || old->offset != m->offset ||
	    old->inode != m->inode || old->module != m->module || old->path != m->path)
		return NULL;
	return old->file;
}

static int take_file(const struct taking *t, const struct mapping_line *line, struct mapping *m)
{
	u32 pid = t->process->pid;

	if (m->kind != SYMBOL_VDSO && !(line->executable && line->inode))
		return 0;
	m->file = former_file(t, m);
	if (!m->file && m->kind == SYMBOL_VDSO)
		m->file = symbols__find_vdso(t->symbols, pid, line);
	else if (!m->file)
		return symbols__find_file(t->symbols, pid, line, &m->file);
	return 0;
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
	};
	struct mapping *more;
	int err;

	m.module = symbols__intern(t->symbols, base_name(line->name));
	m.path = has_path(line) ? symbols__intern(t->symbols, line->name) : NULL;
	if (!m.module || (has_path(line) && !m.path))
		return -ENOMEM;
	err = take_file(t, line, &m);
	if (err)
		return err;
	t->makes_code |= is_made(line);
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		more = reallocarray(t->mapping, t->room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->mapping = more;
	}
	t->mapping[t->n++] = m;
	return 0;
}

/* Keeps the code that was mapped before, where nothing is mapped now. Both are in order. */
static int keep_former(struct taking *t, const struct process *p)
{
	struct mapping *all = reallocarray(NULL, t->n + p->n ?: 1, sizeof(*all));
	size_t now = 0, old, n = 0, former = 0;

	if (!all)
		return -ENOMEM;
	for (old = 0; old < p->n && former < MAX_FORMER; old++) {
		const struct mapping *m = &p->mapping[old];

		while (now < t->n && t->mapping[now].end <= m->start)
			all[n++] = t->mapping[now++];
		if (!m->executable || (now < t->n && t->mapping[now].start < m->end))
			continue;
		all[n++] = *m;
		former++;
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

static int take_mappings(struct symbols *s, struct process *p, const struct process_stamp *now)
{
	struct taking t = { .symbols = s, .process = p, .is_same = process__is_same(&p->stamp, now) };
	int err;

	err = mappings__each(p->pid, take_mapping, &t);
	if (!err && t.is_same)
		err = keep_former(&t, p);
	else if (!err)
		release_jit(s, p);
	if (err) {
		free(t.mapping);
		return err;
	}
	free(p->mapping);
	p->mapping = t.mapping;
	p->n = t.n;
	p->makes_code = t.makes_code;
	p->stamp = *now;
	return 0;
}

/* Its map of what it has compiled, if it may have one: it may come any time. */
static int take_jit_map(struct symbols *s, struct process *p)
{
	bool held = p->jit.fd >= 0;

	p->jit_due = true;
	if (!p->makes_code)
		return 0;
	jit_map__open(&p->jit, p->pid);
	s->held += (p->jit.fd >= 0) - held;
	return 0;
}

int symbols__see(struct symbols *s, u32 pid)
{
	struct process *p = symbols__find_process(s, pid);
	struct process_stamp stamp;
	bool known = p;
	int err;

	err = process_stamp__read(&stamp, pid);
	if (err) {
		if (p)
			p->jit_due = true;
		return err;
	}
	if (!p)
		p = add_process(s, pid);
	if (!p)
		return -ENOMEM;
	if (!known || memcmp(&stamp, &p->stamp, sizeof(stamp)))
		err = take_mappings(s, p, &stamp);
	if (!err)
		err = take_jit_map(s, p);
	note_seen(s, p);
	return err;
}

/*
 * --- what records tell -------------------------------------------------------------------------
 */

static struct process *get_process(struct symbols *s, u32 pid)
{
	return symbols__find_process(s, pid) ?: add_process(s, pid);
}

/* Takes out of the mappings of p what lies in start..end; the outer parts of what it cuts stay. */
static int cut_mappings(struct process *p, u64 start, u64 end)
{
	struct mapping *all = reallocarray(NULL, p->n + 2, sizeof(*all));
	size_t i, n = 0;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < p->n; i++) {
		const struct mapping *m = &p->mapping[i];

		if (m->end <= start || m->start >= end) {
			all[n++] = *m;
			continue;
		}
		if (m->start < start) {
			all[n] = *m;
			all[n++].end = start;
		}
		if (m->end > end) {
			all[n] = *m;
			all[n].offset += end - m->start;
			all[n++].start = end;
		}
	}
	free(p->mapping);
	p->mapping = all;
	p->n = n;
	return 0;
}

static int put_mapping(struct process *p, const struct mapping *m)
{
	struct mapping *more;
	size_t at;
	int err = cut_mappings(p, m->start, m->end);

	if (err)
		return err;
	more = reallocarray(p->mapping, p->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->mapping = more;
	for (at = p->n; at > 0 && p->mapping[at - 1].start > m->start; at--)
		p->mapping[at] = p->mapping[at - 1];
	p->mapping[at] = *m;
	p->n++;
	return 0;
}

int symbols__mapped(struct symbols *s, u32 pid, const struct mapping_line *line)
{
	struct process *p = get_process(s, pid);
	struct mapping m = {
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.inode = line->inode,
		.executable = true,
		.kind = SYMBOL_USER,
		.unopened = has_path(line),
	};
	const struct mapping *old;
	int err;

	/* The image of the vdso is found by those who see a living process. */
	if (!p || line->end <= line->start || !strcmp(line->name, "[vdso]"))
		return p ? 0 : -ENOMEM;
	m.module = symbols__intern(s, base_name(line->name));
	m.path = has_path(line) ? symbols__intern(s, line->name) : NULL;
	if (!m.module || (has_path(line) && !m.path))
		return -ENOMEM;
	/* Seen already, and better. */
	old = process__find_mapping(p, line->start);
	if (old && old->start == m.start && old->end == m.end && old->inode == m.inode &&
	    old->path == m.path)
		return 0;
	err = put_mapping(p, &m);
	p->makes_code |= is_made(line);
	note_seen(s, p);
	return err;
}

int symbols__forked(struct symbols *s, u32 pid, u32 parent)
{
	const struct process *from = symbols__find_process(s, parent);
	struct process *p;

	if (!from || pid == parent)
		return 0;
	p = get_process(s, pid);
	if (!p)
		return -ENOMEM;
	/* A number that is used again, or one whose own records came first. */
	if (p->n && p->stamp.start_time)
		return 0;
	free(p->mapping);
	p->mapping = reallocarray(NULL, from->n ?: 1, sizeof(*p->mapping));
	p->n = 0;
	if (!p->mapping)
		return -ENOMEM;
	memcpy(p->mapping, from->mapping, from->n * sizeof(*p->mapping));
	p->n = from->n;
	p->makes_code = from->makes_code;
	note_seen(s, p);
	return 0;
}

void symbols__execed(struct symbols *s, u32 pid)
{
	struct process *p = symbols__find_process(s, pid);

	if (!p)
		return;
	release_jit(s, p);
	free(p->mapping);
	p->mapping = NULL;
	p->n = 0;
	p->stamp = (struct process_stamp){};
	symbols__count_kept(s, p);
}

/*
 * Below the process's own root, or if it has gone, ours: the file must be the one that was mapped.
 */
int symbols__open_told(struct symbols *s, u32 pid, struct mapping *m)
{
	struct stat st;
	int fd = root__open(pid, m->path, 0, &st);

	m->unopened = false;
	if (fd < 0)
		fd = root__open(0, m->path, 0, &st);
	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	if (st.st_ino != m->inode) {
		close(fd);
		return 0;
	}
	return symbols__add_file(s, fd, &st, &m->file);
}
