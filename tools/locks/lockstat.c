// SPDX-License-Identifier: BSD-2-Clause
/* lockstat: waits for kernel locks. The measurement is bpf/locks/lockstat.bpf.c. */
#include <errno.h>
#include <string.h>

#include "host/host.h"
#include "types/kernel_btf.h"
#include "host/task_state.h"
#include "locks/lock_names.h"
#include "locks/lock_waits.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "tools.h"

#include "bpf/locks/lockstat.h"
#include "lockstat.skel.h"

SKELETON(lockstat);

#define SOURCE "tp_btf/contention_begin and contention_end (lock), by CLOCK_MONOTONIC"

struct lockstat {
	struct lock_waits waits;        /* first member: lock_waits__begin() casts m->own to it */
	struct lock_names names;
	struct lock_choice choice;
	const char *locks;              /* --lock */
	struct lockstat_bpf *bpf;
};

static int parse_types(void *own, char *arg)
{
	struct lockstat *l = own;

	return lock_choice__add_types(&l->choice, arg);
}

static const struct option_row rows[] = {
	{ "type", 0, "TYPE,..", ROW_OWN, "Only these types of locks, as mutex or 'rwsem:*'", 1,
	  .parse = parse_types },
	{ "lock", 0, "LOCK,..", ROW_TEXT, "Only these locks: variables, mmap_lock, siglock, rq_lock, addresses", 1,
	  FIELD(struct lockstat, locks) },
	INCLUDE(struct lockstat, waits, lock_wait_rows),
	{},
};

static int check(void *context, struct cli *cli)
{
	struct lockstat *l = context;

	return lock_waits__check(&l->waits, cli);
}

static int report(struct measurement *m, struct report *r)
{
	struct lockstat *l = m->own;

	r->value = "time waiting for kernel locks";
	r->metric = "wait";
	r->unit = UNIT_NS;
	r->source = SOURCE;
	lock_waits__end(&l->waits, m);
	return lock_waits__report(&l->waits, m, r, l->bpf->bss->waits_by_stack,
				  "waiting_percent");
}

static void find_texts(struct lockstat *l)
{
	struct lock_text lock = {}, sched = {};

	if (lock_texts__find(&lock, &sched))
		diag_detail("the kernel hides its addresses: callers cannot be found");
	l->bpf->rodata->lock_text = lock;
	l->bpf->rodata->sched_text = sched;
}

static bool needs_run_queues(const struct lockstat *l, const struct measurement *m)
{
	return m->cli->by & BY_LOCK || l->choice.places >> LOCK_RUN_QUEUE & 1;
}

static int configure(struct lockstat *l, struct measurement *m)
{
	int err = task_state__prepare(l->bpf->obj, "sleepers", &m->run->host);

	if (!err)
		err = lock_waits__prepare(&l->waits, m, sizeof(struct lock_key));
	if (err)
		return err;
	if (m->cli->by & BY_CALLER)
		find_texts(l);
	if (l->locks)
		err = lock_choice__add_locks(&l->choice, &l->names, l->locks);
	if (err)
		return err;
	l->bpf->rodata->types = l->choice.types;
	l->bpf->rodata->places = l->choice.places;
	l->bpf->rodata->nchosen = l->choice.n;
	memcpy((void *)l->bpf->rodata->chosen, l->choice.chosen, sizeof(l->choice.chosen));
	bpf_program__set_autoload(l->bpf->progs.find_run_queues, needs_run_queues(l, m));
	return 0;
}

static int open_skeleton(struct measurement *m)
{
	struct lockstat *l = m->own;

	if (kernel_btf_arguments("btf_trace_contention_begin") <= 0) {
		if (host__check_types())
			return -EOPNOTSUPP;
		diag_error("this kernel does not report lock waits: lock:contention_begin needs Linux 5.19");
		diag_hint("offcputime -K --state disk shows where tasks sleep, including lock waits");
		return -EOPNOTSUPP;
	}
	l->bpf = m->bpf;
	return configure(l, m);
}

static int attach(struct measurement *m)
{
	struct lockstat *l = m->own;
	int err = lock_waits__begin(&l->waits, m);

	if (err)
		return err;
	if (needs_run_queues(l, m) && tasks__visit(l->bpf->progs.find_run_queues))
		diag_detail("no task iterator: run queue locks have no name");
	return measurement__attach_programs(m);
}

static void init(void *own)
{
	struct lockstat *l = own;

	*l = (struct lockstat){
		.choice = { .types = ~0U },
		.waits = {
			.options = STACK_OPTIONS,
			.by = BY_TYPE | BY_CALLER,
			.marking = BY_LOCK | BY_TYPE | BY_CALLER | BY_END,
			.mark = BY_END,
			.event = lock_type_names,
			.parts = {
				.name = lock_part_names, .n = ARRAY_SIZE(lock_part_names),
				.text = LOCK_PARTS_TEXT, .add = lock_names__add,
				.context = &l->names,
			},
		},
	};
}

static const struct own_parts *parts(void *own)
{
	struct lockstat *l = own;

	return &l->waits.parts;
}

static void release(void *own)
{
	struct lockstat *l = own;

	lock_waits__free(&l->waits);
	lock_names__free(&l->names);
}

static const struct tool_spec spec = {
	.name = "lockstat",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_SORT | CLI_FORM | CLI_OUTPUT | CLI_LIVE |
			  CLI_RUN | CLI_COMMAND | CLI_TIMES,
		.usual_stacks = STACKS_ON_DEMAND,
		.doc = "How long tasks wait for kernel locks, by type and caller.",
		.rows = rows,
		.own_keys = true,
	},
	.own_size = sizeof(struct lockstat), .skeleton = &lockstat_skeleton,
	.init = init, .parts = parts, .check = check, .open = open_skeleton, .attach = attach,
	.report = report,
	.source = SOURCE, .free = release,
};

TOOL_MEASURING(lockstat, spec, AREA_LOCKS, "how long tasks wait for kernel locks");
