// SPDX-License-Identifier: BSD-2-Clause
#include "host/cgroup_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "host/cgroup.h"
#include "host/user.h"

/* Bounds memory on machines that constantly create and remove cgroups. */
#define MOST_NAMES 4096

static void name__free(struct cgroup_name *n)
{
	if (!n)
		return;
	free(n->path);
	free(n->container);
	free(n->container_id);
	free(n->unit);
	free(n);
}

/*
 * --- one cgroup --------------------------------------------------------------------------------
 */

/* Returns the name of a user, or the number if it has none. */
static char *owner(u32 uid)
{
	char *name = user_name(uid);

	if (!name && asprintf(&name, "%u", uid) < 0)
		return NULL;
	return name;
}

/* Puts the user and the outer container in front of the name, if there are any. */
static char *qualified(const struct container *c, const char *name)
{
	char *user = c->has_user ? owner(c->uid) : NULL, *text = NULL;
	bool has_outer = c->outer[0];

	if (c->has_user && !user)
		return NULL;
	if (asprintf(&text, "%s%s%s%s%s", user ?: "", user ? "/" : "", c->outer, has_outer ? "/" : "", name) < 0)
		text = NULL;
	free(user);
	return text;
}

static void name_container(struct cgroup_names *names, struct cgroup_name *n)
{
	struct container c;
	char *name;

	if (!container__find(&c, n->path)) {
		n->container = strdup("-");
		n->container_id = strdup("-");
		return;
	}
	n->container_id = strndup(c.id, container__shown(&c));
	name = container__name(&names->files, &c);
	if (name || n->container_id)
		n->container = qualified(&c, name ?: n->container_id);
	free(name);
}

static char *unit_text(const char *path)
{
	char unit[CONTAINER_NAME_SIZE] = "-";

	unit__find(unit, path);
	return strdup(unit);
}

static void name_removed(struct cgroup_name *n)
{
	n->is_removed = true;
	if (asprintf(&n->path, "(removed, id %llu)", n->id) < 0)
		n->path = NULL;
	if (!n->path)
		return;
	n->container = strdup(n->path);
	n->container_id = strdup("-");
	n->unit = strdup(n->path);
}

/*
 * While a cgroup is being removed, it briefly still has an id, and a path that ends in " (deleted)". A second lookup
 * distinguishes it from a cgroup with such a name.
 */
static char *path_of(const struct cgroup_names *names, u64 id)
{
	static const char deleted[] = " (deleted)";
	char *path = cgroup__path(names->hierarchy, id);
	size_t n = path ? strlen(path) : 0;

	if (n < strlen(deleted) || strcmp(path + n - strlen(deleted), deleted))
		return path;
	free(path);
	return cgroup__path(names->hierarchy, id);
}

/* Takes ownership of path. */
static struct cgroup_name *new_name(struct cgroup_names *names, u64 id, char *path)
{
	struct cgroup_name *n = calloc(1, sizeof(*n));

	if (!n) {
		free(path);
		return NULL;
	}
	n->id = id;
	n->path = path;
	if (path) {
		name_container(names, n);
		n->unit = unit_text(n->path);
	} else {
		name_removed(n);
	}
	if (n->path && n->container && n->container_id && n->unit)
		return n;
	name__free(n);
	return NULL;
}

/*
 * --- all cgroups -------------------------------------------------------------------------------
 */

static bool has_id(const void *array, u32 index, const void *key)
{
	struct cgroup_name *const *names = array;

	return names[index]->id == *(const u64 *)key;
}

static int add(struct cgroup_names *names, struct cgroup_name *n)
{
	int err;

	if (ARRAY_ROOM(names->name, names->n))
		return -ENOMEM;
	err = table__add(&names->by_id, table_hash(0, &n->id, sizeof(n->id)), names->n);
	if (!err)
		names->name[names->n++] = n;
	return err;
}

static const struct cgroup_name *add_new(struct cgroup_names *names, u64 id, char *path)
{
	struct cgroup_name *n = new_name(names, id, path);

	if (n && add(names, n)) {
		name__free(n);
		return NULL;
	}
	return n;
}

const struct cgroup_name *cgroup_names__find(struct cgroup_names *names, u64 id)
{
	s64 known = table__find(&names->by_id, table_hash(0, &id, sizeof(id)), has_id, names->name, &id);

	return known >= 0 ? names->name[known] : add_new(names, id, path_of(names, id));
}

int cgroup_names__tell(struct cgroup_names *names, u64 id, const char *path)
{
	char *copy = path ? strdup(path) : NULL;

	return (path && !copy) || !add_new(names, id, copy) ? -ENOMEM : 0;
}

struct wanted {
	const struct cgroup_name *like;
	u32 parts;
};

static bool is_like(const void *array, u32 index, const void *key)
{
	const struct cgroup_name *n = ((struct cgroup_name *const *)array)[index];
	const struct wanted *w = key;

	return (!(w->parts & CGROUP_CONTAINER) || !strcmp(n->container, w->like->container)) &&
	       (!(w->parts & CGROUP_UNIT) || !strcmp(n->unit, w->like->unit));
}

static u64 hash_of(const struct cgroup_name *n, u32 parts)
{
	u64 hash = 0;

	if (parts & CGROUP_CONTAINER)
		hash = table_hash(hash, n->container, strlen(n->container));
	if (parts & CGROUP_UNIT)
		hash = table_hash(hash, n->unit, strlen(n->unit));
	return hash;
}

static u32 index_of(const struct cgroup_names *names, u64 id)
{
	return table__find(&names->by_id, table_hash(0, &id, sizeof(id)), has_id, names->name, &id);
}

int cgroup_names__first(struct cgroup_names *names, u64 id, u32 parts, u64 *first)
{
	const struct cgroup_name *n = cgroup_names__find(names, id);
	const struct wanted wanted = { n, parts };
	s64 known;
	int err;

	if (!n)
		return -ENOMEM;
	known = table__find(&names->by_text, hash_of(n, parts), is_like, names->name, &wanted);
	if (known >= 0) {
		names->name[known]->has_several |= strcmp(names->name[known]->container_id, n->container_id) != 0;
		*first = names->name[known]->id;
		return 0;
	}
	err = table__add(&names->by_text, hash_of(n, parts), index_of(names, id));
	if (!err)
		*first = id;
	return err;
}

/* Forgets failed lookups, because they may succeed in another report. */
void cgroup_names__begin(struct cgroup_names *names)
{
	struct cgroup_name **old = names->name;
	size_t n = names->n, i;

	table__free(&names->by_text);
	table__free(&names->by_id);
	names->name = NULL;
	names->n = 0;
	for (i = 0; i < n; i++) {
		old[i]->has_several = false;
		if (n > MOST_NAMES || old[i]->is_removed || add(names, old[i]))
			name__free(old[i]);
	}
	free(old);
}

void cgroup_names__free(struct cgroup_names *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		name__free(names->name[i]);
	free(names->name);
	table__free(&names->by_id);
	table__free(&names->by_text);
	names->name = NULL;
	names->n = 0;
}
