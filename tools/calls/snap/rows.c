// SPDX-License-Identifier: BSD-2-Clause
/* The table of a pass: a row for each group of threads, or for each thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "calls/snap/snap.h"
#include "cli/key_view.h"
#include "cli/order.h"

/* The parts that are not asked for are zero; text: 1 + index of a text, 0: none. */
struct group_key {
	struct task_key task;
	u32 text[SNAP_PARTS];
};

struct group {
	struct group_key key;
	u64 threads;
	u32 rank;
	bool has_time;          /* of any of them is known since when it is in its state */
	u64 longest_ns, doubt_ns;       /* of the thread that has been in it for the longest time: */
	const struct snap_thread *thread;
};

struct table_of_threads {
	struct snap *snap;
	const struct cli *cli;
	u32 by;
	struct task_key_names names;
	struct key_view view;
	char **text;
	size_t ntexts;
	struct table by_text;
	struct group *group;
	size_t n;
	struct table by_key;
};

/*
 * --- groups ------------------------------------------------------------------------------------
 */

static bool same_text(const void *array, u32 index, const void *key)
{
	return !strcmp(((char *const *)array)[index], key);
}

/* Takes over the text. */
static int number_text(struct table_of_threads *t, char *text, u32 *number)
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

static int number_parts(struct table_of_threads *t, const struct snap_thread *thread, u32 number[SNAP_PARTS])
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

/* Only the parts asked for. */
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
	return !memcmp(&((const struct group *)array)[index].key, key, sizeof(struct group_key));
}

static int find_group(struct table_of_threads *t, const struct group_key *key, struct group **group)
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
	**group = (struct group){ .key = *key, .rank = UINT32_MAX };
	return 0;
}

static void add_to(struct group *g, const struct snap_thread *thread, bool has_time, u64 ns)
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
	g->doubt_ns = thread->doubt_ns;
}

static int add_thread(struct table_of_threads *t, const struct snap_thread *thread)
{
	struct group_key key = { .task = key_of(&thread->task, t->by) };
	struct group *g;
	u64 ns;
	bool has_time = snap_pass__time(&t->snap->pass, thread, &ns);
	int err = number_parts(t, thread, key.text);

	key_view__change(&t->view, &key.task);
	if (!err)
		err = find_group(t, &key, &g);
	if (!err)
		add_to(g, thread, has_time, has_time ? ns : 0);
	return err;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->threads != y->threads)
		return x->threads > y->threads ? -1 : 1;
	if (x->longest_ns != y->longest_ns)
		return x->longest_ns > y->longest_ns ? -1 : 1;
	return x->thread->task.tid < y->thread->task.tid ? -1 : 1;
}

/* Takes over the text; NULL: there is none. */
static int add_cell(struct report_row *row, struct field cell, char *text)
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

static int copy_cell(struct report_row *row, struct field cell, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	return text && !copy ? -ENOMEM : add_cell(row, cell, copy);
}

static int add_own(struct table_of_threads *t, const struct group *g, struct report_row *row)
{
	u32 part, number;
	int err = 0;

	for (part = 0; part < SNAP_PARTS && !err; part++) {
		number = g->key.text[part];
		if (t->by & BY_OWN(part))
			err = copy_cell(row, (struct field){ .name = snap_part_names[part], .role = ROLE_KEY },
					number ? t->text[number - 1] : NULL);
	}
	return err;
}

static int add_times(struct report_row *row, const char *name, const struct group *g, enum field_role role)
{
	const struct field times[] = {
		{ .name = name, .number = g->longest_ns, .kind = g->has_time ? FIELD_DURATION : FIELD_NONE,
		  .role = role },
		{ .name = "doubt", .number = g->doubt_ns, .kind = g->has_time ? FIELD_DURATION : FIELD_NONE,
		  .role = role == ROLE_MAXIMUM ? ROLE_AT : ROLE_GAUGE, .of = role == ROLE_MAXIMUM ? name : NULL,
		  .machine = true },
	};

	return report_row__add_fields(row, times, ARRAY_SIZE(times));
}

/* The thread that has been in its state for the longest time. */
static int add_example(struct report_row *row, const struct snap_thread *thread)
{
	const struct field pid = {
		.name = "pid", .number = thread->task.pid, .kind = FIELD_ID, .role = ROLE_AT, .of = "longest",
	};
	char comm[TASK_KEY_COMM_LEN + 1] = "";

	memcpy(comm, thread->task.comm, TASK_KEY_COMM_LEN);
	return report_row__add_field(row, &pid) ?:
	       copy_cell(row, (struct field){ .name = "comm", .role = ROLE_AT, .of = "longest" }, comm);
}

