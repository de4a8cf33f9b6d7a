// SPDX-License-Identifier: BSD-2-Clause
#include "host/cpu_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/small_file.h"
#include "host/cgroup.h"

#define TEXT_MAX 4096

static bool starts_with(const char *line, const char *name, u64 *value)
{
	size_t len = strlen(name);

	if (strncmp(line, name, len) || line[len] != ' ')
		return false;
	*value = strtoull(line + len + 1, NULL, 10);
	return true;
}

void cpu_stat__parse(struct cpu_stat *s, const char *text)
{
	u64 value;

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (starts_with(text, "nr_periods", &value))
			s->periods = value;
		else if (starts_with(text, "nr_throttled", &value))
			s->throttled = value;
		else if (starts_with(text, "throttled_usec", &value))
			s->throttled_ns = value * 1000;
		else if (starts_with(text, "throttled_time", &value))
			s->throttled_ns = value;
	}
}

/* Reads a small kernel file. Returns false if it does not exist. */
static bool read_text(char text[TEXT_MAX], const char *folder, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return false;
	return small_file__read(AT_FDCWD, path, text, TEXT_MAX);
}

/* Reads the quota. v2: "20000 100000" or "max 100000". v1: one file each, -1 for no quota. */
static void read_quota(struct cpu_stat *s, const char *folder)
{
	char text[TEXT_MAX], *rest;

	if (read_text(text, folder, "cpu.max")) {
		s->quota_us = strtoull(text, &rest, 10);
		rest = strchr(text, ' ');
		s->period_us = rest ? strtoull(rest, NULL, 10) : 0;
		return;
	}
	if (read_text(text, folder, "cpu.cfs_quota_us") && text[0] != '-')
		s->quota_us = strtoull(text, NULL, 10);
	if (read_text(text, folder, "cpu.cfs_period_us"))
		s->period_us = strtoull(text, NULL, 10);
}

static int add(struct cpu_stats *s, const FTSENT *e, const char *below)
{
	struct cpu_stat stat = { .id = e->fts_statp->st_ino };
	char text[TEXT_MAX];

	/* A cgroup without the controller, or a kernel without quotas, has no accounting. */
	if (!read_text(text, e->fts_path, "cpu.stat") || !strstr(text, "nr_periods "))
		return 0;
	cpu_stat__parse(&stat, text);
	read_quota(&stat, e->fts_path);
	if (ARRAY_ROOM(s->stat, s->n))
		return -ENOMEM;
	stat.path = strdup(*below ? below : "/");
	if (!stat.path)
		return -ENOMEM;
	s->stat[s->n++] = stat;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct cpu_stat *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

int cpu_stats__read(struct cpu_stats *s)
{
	char *root = cgroup__mount(cgroup__default_hierarchy());
	char *paths[] = { root, NULL };
	struct cpu_stats new = {};
	int err = root ? 0 : -ENOENT;
	FTSENT *e;
	FTS *walk;

	walk = err ? NULL : fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	if (!err && !walk)
		err = -errno;
	while (!err && (e = fts_read(walk)))
		if (e->fts_info == FTS_D)
			err = add(&new, e, e->fts_path + strlen(root));
	if (walk)
		fts_close(walk);
	free(root);
	if (err) {
		cpu_stats__free(&new);
		return err;
	}
	if (new.n)
		qsort(new.stat, new.n, sizeof(*new.stat), compare);
	*s = new;
	return 0;
}

const struct cpu_stat *cpu_stats__find(const struct cpu_stats *s, u64 id)
{
	const struct cpu_stat key = { .id = id };

	return s->n ? bsearch(&key, s->stat, s->n, sizeof(key), compare) : NULL;
}

void cpu_stats__free(struct cpu_stats *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->stat[i].path);
	free(s->stat);
	*s = (struct cpu_stats){};
}
