// SPDX-License-Identifier: BSD-2-Clause
#include "sym/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <unistd.h>

#include "sym/code.h"
#include "sym/demangle.h"
#include "sym/jit_map.h"
#include "sym/kallsyms.h"
#include "sym/mapped_file.h"
#include "sym/mappings.h"
#include "sym/root.h"
#include "sym/source.h"

/* All processes together: mappings, and lines of their JIT maps. */
#define MAX_KEPT 1000000
/* Files held open; more are read at once, whether anybody asks for their symbols or not. */
#define MAX_HELD 256
/* And of those that have been read, for their code. */
#define MAX_KEPT_OPEN 256
/* Of one process: code that is no longer mapped, but may be in stacks that were seen earlier. */
#define MAX_FORMER 4096
/* The vdso is two pages; and there is one for each kind of process the CPU can run. */
#define MAX_VDSO (64 << 10)
#define MAX_VDSOS 8

struct mapping {
	u64 start, end, offset, inode;
	const char *module;     /* interned */
	const char *path;       /* interned; NULL */
	struct mapped_file *file;       /* of code; NULL: none, or it cannot be opened */
	enum symbol_kind kind;
	bool executable;
	bool unopened;          /* a record told of it: its file is opened when it is asked for */
};

struct process {
	TAILQ_ENTRY(process) order;
	u32 pid;
	struct process_stamp stamp;
	struct mapping *mapping;        /* by address, they do not overlap */
	size_t n;
	size_t kept;                    /* its part of the sum */
	bool makes_code;                /* see is_made() */
	bool jit_due;                   /* its map may have grown since it was read */
	struct jit_map jit;
};

struct vdso {
	void *image;
	size_t size;
	struct mapped_file *file;
};

struct symbols {
	void *texts, *files, *processes;        /* trees of tsearch(3) */
	TAILQ_HEAD(seen, process) seen;         /* the one seen longest ago first */
	size_t kept;
	size_t held;                            /* files held open, of files and JIT maps */
	size_t kept_open;                       /* and those for their code */
	struct vdso vdso[MAX_VDSOS];
	size_t nvdsos;
	bool keeps_code;                        /* files that have been read stay open for it */
	bool kernel_read;
	struct kernel_symbols kernel;
	struct demangler demangler;
	bool with_source;
	struct sources sources;
};

/*
 * --- texts -------------------------------------------------------------------------------------
 */

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The one copy of a text; NULL: no memory. */
static const char *intern(struct symbols *s, const char *text)
{
	char **found = tfind(text, &s->texts, compare_texts), *copy;

	if (found)
		return *found;
	copy = strdup(text);
	if (!copy || !tsearch(copy, &s->texts, compare_texts)) {
		free(copy);
		return NULL;
	}
	return copy;
}

/*
 * --- files -------------------------------------------------------------------------------------
 */

static int read_file(struct symbols *s, struct mapped_file *f)
{
	int err;

	if (f->fd < 0)
		return 0;
	s->held--;
	if (s->keeps_code && s->kept_open < MAX_KEPT_OPEN) {
		f->code_fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
		s->kept_open += f->code_fd >= 0;
	}
	err = mapped_file__read(f, s->with_source);
	sources__admit(&s->sources, &f->source);
	return err;
}

/* The file that is open as fd, which is taken over: the one known already, or a new one. */
static int add_file(struct symbols *s, int fd, const struct stat *st, struct mapped_file **file)
{
	struct mapped_file *new = mapped_file__new(fd, st), **found;

	if (!new)
		return -ENOMEM;
	found = tsearch(new, &s->files, mapped_file__compare);
	if (!found || *found != new) {
		mapped_file__free(new);
		if (found)
			*file = *found;
		return found ? 0 : -ENOMEM;
	}
	*file = new;
	s->held++;
	return 0;
}

/* The file of a mapping: itself if we may, else what has its name, if that is still the same. */
static int open_file(u32 pid, const struct mapping_line *line, struct stat *st)
{
	int fd = root__open_mapped(pid, line->start, line->end, st);

	if (fd >= 0 || line->deleted || line->name[0] != '/')
		return fd;
	fd = root__open(pid, line->name, 0, st);
	if (fd >= 0 && st->st_ino != line->inode) {
		close(fd);
		fd = -ESTALE;
	}
	return fd;
}

/* Leaves *file NULL if it cannot be opened. Returns 0 or -ENOMEM. */
static int find_file(struct symbols *s, u32 pid, const struct mapping_line *line,
		     struct mapped_file **file)
{
	struct stat st;
	char *path;
	int fd, err;

