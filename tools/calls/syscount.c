// SPDX-License-Identifier: BSD-2-Clause
/* syscount: system calls, their errors and their times. See bpf/calls/syscount.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "calls/counts.h"
#include "host/errno_name.h"
#include "host/syscall_set.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/map_room.h"
#include "run/measure.h"
#include "calls/syscount/rows.h"
#include "calls/syscount/snapshot.h"
#include "calls/syscount/traits.h"
#include "tools.h"

#include "syscount.skel.h"

SKELETON(syscount);

struct syscount {
	struct syscall_set wanted;
	bool chosen;            /* calls were chosen by -e; otherwise all are counted */
	struct call_columns columns;
	bool hist;
	bool failed;
	bool sliced;            /* --slices */
	int only_errno;         /* 0: any */
	const char *order;      /* a column; NULL: the default */
	struct syscount_bpf *bpf;
	struct measure measure; /* for times */
	struct call_snapshot last;      /* for counts */
	struct calls before;
	struct bpf_link *running;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

/* Several -e add up. */
static int parse_calls(void *own, char *text)
{
	struct syscount *s = own;
	struct complaint c = {};
	struct syscall_set set;

	if (syscall_set__parse(&set, text, &c)) {
		diag_complaint("-e", text, &c);
		return -EINVAL;
	}
	syscall_set__add(&s->wanted, &set);
	s->chosen = true;
	return 0;
}

static int parse_order(void *own, char *text)
{
	struct syscount *s = own;
	bool is_time = false;

	s->order = call_order(text, &is_time);
	s->columns.times |= is_time;
	if (s->order)
		return 0;
	diag_error("--sort: unknown column '%s'; expected one of %s", text, call_orders);
	return -EINVAL;
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* Returned calls must be read before those in progress: see calls__add_up(). */
static int read_times(struct measurement *m, struct calls *set, struct loss_counters *losses)
{
	struct hist_set times;
	const struct syscount *s = m->own;
	int err = measure__difference(&m->measure, &times, losses);

	if (err)
		return err;
	err = calls__add_times(set, &times);
	hist_set__free(&times);
	return err || !s->running ? err : call_snapshot__add_running(set, s->running);
}

static const char *source_text(const struct syscount *s)
{
	return s->columns.times ? "tp_btf/sys_enter, tp_btf/sys_exit" : "tp_btf/sys_exit";
}

static int report(struct measurement *m, struct report *r)
{
	struct calls set = { .tell_errors = m->cli->by & BY_ERRNO };
	struct syscount *s = m->own;
	const struct bpf_map *counted;
	double scale;
	int err;

	r->metric = "call";
	r->value = s->hist ? "time in system calls" : "system calls that returned";
	r->unit = s->hist ? UNIT_NS : UNIT_COUNT;
	r->source = source_text(s);
	if (s->hist)
		return measure__report(&m->measure, m, r);
	r->table = true;
	r->has_events = true;
	scale = measurement__scale(m, r);
	counted = m->cli->by == BY_SYSCALL ? s->bpf->maps.counts : s->bpf->maps.keyed_counts;
	err = s->columns.times ? read_times(m, &set, &r->counters)
			       : call_snapshot__difference(&s->last, s->bpf->obj, counted, &set,
							   &r->counters);
	if (!err)
		err = calls__add_up(&set, &s->before);
	if (scale != 1)
		calls__scale(&set, scale);
	if (!err)
		err = calls__report(r, &set, &s->columns, s->order, m);
	calls__free(&set);
	return err;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

/* Histograms need keys that contain a task. */
static bool only_calls(const struct syscount *s, const struct measurement *m)
{
	return m->cli->by == BY_SYSCALL && !s->hist;
}

static const char *times_map(const struct syscount *s, const struct measurement *m)
{
	return only_calls(s, m) ? "call_times" : "times";
}

static int choose_programs(struct syscount *s)
{
	struct syscount_bpf *bpf = s->bpf;
	struct bpf_program *const of_times[] = {
		bpf->progs.time_enter, bpf->progs.time_exit, bpf->progs.seed_calls,
		bpf->progs.show_running,
	};
	int err = bpf_program__set_autoload(bpf->progs.count_exit, !s->columns.times);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_times) && !err; i++)
		err = bpf_program__set_autoload(of_times[i], s->columns.times);
	return err;
}

static int prepare_times(struct syscount *s, struct measurement *m)
{
	struct syscount_bpf *bpf = s->bpf;
	int err;

	bpf->rodata->only_calls = only_calls(s, m);
	err = measure__prepare(&m->measure, m, bpf->obj, times_map(s, m),
			       only_calls(s, m) ? sizeof(struct syscount_call_key)
						  : sizeof(struct syscount_time_key));
	if (!err)
		err = task_state__prepare(bpf->obj, "call_states", &m->run->host);
	if (!err)
		err = bpf_map__set_max_entries(bpf->maps.counts, 1);
	return err;
}

