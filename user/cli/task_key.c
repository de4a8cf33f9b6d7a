// SPDX-License-Identifier: BSD-2-Clause
#include "cli/task_key.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/key_view.h"
#include "host/cgroup_names.h"
#include "host/user.h"

static const struct {
	const char *name;
	u32 part;
} parts[] = {
	{ "cpu", BY_CPU },
	{ "cgroup", BY_CGROUP | BY_CGROUP_PATH },
	{ "container", BY_CGROUP | BY_CONTAINER },
	{ "unit", BY_CGROUP | BY_UNIT },
	{ "pidns", BY_PIDNS },
	{ "uid", BY_UID },
	{ "pid", BY_PID },
	{ "tid", BY_TID },
	{ "comm", BY_COMM },
};

const char *task_key_parts(void)
{
	return TASK_KEY_PARTS;
}

static bool is_named(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && !strncmp(text, name, len);
}

/* Returns the part with that name, or 0 if the name is unknown. */
static u32 part_named(const char *text, size_t len, const struct own_parts *own)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (is_named(parts[i].name, text, len))
			return parts[i].part;
	for (i = 0; own && i < own->n; i++)
		if (is_named(own->name[i], text, len))
			return BY_OWN(i);
	return 0;
}

size_t task_key__size(u32 by)
{
	if (by & BY_CGROUP)
		return sizeof(struct task_key);
	if (by & BY_PIDNS)
		return offsetof(struct task_key, cgroup);
	if (by & (BY_UID | BY_CPU))
		return offsetof(struct task_key, pidns);
	return by & BY_COMM ? offsetof(struct task_key, uid) : offsetof(struct task_key, comm);
}

int task_key__parse(const char *text, const struct own_parts *own, u32 *by, char *bad,
		    size_t bad_size)
{
	u32 new = 0, part;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		part = part_named(text, len, own);
		if (!part) {
			snprintf(bad, bad_size, "%.*s", (int)len, text);
			return -EINVAL;
		}
		new |= part;
		if (!text[len])
			break;
	}
	*by = new;
	return 0;
}

static char *user_text(struct task_key_names *names, u32 uid)
{
	if (!names->user || names->uid != uid) {
		free(names->user);
		names->uid = uid;
		names->user = user_name(uid);
	}
	return names->user ? strdup(names->user) : NULL;
}

/* Takes ownership of text. NULL means no memory. */
static int add_text(struct report_row *row, const char *name, char *text, bool label)
{
	const struct field f = { .name = name, .text = text, .role = label ? ROLE_LABEL : ROLE_KEY };
	int err = text ? report_row__add_field(row, &f) : -ENOMEM;

	if (err)
		free(text);
	return err;
}

/* Programs get the id; text shows only the name. */
static int add_container(struct report_row *row, const struct cgroup_name *n)
{
	struct field id = {
		.name = "container_id", .role = ROLE_LABEL, .machine = true,
		.text = strdup(n->has_several ? "several" : n->container_id),
	};
	int err = report_row__add_text(row, "container", n->container);

	if (!err)
		err = id.text ? report_row__add_field(row, &id) : -ENOMEM;
	if (err)
		free(id.text);
	return err;
}

/* The field is not called "unit": rows of stat already have a column of that name. */
static int add_cgroup(struct report_row *row, u64 id, u32 by, struct task_key_names *names)
{
	const struct cgroup_name *n = names->err ? NULL : cgroup_names__find(names->cgroups, id);
	int err = n ? 0 : -ENOMEM;

	if (!err && by & BY_CGROUP_PATH)
		err = report_row__add_text(row, "cgroup", n->path);
	if (!err && by & BY_CONTAINER)
		err = add_container(row, n);
	if (!err && by & BY_UNIT)
		err = report_row__add_text(row, "systemd_unit", n->unit);
	return err;
}

int task_key__add_fields(struct report_row *row, const struct task_key *k, const char *name, u32 by,
			 struct task_key_names *names)
{
	int err = 0;

	if (by & BY_CPU)
		err = report_row__add_number(row, "cpu", k->cpu, FIELD_ID);
	if (!err && by & BY_CGROUP)
		err = add_cgroup(row, k->cgroup, by, names);
	if (!err && by & BY_PIDNS)
		err = report_row__add_number(row, "pidns", k->pidns, FIELD_ID);
	if (!err && by & BY_UID)
		err = report_row__add_number(row, "uid", k->uid, FIELD_ID);
	if (!err && by & BY_UID)        /* groups need identical fields */
		err = add_text(row, "user", user_text(names, k->uid) ?: strdup("?"), true);
	if (!err && by & BY_PID)
		err = report_row__add_number(row, "pid", k->pid, FIELD_ID);
	if (!err && by & BY_TID)
		err = report_row__add_number(row, "tid", k->tid, FIELD_ID);
	if (!err && by & (BY_COMM | BY_PID | BY_TID))
		err = add_text(row, "comm",
			       strndup(by & BY_COMM ? k->comm : name, TASK_KEY_COMM_LEN),
			       !(by & BY_COMM));
	report_row__end_key(row);
	return err;
}

/* Room for a key as stored in a map, followed by the tool's own parts. */
#define KEY_WORDS 32

static int add_key(struct report_row *row, const struct hist_group *g, size_t size, u32 by,
		   const struct own_parts *own, struct task_key_names *names)
{
	u64 words[KEY_WORDS] = {};
	const struct task_key *key = (const void *)words;
	int err = 0;

	memcpy(words, g->key, size < sizeof(words) ? size : sizeof(words));
	if (own)
		err = own->add(own->context, key + 1, by, row);
	return err ?: task_key__add_fields(row, key, g->name, by, names);
}

static int add_columns(struct report *r, size_t size, u32 by, const struct own_parts *own, struct task_key_names *names)
{
	struct hist_group none = { .key = calloc(1, size ?: 1) };
	struct report_row row = {};
	int err = none.key ? add_key(&row, &none, size, by, own, names) : -ENOMEM;

	free((void *)none.key);
	return report__end_columns(r, &row, err);
}

int task_key__report(struct report *r, struct hist_set *set, u32 by, const struct own_parts *own,
		     struct cgroup_names *cgroups)
{
	struct task_key_names names = { .cgroups = cgroups };
	const struct key_view view = { by, &names, 0 };
	struct report_row row;
	struct report_group g;
	size_t i;
	int err = key_view__hist_set(&view, set);

	for (i = 0; i < set->ngroups && !err; i++) {
		row = (struct report_row){};
		if (by)
			err = add_key(&row, &set->group[i], set->key_size, by, own, &names);
		g = (struct report_group){ row.cell, row.ncells, set->group[i].hist };
		memset(&set->group[i].hist, 0, sizeof(set->group[i].hist));
		if (err)
			report_group__free(&g);
		else
			err = report__add_group(r, &g);
	}
	if (!err && by && !r->ngroups)
		err = add_columns(r, set->key_size, by, own, &names);
	task_key_names__free(&names);
	return err;
}

void task_key_names__free(struct task_key_names *names)
{
	free(names->user);
	*names = (struct task_key_names){ .cgroups = names->cgroups };
}
