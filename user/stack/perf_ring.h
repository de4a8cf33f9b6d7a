/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring of a perf event, in which the kernel leaves records (perf_event_open(2)). */
#ifndef TALLY_STACK_PERF_RING_H
#define TALLY_STACK_PERF_RING_H

#include <linux/perf_event.h>

#include "base/types.h"

/* All zero: none. */
struct perf_ring {
	void *base;             /* perf_event_mmap_page and the data behind it */
	size_t bytes;           /* of the data */
	void *record;           /* room for the largest one */
};

/* bytes: a power of two, in whole pages. fd stays the caller's. Returns 0 or a negative errno. */
int perf_ring__map(struct perf_ring *r, int fd, size_t bytes);

/*
 * Takes the records out and calls take for each, the oldest first; its size is in its header, and it
 * stays no longer than the call. Stops at the first that returns a negative errno, and returns it.
 */
int perf_ring__read(struct perf_ring *r, int (*take)(void *ctx, const struct perf_event_header *record),
		    void *ctx);

void perf_ring__unmap(struct perf_ring *r);

#endif /* TALLY_STACK_PERF_RING_H */
