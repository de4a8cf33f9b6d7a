/* SPDX-License-Identifier: BSD-2-Clause */
/* What a count means beside others: instructions per cycle, misses per reference, events per second. */
#ifndef TALLY_COUNT_RATIO_H
#define TALLY_COUNT_RATIO_H

#include "base/types.h"

/* The counts of one key in one place. */
struct ratio_count {
	const char *name;       /* the event's, with its modifiers */
	double value;           /* nanoseconds for clocks */
	bool counted;
	bool is_time;
};

struct ratio {
	double value;
	const char *of;         /* "insn per cycle", "% of branches", "/s of task-clock"; constant */
};

/*
 * The ratio to show beside count i. Others are taken from the same n counts only, and with the
 * same modifiers (cycles:u goes with instructions:u). False: nothing to compare it with.
 */
bool ratio__derive(struct ratio *ratio, const struct ratio_count *counts, size_t n, size_t i,
		   u64 elapsed_ns);

#endif /* TALLY_COUNT_RATIO_H */