	fd = open_file(pid, line, &st);
	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	err = add_file(s, fd, &st, file);
	if (err || (*file)->fd < 0)
		return err;
	/* Where its debug file will be looked for. */
	path = strdup(line->name);
	if (!path)
		return -ENOMEM;
	free((*file)->path);
	(*file)->path = path;
	(*file)->pid = pid;
	return s->held > MAX_HELD ? read_file(s, *file) : 0;
}

/*
 * --- vdso --------------------------------------------------------------------------------------
 */

static int read_memory(u32 pid, u64 start, void *to, size_t size)
{
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = pread(fd, to, size, start);
	close(fd);
	return n == (ssize_t)size ? 0 : -EIO;
}

/* A file with the image in it: what reads symbols takes files. */
static struct mapped_file *image_file(const void *image, size_t size)
{
	struct stat st = {};
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (write(fd, image, size) != (ssize_t)size) {
		close(fd);
		return NULL;
	}
	return mapped_file__new(fd, &st);
}

/* Takes the image over. */
static struct mapped_file *add_vdso(struct symbols *s, void *image, size_t size)
{
	struct mapped_file *file;
	struct vdso *v;
	size_t i;

	for (i = 0; i < s->nvdsos; i++) {
		v = &s->vdso[i];
		if (v->size == size && !memcmp(v->image, image, size)) {
			free(image);
			return v->file;
		}
	}
	file = s->nvdsos < MAX_VDSOS ? image_file(image, size) : NULL;
	if (!file) {
		free(image);
		return NULL;
	}
	s->vdso[s->nvdsos++] = (struct vdso){ image, size, file };
	s->held++;
	return file;
}

static struct mapped_file *find_vdso(struct symbols *s, u32 pid, const struct mapping_line *line)
{
	u64 size = line->end - line->start;
	void *image;

	if (size > MAX_VDSO)
		return NULL;
	image = malloc(size);
	if (!image)
		return NULL;
	if (read_memory(pid, line->start, image, size)) {
		free(image);
		return NULL;
	}
	return add_vdso(s, image, size);
}

/*
 * --- processes ---------------------------------------------------------------------------------
 */

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static struct process *find_process(const struct symbols *s, u32 pid)
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

static void free_process(struct symbols *s, struct process *p)
{
	release_jit(s, p);
	free(p->mapping);
	free(p);
}

static void count_kept(struct symbols *s, struct process *p)
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
	count_kept(s, p);
	while (s->kept > MAX_KEPT && (first = TAILQ_FIRST(&s->seen)) != p) {
		s->kept -= first->kept;
		TAILQ_REMOVE(&s->seen, first, order);
		tdelete(first, &s->processes, compare_processes);
		free_process(s, first);
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

static const struct mapping *find_mapping(const struct process *p, u64 address)
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
	const struct mapping *old = t->is_same ? find_mapping(t->process, m->start) : NULL;

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
		m->file = find_vdso(t->symbols, pid, line);
	else if (!m->file)
		return find_file(t->symbols, pid, line, &m->file);
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

	m.module = intern(t->symbols, base_name(line->name));
	m.path = has_path(line) ? intern(t->symbols, line->name) : NULL;
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

static bool is_same(const struct process_stamp *a, const struct process_stamp *b)
{
	return a->start_time == b->start_time && a->code == b->code && a->stack == b->stack;
}

static int take_mappings(struct symbols *s, struct process *p, const struct process_stamp *now)
{
	struct taking t = { .symbols = s, .process = p, .is_same = is_same(&p->stamp, now) };
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
	struct process *p = find_process(s, pid);
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
	return find_process(s, pid) ?: add_process(s, pid);
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
	m.module = intern(s, base_name(line->name));
	m.path = has_path(line) ? intern(s, line->name) : NULL;
	if (!m.module || (has_path(line) && !m.path))
		return -ENOMEM;
	/* Seen already, and better. */
	old = find_mapping(p, line->start);
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
	const struct process *from = find_process(s, parent);
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
	struct process *p = find_process(s, pid);

	if (!p)
		return;
	release_jit(s, p);
	free(p->mapping);
	p->mapping = NULL;
	p->n = 0;
	p->stamp = (struct process_stamp){};
	count_kept(s, p);
}

/*
 * Below the process's own root, or if it has gone, ours: the file must be the one that was mapped.
 */
static int open_told(struct symbols *s, u32 pid, struct mapping *m)
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
	return add_file(s, fd, &st, &m->file);
}

/*
 * --- lookup ------------------------------------------------------------------------------------
 */

