// SPDX-License-Identifier: BSD-2-Clause
/* Finds threads that cannot proceed and cycles, and counts the waiters of each thread. */
#include "base/clock.h"
#include "calls/snap/waits.h"

/*
 * --- stuck -------------------------------------------------------------------------------------
 */

/* Whether no thread of the process can run. An ended thread does nothing, but the others may wait for it. */
static bool is_process_stuck(const struct snap_waits *w, u32 process)
{
	u32 i, stuck = 0;

	for (i = process; i < process + w->thread[process].nthreads; i++) {
		if (!w->thread[i].stuck && w->thread[i].of->place != SNAP_ENDED)
			return false;
		stuck += w->thread[i].stuck;
	}
	return stuck;
}

static bool stays_stuck(const struct snap_waits *w, const struct wait_thread *t)
{
	const struct wait_target *to;
	u32 i;

	for (i = 0; i < t->n; i++) {
		to = &w->target[t->first + i];
		if (to->whole_process ? !is_process_stuck(w, w->thread[to->thread].process) :
					!w->thread[to->thread].stuck)
			return false;
	}
	return true;
}

/* Whether the time is up, in which case no thread is called stuck. Reads the clock at one call in 256. */
static bool takes_too_long(struct snap_waits *w, u32 *calls, u64 end)
{
	u32 i;

	if (++*calls % 256 || clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		return false;
	for (i = 0; i < w->n; i++)
		w->thread[i].stuck = false;
	w->too_many = true;
	return true;
}

/*
 * Starts with all threads that only others can wake, and removes each that a thread outside this set can wake. Scans
 * from alternating ends: mutexes are usually taken in ascending or descending order of threads.
 */
static void find_stuck(struct snap_waits *w)
{
	u64 end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + WAITS_GRAPH_NS;
	bool changed = true, up = false;
	struct wait_thread *t;
	u32 i, calls = 0;

	for (i = 0; i < w->n; i++)
		w->thread[i].stuck = w->thread[i].complete && w->thread[i].n;
	while (changed) {
		changed = false;
		up = !up;
		for (i = 0; i < w->n; i++) {
			t = &w->thread[up ? i : w->n - 1 - i];
			if (!t->stuck || stays_stuck(w, t))
				continue;
			t->stuck = false;
			changed = true;
			if (takes_too_long(w, &calls, end))
				return;
		}
	}
}

/*
 * --- chains ------------------------------------------------------------------------------------
 */

static u32 activity(const struct wait_thread *t)
{
	if (t->of->place == SNAP_ENDED)
		return 0;
	if (t->n)
		return 1;
	return t->of->state == 'R' || t->of->state == 'D' ? 3 : 2;
}

/* The thread of a process that is most likely to proceed. */
static u32 most_active(const struct snap_waits *w, u32 process)
{
	u32 best = process, i;

	for (i = process; i < process + w->thread[process].nthreads; i++)
		if (activity(&w->thread[i]) > activity(&w->thread[best]))
			best = i;
	return best;
}

/* The waiter's own process counts if it must act itself, as the holder of a lock, but not for a pipe. */
static u32 next_of(const struct snap_waits *w, const struct wait_thread *t)
{
	bool may_be_own = t->why != WAIT_PIPE && t->why != WAIT_SOCKET;
	const struct wait_target *to;
	u32 i;

	for (i = 0; i < t->n; i++) {
		to = &w->target[t->first + i];
		if (may_be_own || w->thread[to->thread].process != t->process)
			return to->whole_process ? most_active(w, w->thread[to->thread].process) : to->thread;
	}
	return WAITS_NOBODY;
}

static void name_cycle(struct snap_waits *w, u32 from)
{
	u32 at = from;

	w->ncycles++;
	do {
		w->thread[at].cycle = w->ncycles;
		at = w->thread[at].next;
	} while (at != from);
}

/* Until waiters are counted, this member holds 1 + the thread whose walk reached this one first. */
static void walk(struct snap_waits *w, u32 from)
{
	u32 at;

	for (at = from; at != WAITS_NOBODY && !w->thread[at].waiters; at = w->thread[at].next)
		w->thread[at].waiters = from + 1;
	if (at != WAITS_NOBODY && w->thread[at].waiters == from + 1 && !w->thread[at].cycle)
		name_cycle(w, at);
}

static void count_waiter(struct snap_waits *w, const struct wait_thread *t)
{
	u32 at = t->next;

	if (t->cycle || t->moved || t->of->flags & SNAP_OUT_OF_SCOPE)
		return;
	for (; at != WAITS_NOBODY; at = w->thread[at].next) {
		w->thread[at].waiters++;
		if (w->thread[at].cycle)
			return;
	}
}

void snap_waits__find_cycles(struct snap_waits *w)
{
	u32 i;

	find_stuck(w);
	for (i = 0; i < w->n; i++)
		w->thread[i].next = next_of(w, &w->thread[i]);
	for (i = 0; i < w->n; i++)
		walk(w, i);
	for (i = 0; i < w->n; i++)
		w->thread[i].waiters = 0;
	for (i = 0; i < w->n; i++)
		count_waiter(w, &w->thread[i]);
}

bool snap_waits__is_deadlock(const struct snap_waits *w, u32 cycle)
{
	u32 i;

	for (i = 0; i < w->n; i++)
		if (w->thread[i].cycle == cycle && (!w->thread[i].stuck || w->thread[i].moved))
			return false;
	return true;
}
