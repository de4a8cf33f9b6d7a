// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cgroups: levels near limits, and requests refused because of them. Reads v2, and v1 where its controllers are
 * mounted.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/table.h"
#include "host/cgroup.h"
#include "host/cpu_stat.h"
#include "host/disk_name.h"
#include "host/host.h"
#include "machine/vitals/vital.h"

#define MOST_LEVELS 64

/* Maximum number of files that stay open between readings. Further files are opened for each reading. */
#define MOST_OPEN 8192

/* How long a missing file is not looked for again. Afterwards, its controller may have been enabled. */
#define ABSENT_NS (5 * NSEC_PER_SEC)

/* If there is no limit, v1 reports the largest number of whole pages. */
#define NO_LIMIT (1ULL << 62)

enum file {
	MEMORY_CURRENT, MEMORY_MAX, MEMORY_EVENTS, PIDS_CURRENT, PIDS_MAX, PIDS_EVENTS, CPU_STAT,
	PIDS_EVENTS_LOCAL, CPU_PRESSURE, IO_PRESSURE, MEMORY_PRESSURE,
	MEMORY_USAGE, MEMORY_LIMIT, OOM_CONTROL, FAILCNT, IO_MAX, IO_STAT,
	FILES,
	NO_FILE = FILES,
	DIRECTORY = FILES,      /* may also stay open */
	OPENED,
};

static const char *const file_names[FILES] = {
	[MEMORY_CURRENT] = "memory.current",	    [MEMORY_MAX] = "memory.max",
	[MEMORY_EVENTS] = "memory.events.local",    [PIDS_CURRENT] = "pids.current",
	[PIDS_MAX] = "pids.max",		    [PIDS_EVENTS] = "pids.events",
	[CPU_STAT] = "cpu.stat",		    [MEMORY_USAGE] = "memory.usage_in_bytes",
	[MEMORY_LIMIT] = "memory.limit_in_bytes",   [OOM_CONTROL] = "memory.oom_control",
	[FAILCNT] = "memory.failcnt",		    [PIDS_EVENTS_LOCAL] = "pids.events.local",
	[CPU_PRESSURE] = "cpu.pressure",	    [IO_PRESSURE] = "io.pressure",
	[MEMORY_PRESSURE] = "memory.pressure",	    [IO_MAX] = "io.max",
	[IO_STAT] = "io.stat",
};

static const struct cgroup_figure {
	enum scope_hierarchy hierarchy;
	enum vital_id vital;
	enum file file;
	const char *key;        /* NULL: the file contains only the number */
	enum file limit;        /* if this file has no number, there is no reading; NO_FILE: the vital has no limit */
} figures[] = {
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_MEMORY, MEMORY_CURRENT, NULL, MEMORY_MAX },
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_OOM_KILLS, MEMORY_EVENTS, "oom_kill", NO_FILE },
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_AT_LIMIT, MEMORY_EVENTS, "max", NO_FILE },
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_AT_HIGH, MEMORY_EVENTS, "high", NO_FILE },
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_PIDS, PIDS_CURRENT, NULL, PIDS_MAX },
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_NO_PIDS, PIDS_EVENTS, "max", NO_FILE },
	{ SCOPE_CGROUP_MEMORY, VITAL_CGROUP_MEMORY, MEMORY_USAGE, NULL, MEMORY_LIMIT },
	{ SCOPE_CGROUP_MEMORY, VITAL_CGROUP_OOM_KILLS, OOM_CONTROL, "oom_kill", NO_FILE },
	{ SCOPE_CGROUP_MEMORY, VITAL_CGROUP_AT_LIMIT, FAILCNT, NULL, NO_FILE },
	{ SCOPE_CGROUP_PIDS, VITAL_CGROUP_PIDS, PIDS_CURRENT, NULL, PIDS_MAX },
	{ SCOPE_CGROUP_PIDS, VITAL_CGROUP_NO_PIDS, PIDS_EVENTS, "max", NO_FILE },
};

/*
 * --- cgroups that are known, with their open files ----------------------------------------------
 */

struct cgroup_files {
	enum scope_hierarchy hierarchy;
	u64 id;
	int fd_and_1[OPENED];   /* descriptor + 1; 0: not open */
	bool is_absent[FILES];
	u64 absent_ns;          /* time when the first of these was looked for */
};

struct known_groups {
	struct cgroup_files *group;
	size_t n;
	struct table by_id;
};

struct vital_cgroups {
	/* Groups of this reading, and groups of the last one that this reading has not found yet. */
	struct known_groups known, before;
	size_t open, most_open;
};

static u64 hash_of(const struct cgroup_files *g)
{
	return table_hash(table_hash(0, &g->id, sizeof(g->id)), &g->hierarchy, sizeof(g->hierarchy));
}

