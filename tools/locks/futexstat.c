// SPDX-License-Identifier: BSD-2-Clause
/* futexstat: futex waits, and wakers. The measurement is bpf/locks/futexstat.bpf.c. */
#include <errno.h>
#include <sys/syscall.h>

#include "host/task_state.h"
#include "locks/futex_names.h"
#include "locks/lock_waits.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "tools.h"

#include "bpf/locks/futexstat.h"
#include "futexstat.skel.h"

SKELETON(futexstat);

#define SOURCE "tp_btf/sys_enter and sys_exit of the futex calls, by CLOCK_MONOTONIC"
#define WAITS_SOURCE "context switches, and the futex call that a task is in (tp_btf/sched_switch), by CLOCK_MONOTONIC"

struct futexstat {
	struct lock_waits waits;        /* first member: lock_waits__begin() casts m->own to it */
	bool of_wakes;
	bool sleeps;            /* --waits */
	struct futexstat_bpf *bpf;
};

static int check(void *context, struct cli *cli)
{
	struct futexstat *f = context;
	struct lock_waits *w = &f->waits;

	if (f->of_wakes && (w->with_stacks || w->min_ns)) {
		diag_error("--wakes counts woken tasks and cannot be combined with -g or --min");
		return -EINVAL;
	}
	if (f->of_wakes && f->sleeps) {
		diag_error("--waits and --wakes cannot be combined");
		return -EINVAL;
	}
	if (f->of_wakes) {
		w->by = BY_PID | BY_FUTEX;
		w->mark = 0;
	}
	/* All waits take the same path in the kernel. */
	if (w->with_stacks && !w->options.no_user)
		w->options.no_kernel = true;
	return lock_waits__check(w, cli);
}

static int report(struct measurement *m, struct report *r)
{
	struct futexstat *f = m->own;

	r->metric = f->of_wakes ? "woken" : "wait";
	r->value = f->of_wakes ? "tasks woken by futex calls" : "time waiting for futexes";
	r->unit = f->of_wakes ? UNIT_COUNT : UNIT_NS;
	r->source = m->source;
	lock_waits__end(&f->waits, m);
	return lock_waits__report(&f->waits, m, r, f->bpf->bss->waits_by_stack,
				  f->of_wakes ? NULL : "waiting_percent");
}

/* Loads the programs at system calls, or those at context switches. */
static void choose_programs(struct futexstat *f)
{
	struct bpf_program *at_calls[] = { f->bpf->progs.on_enter, f->bpf->progs.on_exit };
	struct bpf_program *at_switches[] = {
		f->bpf->progs.on_switch, f->bpf->progs.on_waking, f->bpf->progs.on_timer_entry,
		f->bpf->progs.on_timer_exit, f->bpf->progs.seed_sleeping,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(at_calls); i++)
		bpf_program__set_autoload(at_calls[i], !f->sleeps);
	for (i = 0; i < ARRAY_SIZE(at_switches); i++)
		bpf_program__set_autoload(at_switches[i], f->sleeps);
}

static int open_skeleton(struct measurement *m)
{
	struct futexstat *f = m->own;
	struct futexstat_bpf *bpf = m->bpf;
	int err;

	f->bpf = bpf;
	bpf->rodata->of_wakes = f->of_wakes;
	bpf->rodata->at_switches = f->sleeps;
	bpf->rodata->nr_futex = SYS_futex;
	bpf->rodata->nr_restart = SYS_restart_syscall;
	bpf->rodata->nr_sigreturn = SYS_rt_sigreturn;
	choose_programs(f);
	if (f->sleeps)
		m->source = WAITS_SOURCE;
	err = task_state__prepare(bpf->obj, "futex_calls", &m->run->host);
	return err ?: lock_waits__prepare(&f->waits, m, sizeof(struct futex_key));
}

static int attach(struct measurement *m)
{
	struct futexstat *f = m->own;
	int err = lock_waits__begin(&f->waits, m);

	return err ?: measurement__attach_programs(m);
}

static void init(void *own)
{
	struct futexstat *f = own;

	*f = (struct futexstat){
		.waits = {
			.options = STACK_OPTIONS,
			.by = BY_PID | BY_FUTEX | BY_RESULT,
			.marking = BY_FUTEX | BY_OP | BY_RESULT,
			.mark = BY_RESULT,
			.event = futex_result_names,
			.of_memory = BY_FUTEX,
			.parts = {
				.name = futex_part_names, .n = ARRAY_SIZE(futex_part_names),
				.text = FUTEX_PARTS_TEXT, .add = futex_names__add,
				.context = &f->waits.stacks.names.symbols,
			},
		},
	};
}

static const struct own_parts *parts(void *own)
{
	struct futexstat *f = own;

	return &f->waits.parts;
}

static void release(void *own)
{
	struct futexstat *f = own;

	lock_waits__free(&f->waits);
}

static const struct option_row rows[] = {
	{ "wakes", 0, NULL, ROW_FLAG, "Count tasks woken per wakeup call instead, by caller", 1,
	  FIELD(struct futexstat, of_wakes) },
	{ "waits", 0, NULL, ROW_FLAG, "Each sleep at a futex, without a hook at every system call", 1,
	  FIELD(struct futexstat, sleeps) },
	INCLUDE(struct futexstat, waits, lock_wait_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "futexstat",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_SORT | CLI_FORM | CLI_OUTPUT | CLI_LIVE |
			  CLI_RUN | CLI_COMMAND | CLI_TIMES,
		.doc = "How long threads wait for user-space locks (futexes), by process and result.",
		.rows = rows,
		.own_keys = true,
	},
	.own_size = sizeof(struct futexstat), .skeleton = &futexstat_skeleton,
	.init = init, .parts = parts, .check = check, .open = open_skeleton, .attach = attach,
	.report = report,
	.source = SOURCE, .free = release,
};

TOOL_MEASURING(futexstat, spec, AREA_LOCKS,
	       "how long threads wait for futexes, and who wakes them");