static int prepare_counts(struct syscount *s, struct measurement *m)
{
	struct syscount_bpf *bpf = s->bpf;
	int err = 0;

	err = bpf_map__set_key_size(bpf->maps.keyed_counts,
				    offsetof(struct syscount_key, task) + task_key__size(m->cli->by));
	if (!err)
		err = m->cli->by == BY_SYSCALL ?
			map__set_room_for_keys(bpf->maps.keyed_counts, &m->run->host, 1) :
			map__set_room_for_writers(bpf->maps.keyed_counts, &m->run->host, m->cli->max_keys);
	if (!err)
		err = bpf_map__set_autocreate(bpf->maps.call_states, false);
	if (!err)
		err = bpf_map__set_autocreate(bpf->maps.call_states_hash, false);
	if (!err)
		err = bpf_program__set_autoload(bpf->progs.call_states_hash_on_free, false);
	return err;
}

static int open_skeleton(struct measurement *m)
{
	struct syscount_bpf *bpf = m->bpf;
	struct syscount *s = m->own;
	int err;

	s->bpf = bpf;
	m->source = source_text(s);
	bpf->rodata->only_failed = s->failed;
	bpf->rodata->only_errno = s->only_errno;
	bpf->rodata->tell_failed = !s->hist;
	calls__describe(&s->wanted, (u8 *)bpf->rodata->traits, (u32 *)bpf->rodata->sigreturn);
	err = choose_programs(s);
	if (!err)
		err = s->columns.times ? prepare_times(s, m) : prepare_counts(s, m);
	return err;
}

/*
 * Calls in progress, for tables. They are left out if their key is not known before they return: by
 * CPU, or by result.
 */
static void prepare_running(struct syscount *s, const struct measurement *m)
{
	if (s->hist || s->failed || s->only_errno || m->cli->scope.cpus ||
	    m->cli->by & (BY_CPU | BY_ERRNO))
		return;
	s->running = bpf_program__attach_iter(s->bpf->progs.show_running, NULL);
	s->columns.running = s->running;
	if (!s->running)
		diag_detail("no task iterator: calls are counted only when they end");
}

static int attach(struct measurement *m)
{
	struct syscount *s = m->own;
	int err;

	if (s->sliced)
		m->sliced = (struct sliced){ .program = { s->bpf->progs.count_exit }, .n = 1, .at_calls = true };
	if (!s->columns.times)
		return measurement__attach(m);
	err = measure__begin(&m->measure, m, times_map(s, m));
	if (!err)
		err = measurement__attach_programs(m);
	if (!err)
		prepare_running(s, m);
	return err;
}

/* Fills in defaults; histograms have their own columns. */
static int check(void *context, struct cli *cli)
{
	struct syscount *s = context;

	if (!s->chosen)
		syscall_set__all(&s->wanted);
	if (!cli->by)
		cli->by = BY_SYSCALL;
	cli->scope.command_joins_at_exec = true;
	s->columns.one_unit = cli->milliseconds;
	if (cli->heat)
		s->hist = s->columns.times = true;
	if (s->sliced && s->columns.times) {
		diag_error("--slices counts calls and cannot measure their times");
		return -EINVAL;
	}
	if (!s->hist || !s->order)
		return 0;
	cli->sort = report_sort_column(!strcmp(s->order, "calls") ? "count" :
				       !strcmp(s->order, "time")  ? "sum" :
								    s->order);
	if (cli->sort >= 0)
		return 0;
	diag_error("--sort: histograms have no column '%s'", s->order);
	return -EINVAL;
}

static void release(void *own)
{
	struct syscount *s = own;

	bpf_link__destroy(s->running);
	call_snapshot__free(&s->last);
	calls__free(&s->before);
}

static const struct option_row rows[] = {
	HEADING("Calls:", 1),
	{ NULL, 'e', "SET", ROW_OWN,
	  "Only these calls: names, globs, classes like %file, separated by commas; ! in front: all but these", 1,
	  .parse = parse_calls, .adds = true, .complete = complete_syscalls, .separators = SYSCALL_SEPARATORS },
	{ "failed", 0, NULL, ROW_FLAG, "Only failures", 1, FIELD(struct syscount, failed) },
	{ "errno", 0, "NAME", ROW_ERRNO, "Only calls that fail with this error: ENOENT, or a number", 1,
	  FIELD(struct syscount, only_errno), .complete = complete_errors },
	{ "latency", 0, NULL, ROW_FLAG, "Also the time spent in calls, including unfinished calls", 1,
	  FIELD(struct syscount, columns.times) },
	{ "hist", 0, NULL, ROW_FLAG, "One histogram of call times per key", 1,
	  FIELD(struct syscount, hist), ALSO(struct syscount, columns.times) },
	{ "slices", 0, NULL, ROW_FLAG, "If there are many calls, measure 100 ms of each second, and estimate", 1,
	  FIELD(struct syscount, sliced) },
	{ "sort", 0, "COL", ROW_OWN,
	  "Order by calls, errors, time, avg, p50, p99, max, running, longest or key", HELP_GROUPING,
	  .parse = parse_order, .complete = call_orders__complete },
	{},
};

static const struct tool_spec spec = {
	.name = "syscount",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_TIMES | CLI_HEAT,
		.doc = "Counts system calls and failures, and measures how long calls take.",
		.rows = rows,
		.own_parts = &call_parts,
	},
	.own_size = sizeof(struct syscount), .skeleton = &syscount_skeleton,
	.check = check, .open = open_skeleton, .attach = attach, .report = report,
	.free = release,
};

TOOL_MEASURING(syscount, spec, AREA_CALLS,
	       "system calls: how many, which fail, how long they take");
