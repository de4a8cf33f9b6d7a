/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tasks of a load: processes, or threads of one process. They start together once all are
 * ready, and are measured from this point to their end. The crew is in memory shared with its
 * creator. No function here returns an error: the crew stores the first failure of a task, which
 * ends the process of this task.
 */
#ifndef TALLY_BENCH_CREW_H
#define TALLY_BENCH_CREW_H

#include <pthread.h>

#include "base/types.h"

/* The measurements of one task between begin and end. Times in ns, CLOCK_MONOTONIC or CPU time. */
struct crew_task {
	u64 begin_ns, end_ns;
	u64 operations;         /* operations that count for the load */
	u64 user_ns, system_ns; /* of the task and of the children that it waited for */
	u64 switches;           /* context switches, voluntary and involuntary */
};

struct crew {
	pthread_barrier_t ready;
	const char *failed;     /* the operation that failed, a constant, or NULL */
	int error;              /* its errno, or 0 */
	const char *name;       /* name given to the tasks before they start */
	size_t bytes;
	u32 n;
	struct crew_task task[];
};

/* Allocates a crew of n tasks; name is not copied. NULL without memory. */
struct crew *crew__new(const char *name, u32 n);
void crew__free(struct crew *crew);

/*
 * Lets all tasks call work() with their number, and waits until they end. Must be called once, in a
 * process of its own. Tasks that are processes get SIGKILL when this process dies.
 */
void crew__run(struct crew *crew, bool threads, u64 (*work)(void *context, u32 task),
	       void *context);

/* Records the failure unless there is an earlier one, and ends this process. */
_Noreturn void crew__fail(struct crew *crew, const char *what, int error);

#endif /* TALLY_BENCH_CREW_H */
