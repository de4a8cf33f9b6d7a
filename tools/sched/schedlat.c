// SPDX-License-Identifier: BSD-2-Clause
/* schedlat: run time and waits of each task. The measurement is bpf/sched/schedlat.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agg/latency_set.h"
#include "agg/loss.h"
#include "base/clock.h"
#include "cli/key_view.h"
#include "cli/order.h"
#include "cli/task_key.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/map_room.h"
#include "sched/waits.h"
#include "tools.h"

#include "bpf/lib/schedlat.h"
#include "schedlat.skel.h"

SKELETON(schedlat);

/* Keys of our own options; those of user/cli are below. */

#define TOTALS_SOURCE \
	"the kernel's totals of each task (sum_exec_runtime, sched_info), at the begin, at reports and at exits"
#define TOTALS_CAVEAT \
	"most waits read some us too short, down to 0 (tally help accuracy); without --totals they are measured"

struct schedlat {
	int source;             /* enum wait_source or WAIT_SOURCE_AUTO */
	bool totals;            /* --totals: no program at switches (bpf/sched/totals.bpf.h) */
	const char *order;      /* name of a column; NULL: by key */
	struct schedlat_bpf *bpf;
	struct bpf_link *running;
	u64 began_ns;           /* CLOCK_MONOTONIC */
	struct latency_set before;
	struct loss_counters losses_before;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static const char *const orders[] = { "runtime", "switches", "wait", "avg", "max" };

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* Adds the current slices, after the totals: see read_totals(). */
static int add_running(struct schedlat *s, struct latency_set *set)
{
	int fd = bpf_iter_create(bpf_link__fd(s->running)), err;

	if (fd < 0)
		return fd;
	err = latency_set__read_running(set, fd);
	close(fd);
	return err;
}

/*
 * Reads totals first, then current slices: a task that is switched out in between lacks one slice
 * until the next report, but never has one twice. *ended: the totals alone.
 */
static int read_totals(struct schedlat *s, struct latency_set *set, struct latency_set *ended,
		       bool *anew)
{
	u64 interval = s->bpf->data->interval;
	int err;

	*set = *ended = (struct latency_set){};
	if (s->totals && s->bpf->bss->counting) {
		err = tasks__visit(s->bpf->progs.visit_totals);
		if (err)
			return err;
	}
	s->bpf->data->interval = interval + 1;
	err = latency_set__read(ended, bpf_map__fd(s->bpf->maps.tasks), interval,
				&s->bpf->bss->writer_generation, anew);
	latency_set__settle(ended);
	if (!err)
		err = latency_set__copy(set, ended);
	if (!err && s->running)
		err = add_running(s, set);
	latency_set__settle(set);
	return err;
}

/*
 * The base of the next report. If the totals have been removed from the kernel, it is what the
 * report showed beyond them: of slices in progress, or of those that ended during the reading.
 */
static int replace_before(struct schedlat *s, struct latency_set *now,
			  const struct latency_set *ended, bool anew)
{
	struct latency_set left;
	int err;

	latency_set__free(&s->before);
	if (!anew) {
		s->before = *now;
		*now = (struct latency_set){};
		return 0;
	}
	err = latency_set__difference(&left, now, ended);
	if (!err)
		s->before = left;
	return err;
}

static int read_interval(struct schedlat *s, struct latency_set *set, struct loss_counters *losses)
{
	struct latency_set now = {}, ended = {};
	bool anew;
	int err;

	err = loss__since(losses, &s->losses_before, bpf_map__fd(s->bpf->maps.losses),
			  s->bpf->obj);
	if (!err)
		err = read_totals(s, &now, &ended, &anew);
	if (!err)
		err = latency_set__difference(set, &now, &s->before);
	if (!err)
		err = replace_before(s, &now, &ended, anew);
	latency_set__free(&now);
	latency_set__free(&ended);
	return err;
}

/* When the longest wait ended: time of day in text output, ns since the start for programs. */
static int add_when(struct report_row *row, const struct schedlat *s, const struct latency *l)
{
	u64 real = realtime_ns() - (monotonic_ns() - l->longest_at_ns);
	time_t seconds = real / NSEC_PER_SEC;
	char text[32], whole[48];
	struct tm tm;
	struct field at = { .name = "max_at_ns", .kind = FIELD_NONE, .machine = true, .role = ROLE_AT, .of = "max" };
	const char *when = NULL;
	int err;

	if (l->has_longest && localtime_r(&seconds, &tm)) {
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
		snprintf(whole, sizeof(whole), "%s.%03llu", text,
			 real % NSEC_PER_SEC / NSEC_PER_MSEC);
		when = whole;
		at.number = l->longest_at_ns - s->began_ns;
		at.kind = FIELD_NUMBER;
	}
	err = report_row__add_text(row, "max_at", when);
	if (err)
		return err;
	row->cell[row->ncells - 1].spare = true;
	row->cell[row->ncells - 1].role = ROLE_AT;
	row->cell[row->ncells - 1].of = "max";
	return report_row__add_field(row, &at);
}

static int add_figures(struct report_row *row, const struct schedlat *s, const struct latency *l)
{
	u64 average = l->switches ? l->wait_ns / l->switches : 0;
	const struct field figures[] = {
		{ .name = "runtime", .number = l->run_ns, .kind = FIELD_TIME, .role = ROLE_COUNTER },
		{ .name = "switches", .number = l->switches, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "wait", .number = l->wait_ns, .kind = FIELD_TIME, .role = ROLE_COUNTER },
		{ .name = "avg", .number = average, .kind = l->switches ? FIELD_TIME : FIELD_NONE,
		  .role = ROLE_MEAN, .of = "wait", .per = "switches" },
		{ .name = "max", .number = l->longest_ns, .role = ROLE_MAXIMUM,
		  .kind = l->has_longest ? FIELD_TIME : FIELD_NONE },
	};
	int err = report_row__add_fields(row, figures, ARRAY_SIZE(figures));

	return err ?: add_when(row, s, l);
}

/* For text output; programs can add up rows, and would have to skip this one. */
static int add_total(struct report *r, const struct schedlat *s, const struct latency *total,
		     size_t nkeys)
{
	struct report_row row = { .is_total = true };
	int err = 0;
	size_t i;

	for (i = 0; i < nkeys && !err; i++)
		err = report_row__add_text(&row, r->row[0].cell[i].name, i ? NULL : "total");
	if (!err)
		err = add_figures(&row, s, total);
	return report__end_row(r, &row, err);
}

static void add_to_total(struct latency *total, const struct latency *l)
{
	total->run_ns += l->run_ns;
	total->switches += l->switches;
	total->wait_ns += l->wait_ns;
	if (l->has_longest && (!total->has_longest || l->longest_ns > total->longest_ns)) {
		total->has_longest = true;
		total->longest_ns = l->longest_ns;
		total->longest_at_ns = l->longest_at_ns;
	}
}

static int add_cells(struct report_row *row, const struct schedlat *s, const struct latency *l, u32 by,
		     struct task_key_names *names, size_t *nkeys)
{
	int err = task_key__add_fields(row, &l->key, l->name, by, names);

