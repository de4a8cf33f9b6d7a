/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's accounting of CPU quotas: cpu.stat of each cgroup in a hierarchy with the cpu
 * controller.
 */
#ifndef TALLY_HOST_CPU_STAT_H
#define TALLY_HOST_CPU_STAT_H

#include "base/types.h"

/* One cgroup. Numbers are cumulative since its creation. */
struct cpu_stat {
	u64 id;                 /* inode number of its directory */
	char *path;             /* below the root of its hierarchy */
	u64 quota_us;           /* per period; 0 if it has no quota now */
	u64 period_us;
	u64 periods;            /* periods with a runnable task */
	u64 throttled;          /* periods in which the quota was used up on at least one CPU */
	u64 throttled_ns;       /* sum over all CPUs */
};

/* Sorted by id. Initialise to all zeros: empty. */
struct cpu_stats {
	struct cpu_stat *stat;
	size_t n;
};

/*
 * Reads all cgroups with quota accounting, in the hierarchy of the v1 cpu controller if it is
 * mounted, otherwise in v2. Cgroups created or removed during the read may be missing. Returns 0,
 * -ENOENT if there is no such hierarchy, or -ENOMEM; on error *s is empty.
 */
int cpu_stats__read(struct cpu_stats *s);

/* Returns the cgroup with this id, or NULL. */
const struct cpu_stat *cpu_stats__find(const struct cpu_stats *s, u64 id);
void cpu_stats__free(struct cpu_stats *s);

/*
 * Parses a file like cpu.stat into *s. Missing numbers are left unchanged. For cpu_stats__read() and
 * its test.
 */
void cpu_stat__parse(struct cpu_stat *s, const char *text);

#endif /* TALLY_HOST_CPU_STAT_H */
