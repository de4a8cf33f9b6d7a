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

int task_key__parse(const char *text, u32 *by, char *bad, size_t bad_size)
{
	u32 new = 0;
	size_t len, i;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		for (i = 0; i < BY_PARTS; i++)
			if (strlen(parts[i].name) == len && !strncmp(text, parts[i].name, len))
				break;
		if (i == BY_PARTS) {
			snprintf(bad, bad_size, "%.*s", (int)len, text);
			return -EINVAL;
		}
		new |= parts[i].part;
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

static int fill_fields(struct report_group *g, const struct task_key *k, const char *name, u32 by,
		       struct task_key_names *names)
{
	char *text;

	g->key = calloc(BY_PARTS + 2, sizeof(*g->key));
	if (!g->key)
		return -ENOMEM;
	if (by & BY_CPU)
		g->key[g->nkey++] = (struct field){ .name = "cpu", .kind = FIELD_ID, .number = k->cpu };
	if (by & BY_CGROUP) {
		text = cgroup_text(names, k->cgroup);
		if (!text)
			return -ENOMEM;
		g->key[g->nkey++] = (struct field){ .name = "cgroup", .text = text };
	}
	if (by & BY_PIDNS)
		g->key[g->nkey++] = (struct field){ .name = "pidns", .kind = FIELD_ID, .number = k->pidns };
	if (by & BY_UID) {
		g->key[g->nkey++] = (struct field){ .name = "uid", .kind = FIELD_ID, .number = k->uid };
		text = user_text(names, k->uid) ?: strdup("?");         /* groups have equal fields */
		if (!text)
			return -ENOMEM;
		g->key[g->nkey++] = (struct field){ .name = "user", .text = text, .label = true };
	}
	if (by & BY_PID)
		g->key[g->nkey++] = (struct field){ .name = "pid", .kind = FIELD_ID, .number = k->pid };
	if (by & BY_TID)
		g->key[g->nkey++] = (struct field){ .name = "tid", .kind = FIELD_ID, .number = k->tid };
	if (by & (BY_COMM | BY_PID | BY_TID)) {
		text = strndup(by & BY_COMM ? k->comm : name, TASK_KEY_COMM_LEN);
		if (!text)
			return -ENOMEM;
		g->key[g->nkey++] =
			(struct field){ .name = "comm", .text = text, .label = !(by & BY_COMM) };
	}
	return 0;
}

int task_key__report(struct report *r, struct hist_set *set, u32 by,
		     enum scope_hierarchy hierarchy)
{
	struct task_key_names names = { .hierarchy = hierarchy };
	struct report_group g;
	struct task_key key;
	size_t i;
	int err = 0;

	for (i = 0; i < set->ngroups && !err; i++) {
		g = (struct report_group){ .hist = set->group[i].hist };
		memset(&set->group[i].hist, 0, sizeof(set->group[i].hist));
		if (by) {
			memcpy(&key, set->group[i].key, sizeof(key));
			err = fill_fields(&g, &key, set->group[i].name, by, &names);
		}
		if (err)
			report_group__free(&g);
		else
			err = report__add_group(r, &g);
	}
	task_key_names__free(&names);
	return err;
}

int task_key__add_fields(struct report_row *row, const struct task_key *key, const char *name, u32 by,
			 struct task_key_names *names)
{
	struct report_group g = {};
	int err = fill_fields(&g, key, name, by, names);
	size_t i;

	for (i = 0; i < g.nkey && !err; i++) {
		err = report_row__add_field(row, &g.key[i]);
		if (!err)
			g.key[i].text = NULL;   /* the row's now */
	}
	report_group__free(&g);
	return err;
}

void task_key_names__free(struct task_key_names *names)
{
	free(names->cgroup_path);
	free(names->user);
	*names = (struct task_key_names){};
}
