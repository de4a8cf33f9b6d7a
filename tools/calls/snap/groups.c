// SPDX-License-Identifier: BSD-2-Clause
/* Groups threads by the requested keys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "calls/snap/snap.h"

void snap_groups__begin(struct snap_groups *t, struct snap *s, struct measurement *m, u32 by)
{
	*t = (struct snap_groups){ .snap = s, .by = by, .names = { .cgroups = m->cgroups } };
	t->view = (struct key_view){ by, &t->names, 0 };
}

static bool same_text(const void *array, u32 index, const void *key)
{
	return !strcmp(((char *const *)array)[index], key);
}

/* Takes ownership of the text. */
static int number_text(struct snap_groups *t, char *text, u32 *number)
{
	u64 hash = table_hash(0, text, strlen(text));
	s64 known = table__find(&t->by_text, hash, same_text, t->text, text);
	size_t n = t->ntexts;
	int err;

	*number = known + 1;
	if (known >= 0) {
		free(text);
		return 0;
	}
	err = ARRAY_ROOM(t->text, n) ?: table__add(&t->by_text, hash, n);
	if (err) {
		free(text);
		return err;
	}
	t->text[t->ntexts++] = text;
	*number = t->ntexts;
	return 0;
}

static int number_parts(struct snap_groups *t, const struct snap_thread *thread, u32 number[SNAP_PARTS])
{
	char *text;
	u32 part;
	int err = 0;

	for (part = 0; part < SNAP_PARTS && !err; part++) {
		if (!(t->by & BY_OWN(part)))
			continue;
		err = snap_names__part(&t->snap->names, thread, part, &text);
		if (!err && text)
			err = number_text(t, text, &number[part]);
	}
	return err;
}

/* Keeps only the requested parts of the key. */
static struct task_key key_of(const struct task_key *all, u32 by)
{
	struct task_key key = {};

	if (by & BY_CPU)
		key.cpu = all->cpu;
	if (by & BY_CGROUP)
		key.cgroup = all->cgroup;
	if (by & BY_PIDNS)
		key.pidns = all->pidns;
	if (by & BY_UID)
		key.uid = all->uid;
	if (by & BY_PID)
		key.pid = all->pid;
	if (by & BY_TID)
		key.tid = all->tid;
	if (by & BY_COMM)
		memcpy(key.comm, all->comm, sizeof(key.comm));
	return key;
}

static bool same_group(const void *array, u32 index, const void *key)
{
	return !memcmp(&((const struct snap_group *)array)[index].key, key, sizeof(struct snap_group_key));
}

static int find_group(struct snap_groups *t, const struct snap_group_key *key, struct snap_group **group)
{
	u64 hash = table_hash(0, key, sizeof(*key));
	s64 known = table__find(&t->by_key, hash, same_group, t->group, key);
	int err;

	if (known >= 0) {
		*group = &t->group[known];
		return 0;
	}
	err = ARRAY_ROOM(t->group, t->n) ?: table__add(&t->by_key, hash, t->n);
	if (err)
		return err;
	*group = &t->group[t->n++];
	**group = (struct snap_group){ .key = *key, .rank = UINT32_MAX };
	return 0;
}

static void add_to(struct snap_group *g, const struct snap_thread *thread, bool has_time, u64 ns)
{
	u32 rank = snap_thread__rank(thread, ns);

	g->threads++;
	if (rank < g->rank)
		g->rank = rank;
	if (g->thread && (!has_time || (g->has_time && ns <= g->longest_ns)))
		return;
	g->thread = thread;
	g->has_time |= has_time;
	g->longest_ns = ns;
	g->doubt_ns = thread->doubt_ns < ns ? thread->doubt_ns : ns;
}

int snap_groups__add(struct snap_groups *t, const struct snap_thread *thread, u32 *index)
{
	struct snap_group_key key = { .task = key_of(&thread->task, t->by) };
	struct snap_group *g;
	u64 ns;
	bool has_time = snap_pass__time(&t->snap->pass, thread, &ns);
	int err = number_parts(t, thread, key.text);

	key_view__change(&t->view, &key.task);
	if (!err)
		err = find_group(t, &key, &g);
	if (err)
		return err;
	add_to(g, thread, has_time, has_time ? ns : 0);
	*index = g - t->group;
	return 0;
}

/*
 * --- cells -------------------------------------------------------------------------------------
 */

int snap_add_cell(struct report_row *row, struct field cell, char *text)
{
	int err;

	cell.text = text;
	cell.kind = FIELD_NONE;
	cell.word = true;
	err = report_row__add_field(row, &cell);
	if (err)
		free(text);
	return err;
}

int snap_copy_cell(struct report_row *row, struct field cell, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	return text && !copy ? -ENOMEM : snap_add_cell(row, cell, copy);
}

static int add_own(struct snap_groups *t, const struct snap_group *g, struct report_row *row)
{
	u32 part, number;
	int err = 0;

	for (part = 0; part < SNAP_PARTS && !err; part++) {
		number = g->key.text[part];
		if (t->by & BY_OWN(part))
			err = snap_copy_cell(row, (struct field){ .name = snap_part_names[part], .role = ROLE_KEY },
					number ? t->text[number - 1] : NULL);
	}
	return err;
}

int snap_groups__add_key(struct snap_groups *t, const struct snap_group *g, struct report_row *row)
{
	int err = add_own(t, g, row);

	return err ?: task_key__add_fields(row, &g->key.task, g->thread->task.comm, t->by, &t->names);
}

void snap_groups__free(struct snap_groups *t)
{
	size_t i;

	for (i = 0; i < t->ntexts; i++)
		free(t->text[i]);
	free(t->text);
	free(t->group);
	table__free(&t->by_text);
	table__free(&t->by_key);
	task_key_names__free(&t->names);
}
