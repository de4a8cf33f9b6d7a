// SPDX-License-Identifier: BSD-2-Clause
#include "sched/replay_table.h"

/* The two halves of a row: recorded and replayed figures. */
struct pair {
	struct replayed was, is;
};

static struct pair pair_of(const struct schedule *s, const struct replayed *replayed, size_t i)
{
	const struct schedule_task *task = &s->task[i];

	return (struct pair){
		.was = {
			.run_ns = task->run_ns, .switches = task->switches,
			.wakeups = replay__wakeups(s, i), .end_ns = task->end_ns,
		},
		.is = replayed[i],
	};
}

static void add_up(struct replayed *sum, const struct replayed *r)
{
	sum->run_ns += r->run_ns;
	sum->switches += r->switches;
	sum->wakeups += r->wakeups;
	if (r->end_ns > sum->end_ns)
		sum->end_ns = r->end_ns;
}

static int add_figures(struct report_row *row, const struct pair *p)
{
	const struct field figures[] = {
		{ .name = "run", .number = p->was.run_ns, .kind = FIELD_TIME },
		{ .name = "replayed_run", .number = p->is.run_ns, .kind = FIELD_TIME },
		{ .name = "switches", .number = p->was.switches, .kind = FIELD_NUMBER },
		{ .name = "replayed_switches", .number = p->is.switches, .kind = FIELD_NUMBER },
		{ .name = "wakeups", .number = p->was.wakeups, .kind = FIELD_NUMBER },
		{ .name = "replayed_wakeups", .number = p->is.wakeups, .kind = FIELD_NUMBER },
		{ .name = "end", .number = p->was.end_ns, .kind = FIELD_TIME },
		{ .name = "replayed_end", .number = p->is.end_ns, .kind = FIELD_TIME },
	};

	return report_row__add_fields(row, figures, ARRAY_SIZE(figures));
}

static int add_task(struct report *r, const struct task_totals *id, const struct pair *p)
{
	struct report_row row = {};
	int err = report_row__add_number(&row, "tid", id->tid, FIELD_ID);

	if (!err)
		err = report_row__add_number(&row, "pid", id->pid, FIELD_ID);
	if (!err)
		err = report_row__add_text(&row, "comm", id->comm);
	if (!err)
		err = add_figures(&row, p);
	return report__end_row(r, &row, err);
}

/* Only for text output: programs can add up the rows themselves, and would have to skip this one. */
static int add_total(struct report *r, const struct pair *total)
{
	struct report_row row = { .is_total = true };
	int err = report_row__add_text(&row, "tid", "total");

	if (!err)
		err = report_row__add_text(&row, "pid", NULL);
	if (!err)
		err = report_row__add_text(&row, "comm", NULL);
	if (!err)
		err = add_figures(&row, total);
	return report__end_row(r, &row, err);
}

int replay_table__fill(struct report *r, const struct schedule *s, const struct replayed *replayed,
		       const struct cli *cli)
{
	struct pair total = {}, p;
	int err = 0;
	size_t i;

	for (i = 0; i < s->ids.n && !err; i++) {
		if (s->task[i].left_out)
			continue;
		p = pair_of(s, replayed, i);
		add_up(&total.was, &p.was);
		add_up(&total.is, &p.is);
		err = add_task(r, &s->ids.task[i], &p);
	}
	report__sort_rows(r, "run", 1, cli->top);
	r->duration_ns = total.is.end_ns;
	r->events = total.is.wakeups;
	if (!err && cli->format == FORMAT_TEXT)
		err = add_total(r, &total);
	return err;
}