/* Fills in the name of an address of a table, if it has one. */
static int name_it(struct symbols *s, struct symbol_table *t, u64 address, struct symbol *found)
{
	u32 i = symbol_table__find(t, address);

	if (i == SYMBOL_NONE)
		return 0;
	found->name = symbol_table__shown(t, i, &s->demangler);
	found->offset = address - t->entry[i].start;
	found->size = t->entry[i].size;
	return found->name ? 0 : -ENOMEM;
}

static int name_in_file(struct symbols *s, struct mapped_file *f, u64 offset, struct symbol *found)
{
	u64 address;
	int err;

	err = read_file(s, f);
	if (err || !f->is_elf || elf_symbols__address(&f->symbols, offset, &address))
		return err;
	found->module_offset = address;
	return name_it(s, &f->symbols.table, address, found);
}

static int name_in_jit_map(struct symbols *s, struct process *p, u64 address,
			   struct symbol *found)
{
	const char *name;
	u32 i;

	if (p->jit_due && jit_map__read(&p->jit))
		return -ENOMEM;
	p->jit_due = false;
	count_kept(s, p);
	i = symbol_table__find(&p->jit.table, address);
	if (i == SYMBOL_NONE)
		return 0;
	/* The table goes when the map has grown, the name has to stay. */
	name = intern(s, symbol_table__name(&p->jit.table, i));
	if (!name)
		return -ENOMEM;
	found->name = name;
	found->offset = address - p->jit.table.entry[i].start;
	found->size = p->jit.table.entry[i].size;
	found->module = "[JIT]";
	found->path = NULL;
	found->kind = SYMBOL_JIT;
	return 0;
}

int symbols__user(struct symbols *s, u32 pid, u64 address, struct symbol *found)
{
	struct process *p = find_process(s, pid);
	struct mapping *m = p ? (struct mapping *)find_mapping(p, address) : NULL;
	u64 offset;
	int err = 0;

	memset(found, 0, sizeof(*found));
	if (m && m->unopened)
		err = open_told(s, pid, m);
	if (!m || err)
		return err;
	offset = address - m->start + (m->path || m->file ? m->offset : 0);
	found->module = m->module;
	found->path = m->path;
	found->kind = m->kind;
	found->module_offset = offset;
	if (m->file)
		err = name_in_file(s, m->file, offset, found);
	if (!err && !found->name && !(m->file && m->file->is_elf))
		err = name_in_jit_map(s, p, address, found);
	return err;
}

/*
 * --- code --------------------------------------------------------------------------------------
 */

void symbols__want_code(struct symbols *s)
{
	s->keeps_code = true;
}

int symbols__user_file(struct symbols *s, u32 pid, u64 address)
{
	const struct process *p = find_process(s, pid);
	const struct mapping *m = p ? find_mapping(p, address) : NULL;

	return m && m->file && m->file->code_fd >= 0 ? m->file->code_fd : -ENOENT;
}

/* Is the process still the one that was seen, and not another program or one of that number? */
static bool is_there(const struct process *p)
{
	struct process_stamp now;

	return !process_stamp__read(&now, p->pid) && is_same(&now, &p->stamp);
}

ssize_t symbols__user_code(struct symbols *s, u32 pid, u64 address, void *to, size_t size)
{
	const struct process *p = find_process(s, pid);
	const struct mapping *m = p ? find_mapping(p, address) : NULL;
	ssize_t n;
	int err;

	if (!m)
		return -ENOENT;
	if (size > m->end - address)
		size = m->end - address;
	if (m->file && m->file->code_fd >= 0) {
		n = pread(m->file->code_fd, to, size, address - m->start + m->offset);
		return n < 0 ? -errno : n;
	}
	if (!is_there(p))
		return -ESRCH;
	err = read_memory(pid, address, to, size);
	return err ?: (ssize_t)size;
}

int symbols__stamp(const struct symbols *s, u32 pid, struct process_stamp *stamp)
{
	const struct process *p = find_process(s, pid);

	/* What records alone have told of has none. */
	if (!p || !p->stamp.start_time)
		return -ESRCH;
	*stamp = p->stamp;
	return 0;
}

int symbols__each_code(struct symbols *s, u32 pid, code_visit visit, void *arg)
{
	const struct process *p = find_process(s, pid);
	size_t i;
	int err = 0;

	if (!p)
		return -ESRCH;
	for (i = 0; i < p->n && !err; i++) {
		const struct mapping *m = &p->mapping[i];
		const struct symbols_code code = {
			.start = m->start,
			.end = m->end,
			.offset = m->kind == SYMBOL_VDSO ? 0 : m->offset,
			.mark = m->file ? &m->file->mark : NULL,
		};

		if (m->executable)
			err = visit(arg, &code);
	}
	return err;
}

