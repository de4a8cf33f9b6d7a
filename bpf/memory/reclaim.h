/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What reclaim.bpf.c and its loader share. */
#ifndef TALLY_RECLAIM_H
#define TALLY_RECLAIM_H

#include "hist.h"
#include "task_key.h"

/* Behind the parts of task keys, for --by; always part of the key. */
enum reclaim_part {
	BY_RECLAIM_KIND = 1 << BY_PARTS,
};

enum reclaim_kind {
	RECLAIM_DIRECT,         /* a task that allocates has to free pages itself */
	RECLAIM_MEMCG,          /* the same, within the limit of its memory cgroup */
	RECLAIM_SOFTLIMIT,      /* of a v1 cgroup above its soft limit, mostly in kswapd */
	RECLAIM_NODE,           /* of the near NUMA node (vm.zone_reclaim_mode) */
	RECLAIM_COMPACT,        /* pages moved together, a zone at a time */
	RECLAIM_KSWAPD,         /* kswapd awake */
	RECLAIM_TIMED,          /* those above take time */
	RECLAIM_OOM = RECLAIM_TIMED,    /* killed for want of memory: the victim */
	RECLAIM_KINDS,
};

struct reclaim_parts {
	__u32 kind;             /* enum reclaim_kind */
	__u32 pad;
};

struct reclaim_key {
	struct hist_slot slot;          /* first: hist_add_key() fills it */
	struct task_key task;
	struct reclaim_parts parts;
};

/* What was freed: an element belongs to one CPU, so plain adds are exact. */
struct reclaim_pages_key {
	struct task_key task;
	struct reclaim_parts parts;
	__u32 writer;
	__u32 pad;
};

struct reclaim_record {
	__u64 time_ns;          /* of its end */
	__u64 ns;
	__u64 pages;
	__u32 pid;              /* who stalls, or is killed */
	__u32 tid;
	__u32 cpu;
	__u32 kind;
	__u32 other_pid;        /* RECLAIM_OOM: whose allocation it is for */
	__u32 other_tid;
	char comm[TASK_KEY_COMM_LEN];
	char other_comm[TASK_KEY_COMM_LEN];
};

/* A stall that goes on, by an iterator over tasks. */
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
