/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tasks of a load: processes, or threads of one, that begin together once all of them are
 * ready, and are measured from there to their end. The crew is in memory that they share with
 * whoever made it. Nothing here returns an error: the first failure of a task is kept in the crew
 * and ends its process.
 */
#ifndef TALLY_BENCH_CREW_H
#define TALLY_BENCH_CREW_H

#include <pthread.h>

#include "base/types.h"

/* What one task did between begin and end. Times in ns, of CLOCK_MONOTONIC or of the CPU. */
struct crew_task {
	u64 begin_ns, end_ns;
	u64 operations;         /* that count as the load's */
	u64 user_ns, system_ns; /* its own, and of children that it waited for */
	u64 switches;           /* context switches, voluntary or not */
};

struct crew {
	pthread_barrier_t ready;
	const char *failed;     /* what did; constant. NULL: nothing */
	int error;              /* the errno of that, or 0 */
	const char *name;       /* that tasks have from before they begin */
	size_t bytes;
	u32 n;
	struct crew_task task[];
};

/* Memory for n tasks of a name, which is not copied. NULL if there is none. */
struct crew *crew__new(const char *name, u32 n);
void crew__free(struct crew *crew);

/*
 * Has all tasks call work() with their number and waits for their end. To be called once, in a
 * process of its own. Processes get SIGKILL when that one dies.
 */
void crew__run(struct crew *crew, bool threads, u64 (*work)(void *context, u32 task),
	       void *context);

/* Keeps what failed, unless something has before, and ends this process. */
_Noreturn void crew__fail(struct crew *crew, const char *what, int error);

#endif /* TALLY_BENCH_CREW_H */
