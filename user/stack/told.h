/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel tells of processes as it happens, so that one that lived for a millisecond has
 * names, too: the records MMAP2, FORK, COMM and EXIT of perf_event_open(2), of all CPUs in order of time.
 * Each ring holds 1 MiB; what it has no room for is lost, and counted.
 */
#ifndef TALLY_STACK_TOLD_H
#define TALLY_STACK_TOLD_H

#include "base/types.h"
#include "stack/perf_ring.h"
#include "unwind/unwinder.h"

#include "bpf/lib/stack.h"

struct told_cpu {
	int fd;
	struct perf_ring ring;
};

/* Records as they were in the rings, one behind the other. */
struct told_records {
	char *bytes;
	size_t n, room;
	struct told_position {
		u64 time;
		size_t at;
	} *position;
	size_t npositions, positions_room;
};

struct told {
	struct told_cpu *cpu;
	size_t n;
	int epoll_fd;           /* can be read when a ring has filled up by an eighth */
	u64 lost;               /* records for which there was no room */
	struct unwinder *unwinder;      /* which is told, too; NULL: nobody */
	u32 *changed;           /* processes that have new code, of which it is to be told */
	size_t nchanged, changed_room;
	struct told_records records;    /* too new for the last read: others may lack their elders */
	u8 *wanted;             /* a bit for each pid; NULL: all processes */
	bool with_children;     /* theirs, too */
	struct stack_code *codes;       /* of the programs (bpf/lib/stack.h); NULL: they have other numbers */
	u64 unnoticed;          /* see told__read() */
};

/*
 * Opens a ring on each CPU that is online. Best effort: CPUs whose ring cannot be opened are skipped.
 * unwinder: it is told at once of processes with new code, since it is to know it before the first
 * sample of it, or soon after; NULL: names can wait. 0 or -ENOMEM.
 */
int told__open(struct told *t, struct unwinder *unwinder);

/* From here on records of this process count, and those of others that were not named so do not. 0 or -ENOMEM. */
int told__want(struct told *t, u32 pid);

/*
 * Takes the records out of the rings and tells symbols all that happened up to now. Returns 0 or -ENOMEM.
 *
 * Code that was mapped over other code is looked up in codes: if the programs have not begun a generation since
 * that was mapped, one is begun here, and what was counted in between is under the names of the code before.
 * That is counted as unnoticed.
 */
int told__read(struct told *t, struct symbols *symbols);

/* Says so if records were lost: what they told of may have no names. */
void told__close(struct told *t);

#endif /* TALLY_STACK_TOLD_H */
