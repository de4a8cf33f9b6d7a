// SPDX-License-Identifier: BSD-2-Clause
#include "locks/lock_waits.h"

#include <errno.h>

#include "agg/variable.h"
#include "base/clock.h"
#include "report/diag.h"
#include "run/tabulate.h"

/*
 * --- options -----------------------------------------------------------------------------------
 */

const struct option_row lock_wait_rows[] = {
	HEADING("Shown:", 1),
	{ "min", 0, "TIME", ROW_TIME, "Only waits of at least this long", 1, FIELD(struct lock_waits, min_ns) },
	{ "stacks", 'g', NULL, ROW_FLAG, "Time by the waiter's stack", 1,
	  FIELD(struct lock_waits, with_stacks) },
	INCLUDE(struct lock_waits, options, stack_option_rows),
	{},
};

static int check_keys(struct lock_waits *w, struct cli *cli)
{
	char bad[64];
	u32 asked = 0;

	if (cli->by_text && task_key__parse(cli->by_text, &w->parts, &asked, bad, sizeof(bad))) {
		diag_error("--by: unknown key '%s'; expected one of %s, %s", bad, task_key_parts(),
			   w->parts.text);
		return -EINVAL;
	}
	cli->by |= asked;
	if (!cli->by)
		cli->by = w->by;
	if (!(cli->by & w->marking))
		cli->by |= w->mark;
	return 0;
}

int lock_waits__check(struct lock_waits *w, struct cli *cli)
{
	if (!w->with_stacks && stack_options__check_none(&w->options, cli))
		return -EINVAL;
	if (w->with_stacks && (cli->form || cli->sort >= 0)) {
		diag_error("-g cannot be combined with --hist, --table or --sort");
		return -EINVAL;
	}
	return w->with_stacks ? stack_options__check(&w->options, &w->stacks, cli, 0) :
				check_keys(w, cli);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int prepare_stacks(struct lock_waits *w, struct measurement *m)
{
	u32 take = stack_options__take(&w->options, &w->stacks);
	int err = object_set(m->obj, "with_stacks", (bool)true);

	w->stacks.event = w->event;
	w->stacks.at_tracepoints = true;
	if (!err)
		err = object_set(m->obj, "take", take);
	return err ?: stacks__prepare(&w->stacks, m, m->obj, "counts", m->cli->asked_keys);
}

int lock_waits__prepare(struct lock_waits *w, struct measurement *m, size_t key_size)
{
	int err = object_set(m->obj, "min_ns", w->min_ns);

	if (err)
		return err;
	if (w->with_stacks)
		return prepare_stacks(w, m);
	w->sees_processes = m->cli->by & w->of_memory;
	/* No stacks are taken, but the programs report processes in the same way. */
	if (w->sees_processes)
		err = stacks__set_depth(&w->stacks, 0) ?:
		      stacks__prepare(&w->stacks, m, m->obj, NULL, 1);
	else
		err = stacks__leave_out(m->obj);
	return err ?: measure__prepare(&m->measure, m, m->obj, "waits", key_size);
}

static int watch(struct measurement *m)
{
	struct lock_waits *w = m->own;

	return stacks__watch(&w->stacks);
}

int lock_waits__begin(struct lock_waits *w, struct measurement *m)
{
	int err = w->with_stacks ? 0 : measure__begin(&m->measure, m, "waits");

	if (err || !(w->with_stacks || w->sees_processes))
		return err;
	m->watch = watch;
	return stacks__begin(&w->stacks, m);
}

void lock_waits__end(struct lock_waits *w, const struct measurement *m)
{
	volatile u64 *ended_ns = object_variable(m->obj, ".bss", "ended_ns");

	if (w->ended || !m->writer->is_last)
		return;
	w->ended = true;
	*ended_ns = measurement__until(m);
	if (tasks__visit(bpf_object__find_program_by_name(m->obj, "show_waiting")))
		diag_detail("no task iterator: waits in progress at the end are not in the report");
}

static int report_stacks(struct lock_waits *w, struct measurement *m, struct report *r, u64 waits)
{
	bool table = w->options.table;
	int err = stacks__report(&w->stacks, m, r, table ? 0 : m->cli->top);

	if (err)
		return err;
	r->events = waits - w->waits_before;
	w->waits_before = waits;
	r->stacks->unit = "ns";
	r->stacks->type = "lock-wait";
	return table ? stacks__tabulate(r, w->options.leaf, m->cli->top, false) : 0;
}

int lock_waits__report(struct lock_waits *w, struct measurement *m, struct report *r, u64 waits,
		       const char *share)
{
	const struct tabulation t = { .share = share };

	int err = w->sees_processes ? stacks__watch(&w->stacks) : 0;

	if (err)
		return err;
	if (w->with_stacks)
		return report_stacks(w, m, r, waits);
	return measure__tabulate(&m->measure, m, r, &t);
}

void lock_waits__free(struct lock_waits *w)
{
	stacks__free(&w->stacks);
}
