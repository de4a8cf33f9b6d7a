/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of measuring: the run time of our BPF programs, which the kernel accounts while BPF
 * statistics are on (5.8), the CPU time of this process, and the memory of the maps. Programs and
 * maps are found through the descriptors of this process (programs also through links and perf
 * events), so nothing needs to be registered. Statistics stay on as long as their descriptor is
 * open, and end with the process. While they are on, every BPF program of the host pays two clock
 * reads per run (20 to 45 ns), which cost a busy server 13 % of its throughput under triage. A run of
 * many programs therefore turns them on for 25 ms of every third second (run/slices.h) and estimates
 * the whole. The counts are read at both ends of each window, because other users of BPF statistics
 * may have them on outside of it.
 *
 *   overhead__start()    once everything is attached
 *   overhead__since()    for each report
 *   overhead__stop()
 */
#ifndef TALLY_RUN_OVERHEAD_H
#define TALLY_RUN_OVERHEAD_H

#include "report/report.h"
#include "run/slices.h"
#include "base/types.h"

struct overhead {
	int stats_fd;                   /* -1: statistics are off, or on in slices only */
	struct slices *slices;          /* borrowed; NULL: statistics are always on */
	u64 on_before_ns;               /* total time of all windows until the last snapshot */
	struct watched_program *watched;        /* with slices: accessed by their thread unless they are held */
	size_t nwatched;
	struct program_cost *before;    /* the last snapshot */
	size_t nbefore;
	u64 own_before_ns, own_start_ns;
	struct report_overhead cost;    /* shown in the last report, which points to it */
};

/*
 * slices: turn the statistics on, and must outlive o. NULL: statistics are on until overhead__stop(). Reports errors.
 * Returns 0 or a negative errno. Call overhead__stop() in either case.
 */
int overhead__start(struct overhead *o, struct slices *slices);

/*
 * Fills o->cost with the cost since the last call or the start. duration_ns: length of that interval.
 * Returns 0 or -ENOMEM.
 */
int overhead__since(struct overhead *o, u64 duration_ns, int cpus);

/* Must be called after programs were loaded since the start or the last report. Returns 0 or -ENOMEM. */
int overhead__watch_new(struct overhead *o);

/* Run time of all our programs since load, counted only while statistics were on. */
u64 overhead__program_ns(void);

/* CPU time of this process, user and system. */
u64 own_cpu_ns(void);

void overhead__stop(struct overhead *o);

#endif /* TALLY_RUN_OVERHEAD_H */
