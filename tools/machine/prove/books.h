/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's own accounting of a process and its threads, from /proc/PID. */
#ifndef TALLY_PROVE_BOOKS_H
#define TALLY_PROVE_BOOKS_H

#include <sys/types.h>

#include "base/types.h"

struct prove_books {
	u64 run_ns, wait_ns, slices; /* schedstat */
	u64 switches;		     /* context switches, voluntary and involuntary */
	u64 preemptions;	     /* involuntary switches among these */
	u64 faults;		     /* minor and major */
};

/* Adds up all threads. Sets *asleep if no thread runs or waits for a CPU. Returns 0 or a negative errno. */
int prove_books__read(struct prove_books *books, pid_t pid, bool *asleep);

/* Returns later - earlier. */
struct prove_books prove_books__difference(const struct prove_books *later, const struct prove_books *earlier);

#endif /* TALLY_PROVE_BOOKS_H */
