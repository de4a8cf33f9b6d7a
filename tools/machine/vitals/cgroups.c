// SPDX-License-Identifier: BSD-2-Clause
/* Cgroups: levels near limits, and what was refused because of them; v2, and v1 where its controllers are mounted. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/small_file.h"
#include "host/cgroup.h"
#include "host/cpu_stat.h"
#include "machine/vitals/vital.h"

#define MOST_LEVELS 64

/* v1 writes its largest number of whole pages for no limit. */
#define NO_LIMIT (1ULL << 62)

static const struct cgroup_figure {
	enum scope_hierarchy hierarchy;
	enum vital_id vital;
	const char *file;
	const char *key;        /* NULL: the file is the number */
	const char *limit;      /* a file: without a number in it, there is no reading; NULL: the vital has no limit */
} figures[] = {
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_MEMORY, "memory.current", NULL, "memory.max" },
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_OOM_KILLS, "memory.events.local", "oom_kill", NULL },
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_AT_LIMIT, "memory.events.local", "max", NULL },
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_AT_HIGH, "memory.events.local", "high", NULL },
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_PIDS, "pids.current", NULL, "pids.max" },
	{ SCOPE_CGROUP_V2, VITAL_CGROUP_NO_PIDS, "pids.events", "max", NULL },
	{ SCOPE_CGROUP_MEMORY, VITAL_CGROUP_MEMORY, "memory.usage_in_bytes", NULL, "memory.limit_in_bytes" },
	{ SCOPE_CGROUP_MEMORY, VITAL_CGROUP_OOM_KILLS, "memory.oom_control", "oom_kill", NULL },
	{ SCOPE_CGROUP_MEMORY, VITAL_CGROUP_AT_LIMIT, "memory.failcnt", NULL, NULL },
	{ SCOPE_CGROUP_PIDS, VITAL_CGROUP_PIDS, "pids.current", NULL, "pids.max" },
	{ SCOPE_CGROUP_PIDS, VITAL_CGROUP_NO_PIDS, "pids.events", "max", NULL },
};

struct walk {
	struct vital_reader *v;
	struct readings *r;
	enum scope_hierarchy hierarchy;
	char path[PATH_MAX];    /* below the root of the hierarchy, "" for it */
	u32 groups;
};

static bool read_number(int dir, const char *name, const char *key, u64 *value)
{
	const struct vital_figure f = { .key = key };
	char text[4096];

	return small_file__read(dir, name, text, sizeof(text)) &&
	       vital_text__number(text, VITAL_LINES, &f, VITAL_NUMBER, value);
}

static int add_figure(const struct walk *w, int dir, u64 id, const struct cgroup_figure *f)
{
	struct reading one = { .vital = f->vital, .id = id, .has_limit = f->limit != NULL };

	if (f->limit && (!read_number(dir, f->limit, NULL, &one.limit) || one.limit >= NO_LIMIT))
		return 0;
	if (!read_number(dir, f->file, f->key, &one.value))
		return 0;
	one.at_ns = monotonic_ns();
	return readings__add(w->r, &one, *w->path ? w->path : "/");
}

static int add_throttling(const struct walk *w, int dir, u64 id)
{
	struct reading one = { .vital = VITAL_CGROUP_THROTTLED, .id = id };
	struct cpu_stat stat = {};
	char text[4096];

	if ((w->hierarchy != SCOPE_CGROUP_V2 && w->hierarchy != SCOPE_CGROUP_CPU) ||
	    !small_file__read(dir, "cpu.stat", text, sizeof(text)) || !strstr(text, "nr_periods "))
		return 0;
	cpu_stat__parse(&stat, text);
	one.value = stat.throttled_ns;
	one.at_ns = monotonic_ns();
	return stat.periods ? readings__add(w->r, &one, *w->path ? w->path : "/") : 0;
}

static int add_group(const struct walk *w, int dir, const struct stat *st)
{
	int err = add_throttling(w, dir, st->st_ino);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(figures) && !err; i++)
		if (figures[i].hierarchy == w->hierarchy)
			err = add_figure(w, dir, st->st_ino, &figures[i]);
	return err;
}

static int visit(struct walk *w, int dir, u32 level);

static int visit_below(struct walk *w, int dir, const char *name, u32 level)
{
	size_t n = strlen(w->path), room = sizeof(w->path) - n;
	int below, err = 0;

	if (level >= MOST_LEVELS || strlen(name) + 2 > room)
		return 0;
	below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0)
		return 0;               /* it was removed */
	snprintf(w->path + n, room, "/%s", name);
	err = visit(w, below, level + 1);
	w->path[n] = 0;
	return err;
}

static int visit_all_below(struct walk *w, int dir, u32 level)
{
	int copy = fcntl(dir, F_DUPFD_CLOEXEC, 0), err = 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!d && copy >= 0)
		close(copy);
	while (d && !err && (e = readdir(d)))
		if (e->d_type == DT_DIR && strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			err = visit_below(w, dir, e->d_name, level);
	if (d)
		closedir(d);
	return err;
}

/* Closes dir. */
static int visit(struct walk *w, int dir, u32 level)
{
	struct stat st;
	int err = fstat(dir, &st) ? 1 : 0;

	if (!err && w->groups++ >= VITAL_CGROUPS) {
		w->v->too_many_cgroups = true;
		err = 1;
	}
	if (!err)
		err = add_group(w, dir, &st);
	/* A directory has two links, and one more for each below it. */
	if (!err && st.st_nlink != 2)
		err = visit_all_below(w, dir, level);
	close(dir);
	return err < 0 ? err : 0;
}

int vital_cgroups__read(struct vital_reader *v, struct readings *r)
{
	static const enum scope_hierarchy hierarchies[] = {
		SCOPE_CGROUP_V2, SCOPE_CGROUP_MEMORY, SCOPE_CGROUP_PIDS, SCOPE_CGROUP_CPU,
	};
	int err = 0;
	size_t i;

	v->too_many_cgroups = false;
	for (i = 0; i < ARRAY_SIZE(hierarchies) && !err; i++) {
		struct walk w = { .v = v, .r = r, .hierarchy = hierarchies[i] };
		char *mount = cgroup__mount(hierarchies[i]);
		int dir = mount ? open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

		free(mount);
		if (dir >= 0)
			err = visit(&w, dir, 0);
	}
	return err;
}
