// SPDX-License-Identifier: BSD-2-Clause
#include "events/stat/each_cgroup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "host/cgroup.h"
#include "report/diag.h"

#define OPTION "--for-each-cgroup"

static bool has(const struct each_cgroup *e, u64 id)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (e->id[i] == id)
			return true;
	return false;
}

static int add(struct each_cgroup *e, const char *name, enum scope_hierarchy counted)
{
	struct cgroup_ref ref;
	int err = cgroup__find(&ref, OPTION, name);

	if (err || has(e, ref.id))
		return err;
	if (ref.hierarchy != counted) {
		diag_error(OPTION ": '%s' is in hierarchy %s, but tasks are counted by cgroups of %s", name,
			   cgroup_hierarchy_name(ref.hierarchy), cgroup_hierarchy_name(counted));
		return -EINVAL;
	}
	return ARRAY_APPEND(e->id, e->n, ref.id);
}

int each_cgroup__find(struct each_cgroup *e, enum scope_hierarchy counted)
{
	char *text = strdup(e->typed), *rest = text, *name;
	int err = text ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, ",")))
		err = add(e, name, counted);
	free(text);
	return err;
}

/* Whether the path is that of the cgroup, or below it. */
static bool is_within(const char *path, const char *above)
{
	size_t len = strlen(above);

	return !strcmp(above, "/") || (!strncmp(path, above, len) && (!path[len] || path[len] == '/'));
}

/* Whether a listed cgroup is equal to the given one, or above it. */
static bool is_above(struct cgroup_names *names, u64 id, const struct cgroup_name *below)
{
	const struct cgroup_name *above = cgroup_names__find(names, id);

	return above && (id == below->id || (!above->is_removed && is_within(below->path, above->path)));
}

int each_cgroup__select(const struct each_cgroup *e, struct cgroup_names *names, struct counts *c, u64 *unknown)
{
	const struct cgroup_name *of;
	size_t from, to = 0, i;

	*unknown = 0;
	for (from = 0; from < c->n; from++) {
		of = cgroup_names__find(names, c->count[from].key.cgroup);
		if (!of)
			return -ENOMEM;
		for (i = 0; i < e->n && !is_above(names, e->id[i], of); i++)
			;
		if (i < e->n)
			c->count[to++] = c->count[from];
		else if (of->is_removed)
			*unknown += c->count[from].value;
	}
	c->n = to;
	return 0;
}

/* Adds a count to each listed cgroup that contains the counted one. */
static int charge(struct counts *to, const struct each_cgroup *e, struct cgroup_names *names, const struct count *from)
{
	const struct cgroup_name *below = cgroup_names__find(names, from->key.cgroup);
	struct count count = *from;
	int err = below ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < e->n && !err; i++) {
		if (!is_above(names, e->id[i], below))
			continue;
		count.key.cgroup = e->id[i];
		err = counts__add(to, &count);
	}
	return err;
}

/* Adds rows for cgroups in which nothing happened. */
static int add_nothing(struct counts *to, const struct each_cgroup *e, size_t nrows)
{
	struct count nothing = { .place = COUNT_EVERYWHERE };
	size_t i, row;
	int err = 0;

	for (i = 0; i < e->n; i++) {
		nothing.key.cgroup = e->id[i];
		for (row = 0; row < nrows && !err; row++) {
			nothing.row = row;
			err = counts__add(to, &nothing);
		}
	}
	return err;
}

int each_cgroup__regroup(const struct each_cgroup *e, struct cgroup_names *names, struct counts *c, size_t nrows)
{
	struct counts summed = {};
	int err = add_nothing(&summed, e, nrows);
	size_t i;

	for (i = 0; i < c->n && !err; i++)
		err = charge(&summed, e, names, &c->count[i]);
	if (err) {
		counts__free(&summed);
		return err;
	}
	counts__settle(&summed);
	counts__free(c);
	*c = summed;
	return 0;
}

void each_cgroup__free(struct each_cgroup *e)
{
	free(e->id);
}