static int fill_group(struct table_of_threads *t, const struct group *g, struct report_row *row)
{
	int err = add_own(t, g, row);

	if (!err)
		err = task_key__add_fields(row, &g->key.task, g->thread->task.comm, t->by, &t->names);
	report_row__end_key(row);
	if (!err)
		err = report_row__add_figure(row, "threads", g->threads, FIELD_NUMBER, ROLE_GAUGE);
	if (!err)
		err = add_times(row, "longest", g, ROLE_MAXIMUM);
	if (!err && !(t->by & (BY_PID | BY_TID | BY_COMM)))
		err = add_example(row, g->thread);
	return err;
}

/* Text has the file of a descriptor among the arguments. */
static int add_part(struct table_of_threads *t, const struct snap_thread *thread, enum snap_part part,
		    struct report_row *row)
{
	const struct field cell = {
		.name = snap_part_names[part], .role = ROLE_LABEL, .machine = part == SNAP_BY_OBJECT,
	};
	char *text;
	int err = snap_names__part(&t->snap->names, thread, part, &text);

	return err ?: add_cell(row, cell, text);
}

static int add_arguments(struct table_of_threads *t, const struct snap_thread *thread, struct report_row *row)
{
	char *text;
	int err = snap_names__arguments(&t->snap->names, thread, &text);

	return err ?: add_cell(row, (struct field){ .name = "args", .role = ROLE_LABEL }, text);
}

static int fill_thread(struct table_of_threads *t, const struct group *g, struct report_row *row)
{
	const struct snap_thread *thread = g->thread;
	int err = task_key__add_fields(row, &thread->task, thread->task.comm, BY_PID | BY_TID, &t->names);

	if (!err)
		err = add_part(t, thread, SNAP_BY_STATE, row);
	if (!err)
		err = add_times(row, "time", g, ROLE_GAUGE);
	if (!err)
		err = report_row__add_figure(row, "cpu", thread->task.cpu, FIELD_ID, ROLE_LABEL);
	if (!err)
		err = add_part(t, thread, SNAP_BY_WCHAN, row);
	if (!err)
		err = add_part(t, thread, SNAP_BY_CALL, row);
	if (!err)
		err = add_arguments(t, thread, row);
	return err ?: add_part(t, thread, SNAP_BY_OBJECT, row);
}

static int add_row(struct table_of_threads *t, const struct group *g, struct report *r)
{
	struct report_row row = {};
	int err = t->snap->each ? fill_thread(t, g, &row) : fill_group(t, g, &row);

	return report__end_row(r, &row, err);
}

static int add_columns(struct table_of_threads *t, struct report *r)
{
	static const struct snap_thread nobody = { .state = 'R', .place = SNAP_ON_CPU };
	const struct group none = { .thread = &nobody };

	return report__keep_columns(r, add_row(t, &none, r));
}

static int add_rows(struct table_of_threads *t, struct report *r)
{
	bool usual = t->snap->order && !strcmp(t->snap->order, SNAP_ORDER_USUAL);
	size_t top = table_rows(t->cli), shown = usual && top && top < t->n ? top : t->n, i;
	int err = 0;

	if (t->n)
		qsort(t->group, t->n, sizeof(*t->group), compare_groups);
	for (i = 0; i < shown && !err; i++)
		err = add_row(t, &t->group[i], r);
	r->hidden = t->n - shown;
	if (!err && !t->n)
		err = add_columns(t, r);
	if (!err && !usual)
		report__sort_rows(r, t->snap->order, t->snap->each ? 2 : __builtin_popcount(t->by), top);
	return err;
}

static void release(struct table_of_threads *t)
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

int snap_rows__report(struct snap *s, struct measurement *m, struct report *r)
{
	struct table_of_threads t = {
		.snap = s, .cli = m->cli, .by = s->each ? BY_TID : m->cli->by, .names = { .cgroups = m->cgroups },
	};
	const struct snap_thread *thread;
	size_t at = 0;
	int err = 0;

	t.view = (struct key_view){ t.by, &t.names, 0 };
	while (!err && (thread = snap_pass__next(&s->pass, &at))) {
		r->events++;
		err = add_thread(&t, thread);
	}
	if (!err)
		err = add_rows(&t, r);
	release(&t);
	return err;
}
