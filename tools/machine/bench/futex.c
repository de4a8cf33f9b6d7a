// SPDX-License-Identifier: BSD-2-Clause
/* Futex loads. Tasks are threads of one process: futexes are private to it, or --shared. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine/bench/load.h"

static long futex(const struct load_run *run, u32 *word, int operation, u32 value)
{
	if (!run->o->shared)
		operation |= FUTEX_PRIVATE_FLAG;
	return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/*
 * --- futex-wake: some wait, one wakes them -----------------------------------------------------
 *
 * The word never changes, so that each wait sleeps, and returns because of exactly one wake.
 */

static void wake_prepare(struct load_run *run)
{
	run->state = load_run__memory(run, 1, sizeof(u32));
}

static u64 wait_often(struct load_run *run)
{
	u64 i;

	for (i = 0; i < run->loops; i++)
		while (futex(run, run->state, FUTEX_WAIT, 0))
			if (errno != EINTR)
				crew__fail(run->crew, "FUTEX_WAIT failed", errno);
	return i;
}

static u64 wake_often(struct load_run *run)
{
	u64 left = run->loops * run->o->tasks;
	long woken;

	while (left) {
		woken = futex(run, run->state, FUTEX_WAKE, 1);
		if (woken < 0 || woken > 1)
			crew__fail(run->crew, "FUTEX_WAKE failed", woken < 0 ? errno : 0);
		left -= woken;
		if (!woken)             /* no thread waits yet: the waiters may need this CPU */
			sched_yield();
	}
	return 0;
}

static u64 wake_work(struct load_run *run, u32 task)
{
	return task < run->o->tasks ? wait_often(run) : wake_often(run);
}

static u64 wake_tasks(const struct load_options *o)
{
	return o->tasks + 1;
}

const struct load load_futex_wake = {
	.name = "futex-wake",
	.summary = "threads sleep on a futex, and another wakes them one at a time",
	.operation = "wakeup",
	.takes = LOAD_TASKS | LOAD_SHARED,
	.usual = { .tasks = LOAD_EACH_CPU, .threads = true },
	.tasks = wake_tasks,
	.operations = load__tasks_of_options,
	.prepare = wake_prepare,
	.work = wake_work,
};

/*
 * --- futex-hash: waits that fail at once, so the futex lookup dominates -------------------------
 */

#define FUTEXES 1024            /* per task */

static void hash_prepare(struct load_run *run)
{
	run->state = load_run__memory(run, run->o->tasks * FUTEXES, sizeof(u32));
}

static u64 hash_work(struct load_run *run, u32 task)
{
	u32 *word = (u32 *)run->state + (u64)task * FUTEXES;
	u64 i;

	for (i = 0; i < run->loops; i++)
		if (futex(run, &word[i % FUTEXES], FUTEX_WAIT, 1) != -1 || errno != EAGAIN)
			crew__fail(run->crew, "FUTEX_WAIT did not detect that the value differs",
				   errno);
	return i;
}

const struct load load_futex_hash = {
	.name = "futex-hash",
	.summary = "threads look up futexes, 1024 each, without sleeping on them",
	.operation = "lookup",
	.takes = LOAD_TASKS | LOAD_SHARED,
	.usual = { .tasks = LOAD_EACH_CPU, .threads = true },
	.tasks = load__tasks_of_options,
	.operations = load__tasks_of_options,
	.prepare = hash_prepare,
	.work = hash_work,
};
