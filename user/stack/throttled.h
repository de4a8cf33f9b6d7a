/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the kernel holds back the samples of an event. It takes no more in a tick of a CPU than
 * kernel.perf_event_max_sample_rate allows, and none for the rest of that tick: what is busy then is
 * seen too seldom. Sampling at a frequency adapts, a fixed period does not. The kernel lowers the
 * limit by itself where samples of a hardware counter take too long.
 *
 *   throttled__begin()
 *   throttled__watch()     each event, once it is open
 *   throttled__read()      now and then: when watch_fd can be read
 *   throttled__since()     for a report
 *   throttled__close()     says what has happened
 */
#ifndef TALLY_STACK_THROTTLED_H
#define TALLY_STACK_THROTTLED_H

#include "base/types.h"
#include "stack/perf_ring.h"

struct throttled_cpu {
	int cpu;
	struct perf_ring ring;
	u64 times;              /* so often was the event throttled */
	u64 lost;               /* records that say so, or the end of it, for which there was no room */
};

/* All zero: nothing is watched. */
struct throttled {
	struct throttled_cpu *each;
	size_t n;
	u64 limit;              /* samples a second, when it was begun; 0: not known */
	u64 told;               /* what throttled__since() has returned, together */
};

void throttled__begin(struct throttled *t);

/*
 * Best effort: an event whose ring cannot be mapped tells nothing. watch_fd: an epoll, which becomes
 * readable when the ring is half full. fd is the caller's, and may be closed before throttled__close().
 * Returns 0 or -ENOMEM.
 */
int throttled__watch(struct throttled *t, int fd, int cpu, int watch_fd);
void throttled__read(struct throttled *t);

/*
 * How often the event was throttled since the last call, on all CPUs together; at least so often
 * where records were lost. Reads what is there first.
 */
u64 throttled__since(struct throttled *t);

/* Warns of CPUs on which the event was throttled, and of a limit that is lower than it was. */
void throttled__close(struct throttled *t);

#endif /* TALLY_STACK_THROTTLED_H */
