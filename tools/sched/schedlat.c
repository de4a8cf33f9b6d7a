// SPDX-License-Identifier: BSD-2-Clause
/* schedlat: run time and waits of each task. The measurement is bpf/sched/schedlat.bpf.c. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "host/task_state.h"
#include "report/column.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/sum_table.h"
#include "sched/waits.h"
#include "tools.h"

#include "bpf/sched/schedlat.h"
#include "schedlat.skel.h"

SKELETON(schedlat);

#define TOTALS_SOURCE \
	"the kernel's totals of each task (sum_exec_runtime, sched_info), at the start, at reports and at exits"
#define TOTALS_CAVEAT \
	"most waits are some us too short, down to 0 (tally help accuracy); without --totals they are measured"

struct schedlat {
	int source;             /* enum wait_source or WAIT_SOURCE_AUTO */
	bool totals;            /* --totals: no program runs at switches (bpf/sched/totals.bpf.h) */
	struct schedlat_bpf *bpf;
};

/*
 * --- the report --------------------------------------------------------------------------------
 */

#define OF(member) SUM(struct schedlat_sums, member)

static const struct column columns[] = {
	COUNTER("runtime", OF(run_ns), FIELD_TIME),
	COUNTER("switches", OF(switches), FIELD_NUMBER),
	COUNTER("wait", OF(wait_ns), FIELD_TIME),
	MEAN("avg", "wait", "switches", FIELD_TIME),
	TIMED_MAXIMUM("max", struct schedlat_sums, longest, FIELD_TIME),
	AT("max_at", "max"),
	AT_NS("max_at_ns", "max"),
	{},
};

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct schedlat_key), .value_size = sizeof(struct schedlat_sums),
		.writer_at = offsetof(struct schedlat_key, writer),
		.nsums = offsetof(struct schedlat_sums, longest) / sizeof(u64), .nmaxima = 1, .named = true,
		.timed = true, .measured = OF(switches),
	},
	.task_at = offsetof(struct schedlat_key, task), .of_cpus = true, .total = true,
	.events = OF(switches),
};

/* At the end of the run the gate is closed, and losses count only while it is open. */
static int read_totals(struct measurement *m)
{
	struct schedlat *s = m->own;
	u32 armed = *m->armed;
	int err;

	*m->armed = 1;
	err = tasks__visit(s->bpf->progs.visit_totals);
	*m->armed = armed;
	return err;
}

static int report(struct measurement *m, struct report *r)
{
	struct schedlat *s = m->own;
	int err = 0;

	if (s->totals) {
		r->source = TOTALS_SOURCE;
		r->caveat = TOTALS_CAVEAT;
	} else {
		waits__describe(s->source, r);
	}
	if (s->totals && s->bpf->bss->counting)
		err = read_totals(m);
	return err ?: sum_table__report(m, NULL, r);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

/* Loads either the programs of --totals or those at switches, for which waits.c chooses the source. */
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
	err = sum_table__prepare(m);
	err = err ?: task_state__prepare(m->obj, s->totals ? "totals_states" : "slice_states", &m->run->host);
	return err ?: task_state__leave_out(m->obj, s->totals ? "slice_states" : "totals_states");
}

/* -ENOTSUP: this kernel lacks support, so switches are traced instead. */
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
	diag_detail("cannot load --totals (%s): tracing switches instead", strerror(-err));
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
 * If the CPU is a key or in the scope, current slices are left out: an iterator runs on any CPU, so
 * it does not know the CPU of a slice.
 */
static void prepare_running(struct schedlat *s, struct measurement *m)
{
	if (s->totals || m->cli->scope.cpus || m->cli->by & BY_CPU)
		return;
	m->table.running = bpf_program__attach_iter(s->bpf->progs.show_running, NULL);
	if (!m->table.running)
		diag_detail("no task iterator: slices are counted only when they end");
}

static int attach(struct measurement *m)
{
	struct schedlat *s = m->own;
	int err = measurement__attach(m);

	if (err)
		return err;
	prepare_running(s, m);
	m->table.began_ns = monotonic_ns();
	return 0;
}

/* Totals are counted from this time on. */
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

/* If a visit fails, it is tried again at the report. */
static void disarm(struct measurement *m)
{
	struct schedlat *s = m->own;

	if (s->totals && s->bpf->bss->counting && !read_totals(m))
		s->bpf->bss->counting = false;
}

static int check(void *context, struct cli *cli)
{
	struct schedlat *s = context;

	if (!cli->by)
		cli->by = BY_TID;
	if (s->totals && (cli->by & BY_CPU || cli->scope.cpus)) {
		diag_error("--totals cannot be combined with -C or --by cpu: the kernel keeps no totals per CPU");
		return -EINVAL;
	}
	if (s->totals && s->source != WAIT_SOURCE_AUTO) {
		diag_error("--totals and --source cannot be combined");
		return -EINVAL;
	}
	return 0;
}

static void init(void *own)
{
	struct schedlat *s = own;

	*s = (struct schedlat){ .source = WAIT_SOURCE_AUTO };
}

static const struct option_row rows[] = {
	{ "totals", 0, NULL, ROW_FLAG,
	  "Read the kernel's totals of each task instead of tracing switches: free, but without the longest wait", 1,
	  FIELD(struct schedlat, totals) },
	INCLUDE(struct schedlat, source, wait_source_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "schedlat",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_ORDER,
		.doc = "CPU time of each task: run time, switches, and waits for a CPU.",
		.rows = rows, .columns = columns, .order = "avg",
	},
	.own_size = sizeof(struct schedlat), .skeleton = &schedlat_skeleton, .table = &table,
	.value = "run time and waits for a CPU", .metric = "wait",
	.init = init, .check = check, .load = load, .attach = attach, .arm = arm, .disarm = disarm,
	.report = report,
};

TOOL_MEASURING(schedlat, spec, AREA_SCHEDULER,
	       "run time, switches and waits for a CPU, task by task");
