/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What futexstat.bpf.c and its loader (tools/locks/futexstat.c, tools/locks/futex_names.h) share. */
#ifndef TALLY_FUTEXSTAT_H
#define TALLY_FUTEXSTAT_H

#include "hist.h"
#include "task_key.h"

/* How a wait ended. */
enum futex_result {
	FUTEX_WOKEN,            /* or, of a PI futex: has the lock */
	FUTEX_TIMED_OUT,
	FUTEX_CHANGED,          /* EAGAIN: the value was not the expected one, so there was no wait */
	FUTEX_SIGNALLED,
	FUTEX_FAILED,
	FUTEX_WAITING,          /* it had not ended at the end of the run */
	FUTEX_RESULTS,
};

/* What stands behind the task in keys; zero where it is not asked for. */
struct futex_parts {
	__u64 address;          /* in the memory of process tgid */
	__u32 tgid;
	__u32 shared;           /* without FUTEX_PRIVATE_FLAG */
	__u32 op;               /* of futex(2), or FUTEX_WAITV */
	__u32 result;           /* FUTEX_WAITING is there in any case */
	__u32 owner;            /* tid, as the process numbers it; 0: not known */
	__u32 pad;
};

struct futex_key {
	struct hist_slot slot;
	struct task_key task;
	struct futex_parts parts;
};

/* A call of its own, not one of futex(2)'s operations. */
#define FUTEX_WAITV 64

#define BY_FUTEX (1 << (BY_PARTS + 0))
#define BY_OP (1 << (BY_PARTS + 1))
#define BY_RESULT (1 << (BY_PARTS + 2))
#define BY_OWNER (1 << (BY_PARTS + 3))

_Static_assert(sizeof(struct futex_parts) == 32, "futex_parts has padding");
_Static_assert(sizeof(struct futex_key) == 88, "futex_key has padding");

#endif /* TALLY_FUTEXSTAT_H */
