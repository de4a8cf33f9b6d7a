// SPDX-License-Identifier: BSD-2-Clause
/* The table of a pass: a row for each group of threads, or for each thread. */
#include <stdlib.h>
#include <string.h>

#include "calls/snap/snap.h"
#include "cli/order.h"

static int compare_groups(const void *a, const void *b)
{
	const struct snap_group *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->threads != y->threads)
		return x->threads > y->threads ? -1 : 1;
	if (x->longest_ns != y->longest_ns)
		return x->longest_ns > y->longest_ns ? -1 : 1;
	return x->thread->task.tid < y->thread->task.tid ? -1 : 1;
}

static int add_times(struct report_row *row, const char *name, const struct snap_group *g, enum field_role role)
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

/* Shows the thread that has been in its state for the longest time. */
static int add_example(struct report_row *row, const struct snap_thread *thread)
{
	const struct field pid = {
		.name = "pid", .number = thread->task.pid, .kind = FIELD_ID, .role = ROLE_AT, .of = "longest",
	};
	char comm[TASK_KEY_COMM_LEN + 1] = "";

	memcpy(comm, thread->task.comm, TASK_KEY_COMM_LEN);
	return report_row__add_field(row, &pid) ?:
	       snap_copy_cell(row, (struct field){ .name = "comm", .role = ROLE_AT, .of = "longest" }, comm);
}

static int fill_group(struct snap_groups *t, const struct snap_group *g, struct report_row *row)
{
	int err = snap_groups__add_key(t, g, row);

	report_row__end_key(row);
	if (!err)
		err = report_row__add_figure(row, "threads", g->threads, FIELD_NUMBER, ROLE_GAUGE);
	if (!err)
		err = add_times(row, "longest", g, ROLE_MAXIMUM);
	if (!err && !(t->by & (BY_PID | BY_TID | BY_COMM)))
		err = add_example(row, g->thread);
	return err;
}

/* Text output already shows the file of a descriptor among the arguments. */
static int add_part(struct snap_groups *t, const struct snap_thread *thread, enum snap_part part,
		    struct report_row *row)
{
	const struct field cell = {
		.name = snap_part_names[part], .role = ROLE_LABEL, .machine = part == SNAP_BY_OBJECT,
	};
	char *text;
	int err = snap_names__part(&t->snap->names, thread, part, &text);

	return err ?: snap_add_cell(row, cell, text);
}

static int add_arguments(struct snap_groups *t, const struct snap_thread *thread, struct report_row *row)
{
	char *text;
	int err = snap_names__arguments(&t->snap->names, thread, &text);

	return err ?: snap_add_cell(row, (struct field){ .name = "args", .role = ROLE_LABEL }, text);
}

static int fill_thread(struct snap_groups *t, const struct snap_group *g, struct report_row *row)
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

static int add_row(struct snap_groups *t, const struct snap_group *g, struct report *r)
{
	struct report_row row = {};
	int err = t->snap->each ? fill_thread(t, g, &row) : fill_group(t, g, &row);

	return report__end_row(r, &row, err);
}

static int add_columns(struct snap_groups *t, struct report *r)
{
	static const struct snap_thread nobody = { .state = 'R', .place = SNAP_ON_CPU };
	const struct snap_group none = { .thread = &nobody };

	return report__keep_columns(r, add_row(t, &none, r));
}

static int add_rows(struct snap_groups *t, const struct cli *cli, struct report *r)
{
	bool usual = t->snap->order && !strcmp(t->snap->order, SNAP_ORDER_USUAL);
	size_t top = table_rows(cli), shown = usual && top && top < t->n ? top : t->n, i;
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

int snap_rows__report(struct snap *s, struct measurement *m, struct report *r)
{
	const struct snap_thread *thread;
	struct snap_groups groups;
	size_t at = 0;
	u32 index;
	int err = 0;

	snap_groups__begin(&groups, s, m, s->each ? BY_TID : m->cli->by);
	r->table = true;
	while (!err && (thread = snap_pass__next(&s->pass, &at))) {
		r->events++;
		err = snap_groups__add(&groups, thread, &index);
	}
	if (!err)
		err = add_rows(&groups, m->cli, r);
	snap_groups__free(&groups);
	return err;
}
