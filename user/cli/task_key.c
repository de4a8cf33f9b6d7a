// SPDX-License-Identifier: BSD-2-Clause
#include "cli/task_key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cgroup.h"
#include "host/user.h"

static const struct {
	const char *name;
	u32 part;
} parts[BY_PARTS] = {
	{ "cpu", BY_CPU }, { "cgroup", BY_CGROUP }, { "pidns", BY_PIDNS }, { "uid", BY_UID },
	{ "pid", BY_PID }, { "tid", BY_TID },       { "comm", BY_COMM },
};

const char *task_key_parts(void)
{
	return "pid, tid, comm, cgroup, cpu, pidns, uid";
}

static bool is_named(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && !strncmp(text, name, len);
}

/* 0: there is none of that name. */
static u32 part_named(const char *text, size_t len, const struct own_parts *own)
{
	size_t i;

	for (i = 0; i < BY_PARTS; i++)
		if (is_named(parts[i].name, text, len))
			return parts[i].part;
	for (i = 0; own && i < own->n; i++)
		if (is_named(own->name[i], text, len))
			return BY_OWN(i);
	return 0;
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

static char *cgroup_text(struct task_key_names *names, u64 id)
{
	char text[64];

	if (!names->cgroup_path || names->cgroup != id) {
		free(names->cgroup_path);
		names->cgroup = id;
		names->cgroup_path = cgroup__path(names->hierarchy, id);
		if (!names->cgroup_path) {
			snprintf(text, sizeof(text), "(removed, id %llu)", id);
			names->cgroup_path = strdup(text);
		}
	}
	return names->cgroup_path ? strdup(names->cgroup_path) : NULL;
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

/* Takes text over, which may be NULL for want of memory. */
static int add_text(struct report_row *row, const char *name, char *text, bool label)
{
	const struct field f = { .name = name, .text = text, .label = label };
	int err = text ? report_row__add_field(row, &f) : -ENOMEM;

	if (err)
		free(text);
	return err;
}

int task_key__add_fields(struct report_row *row, const struct task_key *k, const char *name, u32 by,
			 struct task_key_names *names)
{
	int err = 0;

	if (by & BY_CPU)
		err = report_row__add_number(row, "cpu", k->cpu, FIELD_ID);
	if (!err && by & BY_CGROUP)
		err = add_text(row, "cgroup", cgroup_text(names, k->cgroup), false);
	if (!err && by & BY_PIDNS)
		err = report_row__add_number(row, "pidns", k->pidns, FIELD_ID);
	if (!err && by & BY_UID)
		err = report_row__add_number(row, "uid", k->uid, FIELD_ID);
	if (!err && by & BY_UID)        /* groups have equal fields */
		err = add_text(row, "user", user_text(names, k->uid) ?: strdup("?"), true);
	if (!err && by & BY_PID)
		err = report_row__add_number(row, "pid", k->pid, FIELD_ID);
	if (!err && by & BY_TID)
		err = report_row__add_number(row, "tid", k->tid, FIELD_ID);
	if (!err && by & (BY_COMM | BY_PID | BY_TID))
		err = add_text(row, "comm",
			       strndup(by & BY_COMM ? k->comm : name, TASK_KEY_COMM_LEN),
			       !(by & BY_COMM));
	return err;
}

/* A key as it lies in a map; own parts behind it. */
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

int task_key__report(struct report *r, struct hist_set *set, u32 by, const struct own_parts *own,
		     enum scope_hierarchy hierarchy)
{
	struct task_key_names names = { .hierarchy = hierarchy };
	struct report_row row;
	struct report_group g;
	size_t i;
	int err = 0;

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
	task_key_names__free(&names);
	return err;
}

void task_key_names__free(struct task_key_names *names)
{
	free(names->cgroup_path);
	free(names->user);
	*names = (struct task_key_names){};
}
