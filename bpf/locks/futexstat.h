/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by futexstat.bpf.c and its loader (tools/locks/futexstat.c, tools/locks/futex_names.h). */
#ifndef TALLY_FUTEXSTAT_H
#define TALLY_FUTEXSTAT_H

#include "hist.h"
#include "task_key.h"

/* How a wait ended. */
enum futex_result {
	FUTEX_WOKEN,            /* or, for a PI futex: acquired */
	FUTEX_TIMED_OUT,
	FUTEX_CHANGED,          /* EAGAIN: the value was not the expected one, so the call did not wait */
	FUTEX_SIGNALLED,
	FUTEX_FAILED,
	FUTEX_WAITING,          /* still waiting at the end of the run */
	FUTEX_RESULTS,
};

/* Key parts in addition to the task; zero if not requested. */
struct futex_parts {
	__u64 address;          /* in the address space of process tgid */
	__u32 tgid;
	__u32 shared;           /* nonzero without FUTEX_PRIVATE_FLAG */
	__u32 op;               /* of futex(2), or FUTEX_WAITV */
	__u32 result;           /* FUTEX_WAITING: set even if not requested */
	__u32 owner;            /* tid in the process's pid namespace; 0: unknown */
	__u32 pad;
};

struct futex_key {
	struct hist_slot slot;
	struct task_key task;
	struct futex_parts parts;
};

/* A separate system call, not an operation of futex(2). */
#define FUTEX_WAITV 64

#define BY_FUTEX (1 << (BY_PARTS + 0))
#define BY_OP (1 << (BY_PARTS + 1))
#define BY_RESULT (1 << (BY_PARTS + 2))
#define BY_OWNER (1 << (BY_PARTS + 3))

_Static_assert(sizeof(struct futex_parts) == 32, "futex_parts has padding");
_Static_assert(sizeof(struct futex_key) == 88, "futex_key has padding");

#endif /* TALLY_FUTEXSTAT_H */
