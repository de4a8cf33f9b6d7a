/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel tells of processes as it happens, so that one that lived for a millisecond has
 * names, too: the records MMAP2, FORK and COMM of perf_event_open(2), of all CPUs in order of time.
 */
#ifndef TALLY_STACK_TOLD_H
#define TALLY_STACK_TOLD_H

#include "base/types.h"
#include "stack/perf_ring.h"
#include "unwind/unwinder.h"

struct told_cpu {
	int fd;
	struct perf_ring ring;
};

struct told {
	struct told_cpu *cpu;
	size_t n;
	int epoll_fd;           /* can be read when a ring has filled up by half */
	u64 lost;               /* records for which there was no room */
	struct unwinder *unwinder;      /* which is told, too; NULL: nobody */
	u32 *changed;           /* processes that have new code, of which it is to be told */
	size_t nchanged, changed_room;
};

/*
 * Opens a ring on each CPU that is online. Best effort: what cannot be opened tells nothing.
 * unwinder: it is told at once of processes with new code, since it is to know it before the first
 * sample of it, or soon after; NULL: names can wait. 0 or -ENOMEM.
 */
int told__open(struct told *t, struct unwinder *unwinder);

/* Takes the records out of the rings and tells symbols. Returns 0 or -ENOMEM. */
int told__read(struct told *t, struct symbols *symbols);

/* Says so if records were lost: what they told of may have no names. */
void told__close(struct told *t);

#endif /* TALLY_STACK_TOLD_H */
