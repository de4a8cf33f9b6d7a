/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by kmem.bpf.c and its loader. */
#ifndef TALLY_KMEM_H
#define TALLY_KMEM_H

#include "outstanding.h"
#include "task_key.h"

/* Key parts for --by, in addition to those of tasks. */
enum kmem_part {
	BY_CALLER = 1 << BY_PARTS,
	BY_CACHE = 1 << (BY_PARTS + 1),
	BY_SIZE = 1 << (BY_PARTS + 2),
	BY_ORDER = 1 << (BY_PARTS + 3),         /* this part and the next only with --pages */
	BY_MIGRATETYPE = 1 << (BY_PARTS + 4),
};

/* The layout of the tracepoints' arguments. */
enum kmem_layout {
	KMEM_PLAIN,             /* until 5.19: no cache; separate _node tracepoints */
	KMEM_BOTH_CACHES,       /* 6.0, commit b347aa7b5747: all have the cache before the sizes */
	KMEM_MERGED,            /* 6.1, commit 2c1d697fb8ba: only kmem_cache_alloc, and no sizes */
};

#define KMEM_CACHE_LEN 32

/* Only the requested parts are filled in. An element belongs to the CPU on which it was created. */
struct kmem_key {
	struct task_key task;
	__u64 caller;           /* return address; 0: unknown */
	__u64 size;             /* requested */
	__u64 slab;             /* kmalloc() by cache: the object size of the cache */
	char cache[KMEM_CACHE_LEN];     /* its name; empty: kmalloc() */
	__u32 order;
	__s32 migratetype;
	__u32 writer;
	__u32 pad;
};

/* Cumulative since the gate was opened. */
struct kmem_sums {
	__u64 allocs;
	__u64 requested;        /* bytes; overflows at 2^42 of the largest allocations (4 MiB) */
	__u64 allocated;        /* bytes; overflows likewise */
	__u64 failed;           /* not included in the three above */
	__u64 frees;            /* made under this key; if objects are followed: frees of its objects */
	__u64 freed;            /* bytes; this and the two below only if objects are followed */
	__u64 elsewhere;        /* frees on a CPU other than that of the allocation */
	__u64 unseen;           /* objects freed unseen: their address was allocated again */
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

/* A followed object, by its address; with --pages by that of its struct page. */
struct kmem_live {
	struct kmem_key key;
	struct outstanding_item item;
	char name[TASK_KEY_COMM_LEN];
	__u32 cpu;
	__u32 pad;
};

_Static_assert(sizeof(struct kmem_key) == 120, "kmem_key has padding");
_Static_assert(sizeof(struct kmem_sums) == 88, "kmem_sums has padding");

#endif /* TALLY_KMEM_H */
