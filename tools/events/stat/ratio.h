/* SPDX-License-Identifier: BSD-2-Clause */
/* Relates a count to another: instructions per cycle, misses per reference, events per second. */
#ifndef TALLY_COUNT_RATIO_H
#define TALLY_COUNT_RATIO_H

#include "base/types.h"

/* The counts of one key at one place. */
struct ratio_count {
	const char *name;       /* name of the event, with its modifiers */
	double value;           /* in ns if the event is a clock */
	bool counted;
	bool is_time;
};

struct ratio {
	double value;
	const char *of;         /* "insn per cycle", "% of branches", "/s of task-clock"; constant */
};

/*
 * Derives the ratio to show next to count i. Uses only the given n counts, with the same modifiers (cycles:u with
 * instructions:u). Returns false if there is no count to compare with.
 */
bool ratio__derive(struct ratio *ratio, const struct ratio_count *counts, size_t n, size_t i,
		   u64 elapsed_ns);

#endif /* TALLY_COUNT_RATIO_H */