	*nkeys = row->ncells;
	return err ?: add_figures(row, s, l);
}

static int fill_rows(struct schedlat *s, struct measurement *m, struct report *r,
		     struct latency_set *set)
{
	struct task_key_names names = { .cgroups = m->cgroups };
	const struct key_view view = { m->cli->by, &names, 0 };
	static const struct latency none;
	struct report_row columns = {};
	struct latency total = {};
	size_t i, nkeys = 0;
	int err = 0;

	key_view__latency_set(&view, set);
	for (i = 0; i < set->n && !err; i++) {
		const struct latency *l = &set->latency[i];
		struct report_row row = {};

		err = add_cells(&row, s, l, m->cli->by, &names, &nkeys);
		err = report__end_row(r, &row, err);
		add_to_total(&total, l);
	}
	if (!err && !r->nrows)
		err = report__end_columns(r, &columns, add_cells(&columns, s, &none, m->cli->by, &names, &nkeys));
	task_key_names__free(&names);
	r->events = total.switches;
	report__sort_rows(r, s->order, nkeys, m->cli->top);
	if (!err && r->nrows && m->cli->format == FORMAT_TEXT)
		err = add_total(r, s, &total, nkeys);
	return err;
}

static int report(struct measurement *m, struct report *r)
{
	struct schedlat *s = m->own;
	struct latency_set set;
	int err;

	r->value = "run time and waits for a CPU";
	r->metric = "wait";
	r->table = true;
	if (s->totals) {
		r->source = TOTALS_SOURCE;
		r->caveat = TOTALS_CAVEAT;
	} else {
		waits__describe(s->source, r);
	}
	err = read_interval(s, &set, &r->counters);
	if (err)
		return err;
	r->has_events = true;
	err = fill_rows(s, m, r, &set);
	latency_set__free(&set);
	return err;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

/* Loads the programs of totals, or those at switches; waits.c chooses between its sources. */
static void choose_programs(struct schedlat *s, const struct host *host)
{
	bool dozing = s->totals && host->version >= KERNEL_VERSION(6, 12, 0);
	struct schedlat_bpf *bpf = s->bpf;

	bpf_program__set_autoload(bpf->progs.visit_totals, s->totals);
	bpf_program__set_autoload(bpf->progs.on_exit_totals, s->totals);
	bpf_program__set_autoload(bpf->progs.on_free_totals, s->totals);
	bpf_program__set_autoload(bpf->progs.on_migrate_totals, dozing);
	bpf_program__set_autoload(bpf->progs.on_wakeup_totals, dozing);
	bpf_program__set_autoload(bpf->progs.on_switch_run, !s->totals);
	bpf_program__set_autoload(bpf->progs.seed_slices, !s->totals);
	bpf_program__set_autoload(bpf->progs.show_running, !s->totals);
	bpf_program__set_autoload(bpf->progs.seed_states, !s->totals);
}

static int configure(struct measurement *m, enum wait_source source)
{
	struct schedlat_bpf *bpf = m->bpf;
	struct schedlat *s = m->own;
	int err;

	(void)source;
	s->bpf = bpf;
	choose_programs(s, &m->run->host);
	err = map__set_room_for_writers(bpf->maps.tasks, &m->run->host, m->cli->max_keys);
	err = err ?: task_state__prepare(m->obj, s->totals ? "totals_states" : "slice_states", &m->run->host);
	return err ?: task_state__leave_out(m->obj, s->totals ? "slice_states" : "totals_states");
}

/* -ENOTSUP: this kernel cannot, and switches are looked at instead. */
static int load_totals(struct measurement *m)
{
	struct schedlat *s = m->own;
	int err = -ENOTSUP;

	if (!waits__has_accounting())
		diag_detail("--totals: this kernel keeps no run-queue accounting (CONFIG_SCHED_INFO)");
	else
		err = waits__load_without(m, configure);
	if (!err) {
		m->source = TOTALS_SOURCE;
		return 0;
	}
	if (err == -EMFILE)
		return measurement__complain(m, "load", err);
	diag_detail("--totals cannot be loaded (%s): switches are looked at instead", strerror(-err));
	s->totals = false;
	return -ENOTSUP;
}

static int load(struct measurement *m)
{
	struct schedlat *s = m->own;
	int err = s->totals ? load_totals(m) : -ENOTSUP;

	return err == -ENOTSUP ? waits__load(m, &s->source, configure) : err;
}

/*
 * Where the CPU matters, current slices are left out: an iterator runs on any CPU, so it cannot
 * tell the CPU of a slice.
 */
static void prepare_running(struct schedlat *s, const struct measurement *m)
{
	if (s->totals || m->cli->scope.cpus || m->cli->by & BY_CPU)
		return;
	s->running = bpf_program__attach_iter(s->bpf->progs.show_running, NULL);
	if (!s->running)
		diag_detail("no task iterator: slices count when they end");
}

static int attach(struct measurement *m)
{
	struct schedlat *s = m->own;
	int err = measurement__attach(m);

	if (err)
		return err;
	prepare_running(s, m);
	s->began_ns = monotonic_ns();
	return 0;
}

/* Totals count from here on. */
static int arm(struct measurement *m)
{
	struct schedlat *s = m->own;
	int err = s->totals ? tasks__visit(s->bpf->progs.visit_totals) : 0;

	if (err)
		return err;
	s->bpf->bss->counting = s->totals;
	*m->armed = 1;
	return 0;
}

/* A visit that fails is tried again at the report. */
static void disarm(struct measurement *m)
{
	struct schedlat *s = m->own;

	if (s->totals && s->bpf->bss->counting && !tasks__visit(s->bpf->progs.visit_totals))
		s->bpf->bss->counting = false;
}

static int check(void *context, struct cli *cli)
{
	struct schedlat *s = context;

	if (!cli->by)
		cli->by = BY_TID;
	if (s->totals && (cli->by & BY_CPU || cli->scope.cpus)) {
		diag_error("--totals: the kernel does not keep a task's totals by CPU, for -C and --by cpu");
		return -EINVAL;
	}
	if (s->totals && s->source != WAIT_SOURCE_AUTO) {
		diag_error("--totals is a source of its own: leave --source out");
		return -EINVAL;
	}
	return 0;
}

static void init(void *own)
{
	struct schedlat *s = own;

	*s = (struct schedlat){ .source = WAIT_SOURCE_AUTO, .order = "avg" };
}

static void release(void *own)
{
	struct schedlat *s = own;

	bpf_link__destroy(s->running);
	latency_set__free(&s->before);
}

static const struct option_row rows[] = {
	{ "sort", 0, "COL", ROW_ORDER, "Order by runtime, switches, wait, avg (default), max or key", HELP_GROUPING,
	  FIELD(struct schedlat, order), WORDS(orders) },
	{ "totals", 0, NULL, ROW_FLAG,
	  "Read the kernel's totals of each task instead of looking at each switch: no cost, no longest wait", 1,
	  FIELD(struct schedlat, totals) },
	INCLUDE(struct schedlat, source, wait_source_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "schedlat",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND,
		.doc = "What each task had of the CPUs: run time, switches, and waits for a CPU.",
		.rows = rows,
	},
	.own_size = sizeof(struct schedlat), .skeleton = &schedlat_skeleton,
	.init = init, .check = check, .load = load, .attach = attach, .arm = arm, .disarm = disarm,
	.report = report, .free = release,
};

TOOL_MEASURING(schedlat, spec, AREA_SCHEDULER,
	       "run time, switches and waits for a CPU, task by task");
