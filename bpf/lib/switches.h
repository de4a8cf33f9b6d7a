/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single events of the scheduler, as the tools that show them one by one get them through a ring
 * buffer, and as they stand in files (tools/sched/file.h). Every record has the same size.
 */
#ifndef TALLY_SWITCHES_H
#define TALLY_SWITCHES_H

#include "stack.h"

enum switches_kind {
	SWITCHES_SWITCH,        /* task left the CPU, other came */
	SWITCHES_ARRIVAL,       /* the same; task is idle or out of scope: nothing is known */
	SWITCHES_WAIT,          /* task came after a wait, other left: of runqslower */
	SWITCHES_WAKEUP,        /* task was woken, by other */
	SWITCHES_MIGRATION,     /* task was moved from a CPU to another, by other */
	SWITCHES_KINDS,
};

/* A time that is not known: its begin was before the run, or not seen. */
#define SWITCHES_UNKNOWN (~0ULL)

struct switches_task {
	__u32 pid;
	__u32 tid;              /* 0: idle */
	__u8 comm[16];          /* terminated unless it came from a file; hostile */
};

struct switches_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC */
	__u16 kind;             /* enum switches_kind */
	__u16 stranger;         /* other, which came, is out of scope (where arrivals are wanted) */
	__u32 cpu;              /* where it happened */
	struct switches_task task;
	struct switches_task other;
	__u64 off_ns;           /* between its last two slices: from leaving a CPU to coming back */
	__u64 wait_ns;          /* the end of that, from being runnable on (bpf/sched/wait.bpf.h) */
	__u64 run_ns;           /* the slice that ends now (bpf/sched/slice.bpf.h) */
	union {
		__u32 from;     /* of a migration: CPUs */
		__u32 stack;    /* of a switch, outside of the kernel: number of the stack, or 0 */
	};
	__u32 to;
};

/* What comes through the ring instead where stacks are asked for. */
struct switches_stacked {
	struct switches_record record;
	struct stack_id stack;  /* where task was when it left */
};

_Static_assert(sizeof(struct switches_record) == 96, "no hidden padding");
_Static_assert(sizeof(struct switches_stacked) == 112, "no hidden padding");

/* The worst are kept in a heap of one to this many records per CPU. */
#define SWITCHES_WORST_MOST 1023
#define SWITCHES_WORST_LEVELS 10

/* What is worst. */
enum switches_order {
	SWITCHES_BY_WAIT,
	SWITCHES_BY_OFF,
	SWITCHES_BY_RUN,
};

struct switches_worst {
	__u64 value;            /* what it is kept for; 0: nothing is here yet */
	struct switches_task before;    /* who left the CPU for it */
	struct switches_record record;
	struct stack_id before_stack, stack;    /* where they were when they left */
	__u64 taken;            /* those of the two that were taken: enum switches_taken, ORed */
};

enum switches_taken {
	SWITCHES_BEFORE_STACK = 1,
	SWITCHES_STACK = 2,
};

#endif /* TALLY_SWITCHES_H */
