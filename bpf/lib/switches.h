/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single scheduler events, as tools receive them through a ring buffer and store them in files (tools/sched/file.h).
 * All records have the same size.
 */
#ifndef TALLY_SWITCHES_H
#define TALLY_SWITCHES_H

#include "stack.h"

enum switches_kind {
	SWITCHES_SWITCH,        /* task left the CPU and was followed by other */
	SWITCHES_ARRIVAL,       /* the same; task is idle or out of scope, so nothing is known about it */
	SWITCHES_WAIT,          /* task was switched in after a wait, other was switched out: runqslower */
	SWITCHES_WAKEUP,        /* task was woken by other */
	SWITCHES_MIGRATION,     /* other moved task to another CPU */
	SWITCHES_KINDS,
};

/* An unknown time: it began before the run, or its begin was not seen. */
#define SWITCHES_UNKNOWN (~0ULL)

struct switches_task {
	__u32 pid;
	__u32 tid;              /* 0: idle */
	__u8 comm[16];          /* NUL-terminated unless it came from a file; untrusted */
};

struct switches_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC */
	__u16 kind;             /* enum switches_kind */
	__u16 stranger;         /* other, which was switched in, is out of scope (if arrivals are requested) */
	__u32 cpu;              /* of the event */
	struct switches_task task;
	struct switches_task other;
	__u64 off_ns;           /* between its last two slices: from switch-out to switch-in */
	__u64 wait_ns;          /* the last part of off_ns, since it became runnable (bpf/sched/wait.bpf.h) */
	__u64 run_ns;           /* the slice that ends now (bpf/sched/slice.bpf.h) */
	union {
		__u32 from;     /* SWITCHES_MIGRATION: the previous CPU */
		__u32 stack;    /* SWITCHES_SWITCH, in user space: number of the stack, or 0 */
	};
	__u32 to;
};

/* Sent through the ring instead of struct switches_record if stacks are requested. */
struct switches_stacked {
	struct switches_record record;
	struct stack_id stack;  /* of task, when it left */
};

_Static_assert(sizeof(struct switches_record) == 96, "no hidden padding");
_Static_assert(sizeof(struct switches_stacked) == 112, "no hidden padding");

/* The worst records are kept in one heap per CPU, with a capacity of at least one and at most this many. */
#define SWITCHES_WORST_MOST 1023
#define SWITCHES_WORST_LEVELS 10

/* The order of the heap. */
enum switches_order {
	SWITCHES_BY_WAIT,
	SWITCHES_BY_OFF,
	SWITCHES_BY_RUN,
};

struct switches_worst {
	__u64 value;            /* the heap is sorted by this; 0: empty */
	struct switches_task before;    /* the task that left the CPU for it */
	struct switches_record record;
	struct stack_id before_stack, stack;    /* of both tasks, when they left */
	__u64 taken;            /* which of the two stacks were taken: enum switches_taken, ORed */
};

enum switches_taken {
	SWITCHES_BEFORE_STACK = 1,
	SWITCHES_STACK = 2,
};

#endif /* TALLY_SWITCHES_H */
