/* SPDX-License-Identifier: BSD-2-Clause */
/* The cost of a measurement, as part of its report. run/overhead.h measures it. */
#ifndef TALLY_OUT_OVERHEAD_H
#define TALLY_OUT_OVERHEAD_H

#include <stdio.h>

#include "base/types.h"

struct report_program {
	char name[16];          /* the kernel's name, truncated to 15 bytes */
	u64 runs, ns;
};

struct report_overhead {
	struct report_program *program; /* most expensive first */
	size_t nprograms;
	u64 runs, ns;           /* of all programs */
	u64 duration_ns;        /* length of the interval */
	u64 measured_ns;        /* programs are estimated from this part of it; 0 if measured all the time */
	int cpus;               /* of the machine */
	u64 own_ns;             /* CPU time of the tool's process in the interval */
	u64 start_ns;           /* CPU time of the process before the first interval: loading, attaching; 0: unknown */
	u64 map_bytes;          /* kernel memory charged for the maps now */
	double budget;          /* --budget, in percent of the machine; 0 if none */
	double over_budget;     /* the share that ended the measurement, in percent; 0 if the budget did not end it */
};

/* The programs' share of one CPU, in percent; divide by cpus for the share of the machine. */
double overhead_percent(const struct report_overhead *o);

/* Write the cost as several lines for the footer of text, or as one line. */
void put_overhead(FILE *f, const struct report_overhead *o);
void put_overhead_line(FILE *f, const struct report_overhead *o);

#endif /* TALLY_OUT_OVERHEAD_H */
