/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring buffer of a perf event, to which the kernel writes records (perf_event_open(2)). */
#ifndef TALLY_STACK_PERF_RING_H
#define TALLY_STACK_PERF_RING_H

#include <linux/perf_event.h>

#include "base/types.h"

/* All zero: not mapped. */
struct perf_ring {
	void *base;             /* perf_event_mmap_page, followed by the data */
	size_t bytes;           /* of the data */
	void *record;           /* buffer for the largest record */
};

/* bytes: a power of two, in whole pages. fd remains the caller's. Returns 0 or a negative errno. */
int perf_ring__map(struct perf_ring *r, int fd, size_t bytes);

/*
 * Consumes the records and calls take for each, oldest first; the record's size is in its header,
 * and it is valid only during the call. Stops at the first negative result, and returns it.
 */
int perf_ring__read(struct perf_ring *r, int (*take)(void *ctx, const struct perf_event_header *record),
		    void *ctx);

void perf_ring__unmap(struct perf_ring *r);

#endif /* TALLY_STACK_PERF_RING_H */