static bool same_group(const void *array, u32 index, const void *key)
{
	const struct cgroup_files *known = (const struct cgroup_files *)array + index, *wanted = key;

	return known->id == wanted->id && known->hierarchy == wanted->hierarchy;
}

/* Adds a group to this reading, with the files that the last reading left open. Returns NULL without memory. */
static struct cgroup_files *find_group(struct vital_cgroups *c, enum scope_hierarchy hierarchy, u64 id)
{
	struct cgroup_files g = { .hierarchy = hierarchy, .id = id }, *before;
	s64 at = table__find(&c->before.by_id, hash_of(&g), same_group, c->before.group, &g);

	if (ARRAY_ROOM(c->known.group, c->known.n) || table__add(&c->known.by_id, hash_of(&g), c->known.n))
		return NULL;
	before = at < 0 ? NULL : &c->before.group[at];
	if (before) {
		g = *before;
		memset(before->fd_and_1, 0, sizeof(before->fd_and_1));
	}
	c->known.group[c->known.n] = g;
	return &c->known.group[c->known.n++];
}

/* Returns false if the caller must close fd. */
static bool keep_open(struct vital_cgroups *c, struct cgroup_files *g, enum file file, int fd)
{
	if (c->open >= c->most_open)
		return false;
	g->fd_and_1[file] = fd + 1;
	c->open++;
	return true;
}

static void close_file(struct vital_cgroups *c, struct cgroup_files *g, enum file file)
{
	if (!g->fd_and_1[file])
		return;
	close(g->fd_and_1[file] - 1);
	g->fd_and_1[file] = 0;
	c->open--;
}

static void forget(struct vital_cgroups *c, struct known_groups *k)
{
	enum file file;
	size_t i;

	for (i = 0; i < k->n; i++)
		for (file = 0; file < OPENED; file++)
			close_file(c, &k->group[i], file);
	free(k->group);
	table__free(&k->by_id);
	*k = (struct known_groups){};
}

/* Uses at most half of the descriptors that the process may have, because other code needs some, too. */
static struct vital_cgroups *new_cgroups(void)
{
	struct vital_cgroups *c = calloc(1, sizeof(*c));
	struct rlimit limit;

	if (!c)
		return NULL;
	host__allow_files(2 * MOST_OPEN);
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		c->most_open = limit.rlim_cur / 2 < MOST_OPEN ? limit.rlim_cur / 2 : MOST_OPEN;
	return c;
}

void vital_cgroups__close(struct vital_reader *v)
{
	if (!v->cgroups)
		return;
	forget(v->cgroups, &v->cgroups->before);
	forget(v->cgroups, &v->cgroups->known);
	free(v->cgroups);
	v->cgroups = NULL;
}

/*
 * --- the files of one cgroup --------------------------------------------------------------------
 */

struct walk {
	struct vital_reader *v;
	struct readings *r;
	enum scope_hierarchy hierarchy;
	char path[PATH_MAX];    /* relative to the root of the hierarchy; "" for the root */
	u32 groups;
	/* Files of the current cgroup. */
	struct {
		bool is_read, has_text;
		u64 at_ns;
		char text[4096];
	} file[FILES];
};

/* The location of a cgroup. */
struct place {
	int above;              /* descriptor of the parent's directory */
	const char *name;
	u64 id;
	int dir;
	bool stays_open;
};

/* Opens the directory of a cgroup. Returns 0, or -1 if the cgroup was removed, even if a new one has its name. */
static int open_place(struct vital_cgroups *c, struct place *p, struct cgroup_files *g, struct stat *st)
{
	if (g->fd_and_1[DIRECTORY])
		p->dir = g->fd_and_1[DIRECTORY] - 1;
	else
		p->dir = openat(p->above, p->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->dir < 0)
		return -1;
	if (!fstat(p->dir, st) && st->st_ino == p->id) {
		p->stays_open = g->fd_and_1[DIRECTORY] || keep_open(c, g, DIRECTORY, p->dir);
		return 0;
	}
	if (g->fd_and_1[DIRECTORY])
		close_file(c, g, DIRECTORY);
	else
		close(p->dir);
	return -1;
}

static bool is_known_absent(struct cgroup_files *g, enum file file)
{
	if (!g->absent_ns || monotonic_ns() - g->absent_ns < ABSENT_NS)
		return g->is_absent[file];
	memset(g->is_absent, 0, sizeof(g->is_absent));
	g->absent_ns = 0;
	return false;
}

static void note_absent(struct cgroup_files *g, enum file file)
{
	g->is_absent[file] = true;
	if (!g->absent_ns)
		g->absent_ns = monotonic_ns();
}

