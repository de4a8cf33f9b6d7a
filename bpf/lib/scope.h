/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The scope options (-p -t -u -G -C --comm --pidns, own process excluded), as constants that the loader writes before
 * it loads the programs. All conditions apply to the SUBJECT of an event (the task that waited, the issuer of the
 * request), which the program determines, never to the task that happened to be on the CPU. Conditions are ANDed.
 * Filled in by user/host/scope.h, tested by scope.bpf.h.
 */
#ifndef TALLY_SCOPE_H
#define TALLY_SCOPE_H

#define SCOPE_MAX_CPUS 8192    /* the kernel's limit, CONFIG_NR_CPUS_RANGE_END */
#define SCOPE_GLOB_MAX 31      /* positions of a compiled glob, one bit each */

/* How pids and tids are compared. */
enum scope_ids {
	SCOPE_IDS_ANY,
	SCOPE_IDS_ONE,          /* one address */
	SCOPE_IDS_SET,          /* a lookup in scope_pids or scope_tids */
};

/*
 * The cgroup hierarchy of -G and --by cgroup: v2, or the v1 hierarchy of one controller. These numbers are tally's own,
 * because subsystem numbers differ between kernels.
 */
enum scope_hierarchy {
	SCOPE_CGROUP_V2,
	SCOPE_CGROUP_CPUSET,
	SCOPE_CGROUP_CPU,
	SCOPE_CGROUP_CPUACCT,
	SCOPE_CGROUP_BLKIO,
	SCOPE_CGROUP_MEMORY,
	SCOPE_CGROUP_DEVICES,
	SCOPE_CGROUP_FREEZER,
	SCOPE_CGROUP_NET_CLS,
	SCOPE_CGROUP_PERF_EVENT,
	SCOPE_CGROUP_NET_PRIO,
	SCOPE_CGROUP_HUGETLB,
	SCOPE_CGROUP_PIDS,
	SCOPE_CGROUP_RDMA,
	SCOPE_CGROUP_MISC,
	SCOPE_CGROUP_HIERARCHIES,
};

/*
 * A shell glob as a nondeterministic automaton, one bit per position: position i is active when the pattern's first i
 * elements have matched. Exact for every glob (* ? [set]), with the same few instructions per character.
 *   step(s, c): s' = ((s & accepts[c]) << 1) | (s & stars); then a star may also match nothing.
 */
struct scope_glob {
	__u32 start;            /* positions reachable before the first character */
	__u32 final;            /* the position after the last element */
	__u32 stars;            /* positions before a '*' */
	__u32 accepts[256];     /* positions whose element matches this byte */
};

struct scope_config {
	__u32 exclude_self;     /* the tracer */
	__u32 exclude_children; /* its children too, except the command; only with exclude_self */
	__u32 command_apart;    /* own-namespace pid of a command that only determines the duration; 0 if none */
	__u32 pids;             /* enum scope_ids */
	__u32 tids;             /* enum scope_ids */
	__u32 follow;           /* children of processes in scope_pids join the set */
	__u32 command;          /* pid that joins scope_pids at its exec; 0 if none */
	__u32 has_uid;
	__u32 uid;              /* real uid */
	__u32 has_cgroup;       /* the cgroup and its descendants */
	__u32 hierarchy;        /* enum scope_hierarchy; also used by --by cgroup */
	__u64 began;            /* start of the tracer, ns of CLOCK_MONOTONIC: older children are not its own */
	__u64 cgroup_id;
	__u32 cgroup_level;     /* 0 is the root */
	__u32 has_pidns;
	__u32 pidns;            /* inode number of the pid namespace */
	__u32 has_cpus;
	__u32 has_comm;
	struct scope_glob comm;
	__u64 cpus[SCOPE_MAX_CPUS / 64];
};

#endif /* TALLY_SCOPE_H */
