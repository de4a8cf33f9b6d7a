/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads side-band records (MMAP2, FORK, COMM and EXIT of perf_event_open(2)), which let us symbolize processes that
 * lived for a millisecond. The records of all CPUs are merged in time order. Each ring holds 1 MiB; records lost to a
 * full ring are counted.
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

/* Raw records from the rings, back to back. */
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
	int epoll_fd;           /* readable when a ring is an eighth full */
	u64 lost;               /* records lost to a full ring */
	struct unwinder *unwinder;      /* to notify as well; NULL: none */
	u32 *changed;           /* processes with new code, to report to unwinder */
	size_t nchanged, changed_room;
	struct told_records records;    /* too new for the last read: other rings may still have earlier records */
	u8 *wanted;             /* a bit per pid; NULL: all processes */
	bool with_children;     /* include children */
	struct scope_glob *names;       /* thread names: processes with such a thread are wanted, too; NULL: none */
	struct stack_code *codes;       /* generations, from the programs (bpf/lib/stack.h); NULL: pids differ
					 * there */
	u64 unnoticed;          /* see told__read() */
};

/*
 * Opens a ring on each online CPU. Best effort: CPUs whose ring cannot be opened are skipped. unwinder: notified at
 * once of processes with new code, so that it has their tables for the first samples or soon after. NULL: reading can
 * wait. Returns 0 or -ENOMEM.
 */
int told__open(struct told *t, struct unwinder *unwinder);

/* After the first call, only records of processes passed to this function count. Returns 0 or -ENOMEM. */
int told__want(struct told *t, u32 pid);

/*
 * Same for processes that give a thread a matching name (until an exec changes it), and for their children. Pass
 * processes that already have such a thread to told__want(). Returns 0 or -ENOMEM.
 */
int told__want_names(struct told *t, const struct scope_glob *names);

/* True if records of that process count. */
bool told__wants(const struct told *t, u32 pid);

/*
 * Reads the rings and passes all events up to now to symbols. Returns 0 or -ENOMEM.
 *
 * If code was mapped over other code, checks codes and begins a new generation unless the programs have begun one
 * since. Samples taken in between count under the old code's names; unnoticed is the number of such replacements.
 */
int told__read(struct told *t, struct symbols *symbols);

/* Reports lost records, whose code may lack names. */
void told__close(struct told *t);

#endif /* TALLY_STACK_TOLD_H */
