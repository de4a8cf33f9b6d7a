/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by reclaim.bpf.c and its loader. */
#ifndef TALLY_RECLAIM_H
#define TALLY_RECLAIM_H

#include "hist.h"
#include "task_key.h"

/* Key part for --by, in addition to those of tasks; contained in every key. */
enum reclaim_part {
	BY_RECLAIM_KIND = 1 << BY_PARTS,
};

enum reclaim_kind {
	RECLAIM_DIRECT,         /* direct reclaim: an allocating task must free pages itself */
	RECLAIM_MEMCG,          /* direct reclaim for the limit of the task's memory cgroup */
	RECLAIM_SOFTLIMIT,      /* a v1 cgroup above its soft limit, mostly in kswapd */
	RECLAIM_NODE,           /* of the local NUMA node (vm.zone_reclaim_mode) */
	RECLAIM_COMPACT,        /* memory compaction, a zone at a time */
	RECLAIM_HIGH,           /* asleep because its memory cgroup is above memory.high */
	RECLAIM_KSWAPD,         /* kswapd awake */
	RECLAIM_TIMED,          /* number of kinds that have a duration */
	RECLAIM_OOM = RECLAIM_TIMED,    /* OOM kill; the subject is the victim */
	RECLAIM_KINDS,
};

struct reclaim_parts {
	__u32 kind;             /* enum reclaim_kind */
	__u32 pad;
};

struct reclaim_key {
	struct hist_slot slot;          /* first; filled in by hist_add_key() */
	struct task_key task;
	struct reclaim_parts parts;
};

/* Pages freed. An element belongs to one CPU, so plain adds are exact. */
struct reclaim_pages_key {
	struct task_key task;
	struct reclaim_parts parts;
	__u32 writer;
	__u32 pad;
};

struct reclaim_record {
	__u64 time_ns;          /* of the end */
	__u64 ns;
	__u64 pages;
	__u32 pid;              /* the stalled task, or the victim */
	__u32 tid;
	__u32 cpu;
	__u32 kind;
	__u32 other_pid;        /* RECLAIM_OOM: the task whose allocation caused it */
	__u32 other_tid;
	char comm[TASK_KEY_COMM_LEN];
	char other_comm[TASK_KEY_COMM_LEN];
};

/* A stall in progress, from an iterator over tasks. */
struct reclaim_running {
	struct task_key task;
	struct reclaim_parts parts;
	__u64 ns;
	char name[TASK_KEY_COMM_LEN];
};

_Static_assert(sizeof(struct reclaim_key) == 64, "reclaim_key has padding");
_Static_assert(sizeof(struct reclaim_pages_key) == 64, "reclaim_pages_key has padding");
_Static_assert(sizeof(struct reclaim_running) == 80, "reclaim_running has padding");

#endif /* TALLY_RECLAIM_H */
