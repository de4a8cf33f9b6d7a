/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by memleak.bpf.c and its loader. */
#ifndef TALLY_MEMLEAK_H
#define TALLY_MEMLEAK_H

#include "outstanding.h"
#include "task_key.h"

/* Functions that allocate and free memory. The kinds differ by their arguments. */
enum allocator_kind {
	ALLOCATOR_MALLOC,               /* (size) */
	ALLOCATOR_CALLOC,               /* (n, size) */
	ALLOCATOR_MEMALIGN,             /* (alignment, size) */
	ALLOCATOR_POSIX_MEMALIGN,       /* (&address, alignment, size) */
	ALLOCATOR_REALLOC,              /* (address, size) */
	ALLOCATOR_REALLOCARRAY,         /* (address, n, size) */
	ALLOCATOR_FREE,                 /* (address) */
	ALLOCATOR_NEW,                  /* (size): operator new, which may throw */
	ALLOCATOR_NEW_EXIT,             /* a return instruction of operator new; probed first */
	ALLOCATOR_DELETE,               /* (address) */
	ALLOCATOR_KINDS,
};

/*
 * Identifies an allocation: after a fork, the same address is a different allocation in the child, and an exec discards
 * all earlier allocations.
 */
struct memleak_key {
	__u64 address;
	__u64 exec;             /* task_struct.self_exec_id */
	__u32 tgid;
	__u32 pad;
};

struct memleak_live {
	struct task_key task;
	struct outstanding_item item;
	char name[TASK_KEY_COMM_LEN];
};

/* The last exec of a process during the run. */
struct memleak_exec {
	__u64 exec;             /* self_exec_id: allocations from before it no longer exist */
	__u32 calls;            /* it has called a probed function */
	__u32 pad;
	char comm[TASK_KEY_COMM_LEN];
};

/* Totals of the whole run, per CPU. */
struct memleak_totals {
	__u64 allocs;           /* successful allocations */
	__u64 bytes;            /* forms a 128-bit number with bytes_high (wide.h) */
	__u64 bytes_high;
	__u64 frees;            /* frees of those allocations */
	__u64 unseen;           /* frees noticed only because the address was allocated again */
};

_Static_assert(sizeof(struct memleak_live) == 96, "memleak_live has padding");

#endif /* TALLY_MEMLEAK_H */
