/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a measurement itself costs: the run time of its BPF programs, which the kernel keeps while
 * its BPF statistics are on (5.8), the CPU time of this process, and the memory of the maps.
 *
 * Programs and maps are found by the descriptors that this process has (of programs also by those
 * of links and perf events), so nothing has to be told of them. Statistics are on as long as a
 * descriptor is open, whatever ends the process, and cost all BPF programs of the host two readings
 * of the clock a run (20 to 45 ns).
 *
 *   overhead__start()    once everything is attached
 *   overhead__since()    for each report
 *   overhead__stop()
 */
#ifndef TALLY_RUN_OVERHEAD_H
#define TALLY_RUN_OVERHEAD_H

#include "report/report.h"
#include "base/types.h"

struct overhead {
	int stats_fd;                   /* -1: statistics are not on */
	struct program_cost *before;    /* the last snapshot */
	size_t nbefore;
	u64 own_before_ns;
	struct report_overhead cost;    /* of the last report, which points here */
};

/* Says what is wrong. Returns 0 or a negative errno; to be stopped in any case. */
int overhead__start(struct overhead *o);

/*
 * Fills o->cost with what came since the last call, or the start, in so long a time. Returns 0 or
 * -ENOMEM.
 */
int overhead__since(struct overhead *o, u64 duration_ns, int cpus);

/* The run time of all programs since they were loaded, while statistics were on. */
u64 overhead__program_ns(void);

/* The CPU time this process has used, in user space and in the kernel. */
u64 own_cpu_ns(void);

void overhead__stop(struct overhead *o);

#endif /* TALLY_RUN_OVERHEAD_H */