/* One that was read and closed meanwhile is opened once more, if it is still mapped there. */
int symbols__open_code(struct symbols *s, u32 pid, const struct symbols_code *code)
{
	const struct process *p = find_process(s, pid);
	const struct mapping *m = p ? find_mapping(p, code->start) : NULL;
	struct stat st;
	int fd;

	if (!m || !m->file)
		return -ENOENT;
	if (m->file->fd >= 0 || m->file->code_fd >= 0) {
		fd = fcntl(m->file->fd >= 0 ? m->file->fd : m->file->code_fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	fd = root__open_mapped(pid, m->start, m->end, &st);
	if (fd >= 0 && (st.st_ino != m->file->inode || st.st_dev != m->file->dev)) {
		close(fd);
		fd = -ESTALE;
	}
	return fd;
}

/*
 * --- sources -----------------------------------------------------------------------------------
 */

int symbols__want_source(struct symbols *s)
{
#ifdef HAVE_LIBDW
	s->with_source = true;
	return 0;
#else
	(void)s;
	return -EOPNOTSUPP;
#endif
}

int symbols__user_source(struct symbols *s, u32 pid, u64 address, const struct source_place **place,
			 size_t *n)
{
	struct process *p = find_process(s, pid);
	struct mapping *m = p ? (struct mapping *)find_mapping(p, address) : NULL;
	struct mapped_file *f;
	int err = 0;

	*n = 0;
	if (m && m->unopened)
		err = open_told(s, pid, m);
	f = m && m->kind == SYMBOL_USER ? m->file : NULL;
	if (!err && f)
		err = read_file(s, f);
	if (err || !f || !f->is_elf ||
	    elf_symbols__address(&f->symbols, address - m->start + m->offset, &address))
		return err;
	return sources__ask(&s->sources, &f->source, m->path ?: m->module, address, place, n);
}

const char *symbols__sourceless(const struct symbols *s, size_t *at, int *why)
{
	return sources__sourceless(&s->sources, at, why);
}

/*
 * --- the kernel --------------------------------------------------------------------------------
 */

int symbols__kernel(struct symbols *s, u64 address, struct symbol *found)
{
	const struct kernel_module *module;
	struct symbol_table *t = &s->kernel.table;
	u32 i;

	memset(found, 0, sizeof(*found));
	if (!s->kernel_read && kernel_symbols__read(&s->kernel) == -ENOMEM)
		return -ENOMEM;
	s->kernel_read = true;
	i = symbol_table__find(t, address);
	/* The upper half of the address space is the kernel's, on every machine we know. */
	if (i == SYMBOL_NONE && !(address >> 63))
		return 0;
	found->kind = SYMBOL_KERNEL;
	found->module = "[kernel]";
	found->module_offset = address;
	if (s->kernel.nmodules && address >= s->kernel.module->base)
		found->module_offset = address - s->kernel.module->base;
	if (i == SYMBOL_NONE)
		return 0;
	module = kernel_symbols__module(&s->kernel, i);
	found->module = module->name;
	found->module_offset = address - module->base;
	return name_it(s, t, address, found);
}

int symbols__kernel_source(struct symbols *s, u64 address, const struct source_place **place,
			   size_t *n)
{
	(void)s, (void)address, (void)place;
	*n = 0;
	return 0;
}

/*
 * --- all of it ---------------------------------------------------------------------------------
 */

int symbols__new(struct symbols **s)
{
	struct symbols *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	TAILQ_INIT(&new->seen);
	demangler__init(&new->demangler);
	sources__init(&new->sources);
	*s = new;
	return 0;
}

static void free_file(void *file)
{
	mapped_file__free(file);
}

static void free_nothing(void *node)
{
	(void)node;
}

void symbols__free(struct symbols *s)
{
	struct process *p;
	size_t i;

	if (!s)
		return;
	while ((p = TAILQ_FIRST(&s->seen))) {
		TAILQ_REMOVE(&s->seen, p, order);
		free_process(s, p);
	}
	sources__free(&s->sources);
	tdestroy(s->processes, free_nothing);
	tdestroy(s->files, free_file);
	tdestroy(s->texts, free);
	for (i = 0; i < s->nvdsos; i++) {
		mapped_file__free(s->vdso[i].file);
		free(s->vdso[i].image);
	}
	kernel_symbols__free(&s->kernel);
	demangler__end(&s->demangler);
	free(s);
}