static ssize_t read_anew(struct vital_cgroups *c, const struct place *p, struct cgroup_files *g, enum file file,
			 char *text, size_t room)
{
	int fd = openat(p->dir, file_names[file], O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0) {
		note_absent(g, file);
		return -1;
	}
	n = pread(fd, text, room, 0);
	if (n < 0 || !keep_open(c, g, file, fd))
		close(fd);
	return n;
}

/* Returns the text of a small file of a cgroup, or NULL if the file is missing or empty. */
static const char *text_of(struct walk *w, const struct place *p, struct cgroup_files *g, enum file file)
{
	char *text = w->file[file].text;
	size_t room = sizeof(w->file[file].text) - 1;
	ssize_t n = -1;

	if (w->file[file].is_read)
		return w->file[file].has_text ? text : NULL;
	if (g->fd_and_1[file]) {
		n = pread(g->fd_and_1[file] - 1, text, room, 0);
		if (n < 0)      /* the controller was disabled, and may be enabled again */
			close_file(w->v->cgroups, g, file);
	}
	if (n < 0 && !is_known_absent(g, file))
		n = read_anew(w->v->cgroups, p, g, file, text, room);
	text[n > 0 ? n : 0] = 0;
	w->file[file].is_read = true;
	w->file[file].has_text = n > 0;
	w->file[file].at_ns = monotonic_ns();
	return n > 0 ? text : NULL;
}

static bool read_number(struct walk *w, const struct place *p, struct cgroup_files *g, enum file file, const char *key,
			u64 *value)
{
	const struct vital_figure f = { .key = key };
	const char *text = text_of(w, p, g, file);

	return text && vital_text__number(text, VITAL_LINES, &f, VITAL_NUMBER, value);
}

static int add_figure(struct walk *w, const struct place *p, struct cgroup_files *g, const struct cgroup_figure *f)
{
	struct reading one = { .vital = f->vital, .id = p->id, .has_limit = f->limit != NO_FILE };

	if (one.has_limit && (!read_number(w, p, g, f->limit, NULL, &one.limit) || one.limit >= NO_LIMIT))
		return 0;
	if (!read_number(w, p, g, f->file, f->key, &one.value))
		return 0;
	/* Since 6.12, this file includes refusals in descendants; pids.events.local does not. */
	if (f->file == PIDS_EVENTS && one.value)
		read_number(w, p, g, PIDS_EVENTS_LOCAL, f->key, &one.value);
	one.at_ns = w->file[f->file].at_ns;
	return readings__add(w->r, &one, *w->path ? w->path : "/");
}

/* The root of all cgroups has no cgroup.events. The root of a namespace has it, like any other cgroup. */
static bool is_whole_machine(const struct walk *w, const struct place *p)
{
	return !*w->path && faccessat(p->dir, "cgroup.events", F_OK, 0);
}

static const struct {
	enum vital_id vital;
	enum file file;
	const char *key;
} pressures[] = {
	{ VITAL_CGROUP_CPU_SOME, CPU_PRESSURE, "some total" },
	{ VITAL_CGROUP_CPU_FULL, CPU_PRESSURE, "full total" },
	{ VITAL_CGROUP_IO_SOME, IO_PRESSURE, "some total" },
	{ VITAL_CGROUP_IO_FULL, IO_PRESSURE, "full total" },
	{ VITAL_CGROUP_MEMORY_SOME, MEMORY_PRESSURE, "some total" },
	{ VITAL_CGROUP_MEMORY_FULL, MEMORY_PRESSURE, "full total" },
};

/*
 * For v2 only, and only for cgroups without children, because the pressure of a parent includes that of its children.
 */
static int add_pressures(struct walk *w, const struct place *p, struct cgroup_files *g)
{
	int err = 0;
	size_t i;

	if (is_whole_machine(w, p))
		return 0;
	for (i = 0; i < ARRAY_SIZE(pressures) && !err; i++) {
		struct reading one = { .vital = pressures[i].vital, .id = p->id, .has_whole = true };

		if (!read_number(w, p, g, pressures[i].file, pressures[i].key, &one.value))
			continue;
		one.value *= NSEC_PER_USEC;
		one.at_ns = one.whole = w->file[pressures[i].file].at_ns;
		err = readings__add(w->r, &one, *w->path ? w->path : "/");
	}
	return err;
}

static int add_throttling(struct walk *w, const struct place *p, struct cgroup_files *g)
{
	struct reading one = { .vital = VITAL_CGROUP_THROTTLED, .id = p->id };
	struct cpu_stat stat = {};
	const char *text;

	if (w->hierarchy != SCOPE_CGROUP_V2 && w->hierarchy != SCOPE_CGROUP_CPU)
		return 0;
	text = text_of(w, p, g, CPU_STAT);
	if (!text || !strstr(text, "nr_periods "))
		return 0;
	cpu_stat__parse(&stat, text);
	one.value = stat.throttled_ns;
	one.at_ns = w->file[CPU_STAT].at_ns;
	return stat.periods ? readings__add(w->r, &one, *w->path ? w->path : "/") : 0;
}

