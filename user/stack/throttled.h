/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detects throttled events. The kernel limits the samples per tick of a CPU (kernel.perf_event_max_sample_rate) and
 * drops the rest until the next tick, so busy periods are undersampled. Frequency sampling adapts to the limit; a fixed
 * period does not. The kernel lowers the limit by itself if samples of a hardware counter take too long.
 *
 *   throttled__begin()
 *   throttled__watch()     for each event, once opened
 *   throttled__read()      whenever watch_fd is readable
 *   throttled__since()     for a report
 *   throttled__close()     reports throttling
 */
#ifndef TALLY_STACK_THROTTLED_H
#define TALLY_STACK_THROTTLED_H

#include "base/types.h"
#include "stack/perf_ring.h"

struct throttled_cpu {
	int cpu;
	struct perf_ring ring;
	u64 times;              /* number of times the event was throttled */
	u64 lost;               /* throttle and unthrottle records lost to a full ring */
};

/* All zero: not watching. */
struct throttled {
	struct throttled_cpu *each;
	size_t n;
	u64 limit;              /* samples per second at the start; 0: unknown */
	u64 told;               /* sum of the results of throttled__since() */
};

void throttled__begin(struct throttled *t);

/*
 * Best effort: events whose ring cannot be mapped are not watched. watch_fd: an epoll, readable when a ring is half
 * full. fd remains owned by the caller, and may be closed before throttled__close(). Returns 0 or -ENOMEM.
 */
int throttled__watch(struct throttled *t, int fd, int cpu, int watch_fd);
void throttled__read(struct throttled *t);

/*
 * Returns how often the event was throttled since the last call, on all CPUs; a lower bound if records were lost. Reads
 * the rings first.
 */
u64 throttled__since(struct throttled *t);

/* Warns about CPUs on which the event was throttled, and about a limit that has been lowered. */
void throttled__close(struct throttled *t);

#endif /* TALLY_STACK_THROTTLED_H */
