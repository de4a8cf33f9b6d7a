/* SPDX-License-Identifier: BSD-2-Clause */
/* What a measurement itself has cost, as part of its report (run/overhead.h finds it out). */
#ifndef TALLY_OUT_OVERHEAD_H
#define TALLY_OUT_OVERHEAD_H

#include <stdio.h>

#include "base/types.h"

struct report_program {
	char name[16];          /* as the kernel keeps it, cut to 15 letters */
	u64 runs, ns;
};

struct report_overhead {
	struct report_program *program; /* the one that took most first */
	size_t nprograms;
	u64 runs, ns;           /* of all programs */
	u64 duration_ns;        /* in so long a time */
	int cpus;               /* of the machine */
	u64 own_ns;             /* CPU time of the tool's process */
	u64 map_bytes;          /* what its maps are charged in the kernel now */
	double budget;          /* --budget, in percent of the machine; 0: none */
	double over_budget;     /* the share that ended the measurement; 0: it has not */
};

/* The programs' share of one CPU, in percent; of the machine it is this by cpus. */
double overhead_percent(const struct report_overhead *o);

/* For the footer of text, and in one line. */
void put_overhead(FILE *f, const struct report_overhead *o);
void put_overhead_line(FILE *f, const struct report_overhead *o);

#endif /* TALLY_OUT_OVERHEAD_H */