/* Most cgroups have no line in io.max: their io.stat, which is slower to read, is left alone. */
static int add_io_limits(struct walk *w, const struct place *p, struct cgroup_files *g)
{
	struct vital_io io = { .cgroup = p->id, .path = *w->path ? w->path : "/", .name_disk = disk__name };

	io.limits = text_of(w, p, g, IO_MAX);
	io.stat = io.limits ? text_of(w, p, g, IO_STAT) : NULL;
	io.at_ns = w->file[IO_STAT].at_ns;
	return io.stat ? vital_io_limits__parse(w->r, &io) : 0;
}

static int add_group(struct walk *w, const struct place *p, struct cgroup_files *g, bool has_others_below)
{
	enum file file;
	size_t i;
	int err;

	for (file = 0; file < FILES; file++)
		w->file[file].is_read = false;
	err = add_throttling(w, p, g);
	if (!err && w->hierarchy == SCOPE_CGROUP_V2 && !has_others_below)
		err = add_pressures(w, p, g);
	if (!err && w->hierarchy == SCOPE_CGROUP_V2)
		err = add_io_limits(w, p, g);
	for (i = 0; i < ARRAY_SIZE(figures) && !err; i++)
		if (figures[i].hierarchy == w->hierarchy)
			err = add_figure(w, p, g, &figures[i]);
	return err;
}

/*
 * --- all of them --------------------------------------------------------------------------------
 */

static int visit(struct walk *w, struct place p, u32 level);

static int visit_below(struct walk *w, int dir, const struct dirent *e, u32 level)
{
	size_t n = strlen(w->path), room = sizeof(w->path) - n;
	int err;

	if (level >= MOST_LEVELS || strlen(e->d_name) + 2 > room)
		return 0;
	snprintf(w->path + n, room, "/%s", e->d_name);
	err = visit(w, (struct place){ .above = dir, .name = e->d_name, .id = e->d_ino }, level + 1);
	w->path[n] = 0;
	return err;
}

static int visit_all_below(struct walk *w, int dir, u32 level)
{
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = own < 0 ? NULL : fdopendir(own);
	struct dirent *e;

	if (!d && own >= 0)
		close(own);
	while (d && !err && (e = readdir(d)))
		if (e->d_type == DT_DIR && strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			err = visit_below(w, dir, e, level);
	if (d)
		closedir(d);
	return err;
}

static int visit(struct walk *w, struct place p, u32 level)
{
	struct cgroup_files *g;
	bool has_others_below;
	struct stat st;
	int err;

	if (w->groups++ >= VITAL_CGROUPS) {
		w->v->too_many_cgroups = true;
		return 0;
	}
	g = find_group(w->v->cgroups, w->hierarchy, p.id);
	if (!g)
		return -ENOMEM;
	if (open_place(w->v->cgroups, &p, g, &st))
		return 0;
	/* A directory has two links, and one more for each subdirectory. */
	has_others_below = st.st_nlink != 2;
	err = add_group(w, &p, g, has_others_below);
	if (!err && has_others_below)
		err = visit_all_below(w, p.dir, level);
	if (!p.stays_open)
		close(p.dir);
	return err;
}

static int visit_hierarchy(struct walk *w)
{
	char *mount = cgroup__mount(w->hierarchy);
	int root = mount ? open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, err = 0;
	struct stat st;

	free(mount);
	w->groups = 0;
	if (root >= 0 && !fstat(root, &st))
		err = visit(w, (struct place){ .above = root, .name = ".", .id = st.st_ino }, 0);
	if (root >= 0)
		close(root);
	return err;
}

int vital_cgroups__read(struct vital_reader *v, struct readings *r)
{
	static const enum scope_hierarchy hierarchies[] = {
		SCOPE_CGROUP_V2, SCOPE_CGROUP_MEMORY, SCOPE_CGROUP_PIDS, SCOPE_CGROUP_CPU,
	};
	struct walk *w = calloc(1, sizeof(*w));
	int err = 0;
	size_t i;

	if (!v->cgroups)
		v->cgroups = new_cgroups();
	if (!w || !v->cgroups) {
		free(w);
		return -ENOMEM;
	}
	w->v = v;
	w->r = r;
	v->too_many_cgroups = false;
	v->cgroups->before = v->cgroups->known;
	v->cgroups->known = (struct known_groups){};
	for (i = 0; i < ARRAY_SIZE(hierarchies) && !err; i++) {
		w->hierarchy = hierarchies[i];
		err = visit_hierarchy(w);
	}
	forget(v->cgroups, &v->cgroups->before);
	free(w);
	return err;
}
