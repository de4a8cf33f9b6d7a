// SPDX-License-Identifier: BSD-2-Clause
/* exitsnoop: ends of processes. The measurement is bpf/procs/exitsnoop.bpf.c. */
#include <string.h>
#include <time.h>

#include "host/signal_name.h"
#include "run/snoop.h"
#include "tools.h"

#include "bpf/procs/exitsnoop.h"
#include "exitsnoop.skel.h"

SKELETON(exitsnoop);

static const char *const field_names[] = {
	"status", "signal", "core", "age", "cpu_time", "ppid", "uid",
};

/* wait(2): the low byte is the signal and the core dump flag, the next one the exit status. */
#define CODE_SIGNAL 0x7f
#define CODE_CORE 0x80

#define SETTLE_MS 1000

struct exitsnoop {
	struct snoop snoop;     /* first member: show() casts its context to this type */
	bool threads, failed;
	struct exitsnoop_bpf *bpf;
};

static int show(void *context, const void *record, size_t size)
{
	const struct exit_record *r = record;
	struct exitsnoop *e = context;
	char comm[sizeof(r->comm) + 1] = "", name[SIGNAL_NAME_SPACE];
	u32 signal = r->code & CODE_SIGNAL;
	const struct stream_field fields[ARRAY_SIZE(field_names)] = {
		signal ? snoop_none("status") : snoop_id("status", r->code >> 8 & 0xff),
		snoop_word("signal", signal ? signal_name(name, signal) : NULL),
		snoop_word("core", r->code & CODE_CORE ? "yes" : NULL),
		snoop_time("age", r->age_ns),
		snoop_time("cpu_time", r->cpu_time_ns),
		snoop_id("ppid", r->ppid),
		snoop_spare(snoop_id("uid", r->uid)),
	};
	struct stream_line line = {
		.time_ns = r->time_ns, .comm = comm, .pid = r->pid, .tid = r->tid, .cpu = r->cpu,
		.field = fields, .n = ARRAY_SIZE(fields),
	};

	(void)size;
	memcpy(comm, r->comm, sizeof(r->comm));
	return lines__write(&e->snoop.lines, &line);
}

/*
 * Waits for the records of tasks that are still exiting. A task that waits for a process, as this
 * run does for its command, is woken before the process leaves its CPU. The record of the process
 * follows within microseconds, or once the process gets its CPU again, or after an RCU grace period
 * if the kernel skipped the program at the switch.
 */
static void settle(struct snoop *s)
{
	const struct exitsnoop_bpf__bss *bss = ((struct exitsnoop *)s)->bpf->bss;
	const struct timespec moment = { .tv_nsec = NSEC_PER_MSEC };
	const volatile u64 *taken_down = &bss->taken_down, *sent = &bss->sent;
	u64 so_far = *taken_down;
	int i;

	for (i = 0; i < SETTLE_MS && *sent < so_far; i++)
		nanosleep(&moment, NULL);
}

static int open_skeleton(struct snoop *s)
{
	struct exitsnoop *e = (struct exitsnoop *)s;
	struct exitsnoop_bpf *bpf = s->m->bpf;

	e->bpf = bpf;
	bpf->rodata->threads = e->threads;
	bpf->rodata->failed_only = e->failed;
	return 0;
}

static void init(void *own)
{
	struct exitsnoop *e = own;

	*e = (struct exitsnoop){
		.snoop = {
			.value = "process exits",
			.rare = true,
			.source = "tp_btf/sched_process_exit; CPU time at the last "
				  "tp_btf/sched_switch",
			.field = field_names, .nfields = ARRAY_SIZE(field_names),
			.least = sizeof(struct exit_record),
			.show = show,
			.open = open_skeleton,
			.settle = settle,
		},
	};
}

static void release(void *own)
{
	struct exitsnoop *e = own;

	lines__free(&e->snoop.lines);
}

static const struct option_row rows[] = {
	{ "threads", 0, NULL, ROW_FLAG, "Each thread's exit", 0, FIELD(struct exitsnoop, threads) },
	{ "failed", 0, NULL, ROW_FLAG, "Only processes killed by a signal or with a nonzero exit status", 0,
	  FIELD(struct exitsnoop, failed) },
	{},
};

static const struct tool_spec spec = {
	.name = "exitsnoop",
	.cli = {
		.groups = SNOOP_GROUPS,
		.doc = "Each process exit: how it ended, its lifetime and its CPU time.",
		.rows = rows,
	},
	.own_size = sizeof(struct exitsnoop), .skeleton = &exitsnoop_skeleton,
	SNOOP_HOOKS,
	.init = init, .free = release,
};

TOOL_MEASURING(exitsnoop, spec, AREA_PROCESSES, "each process exit: how it ended, lifetime, CPU time");
