// SPDX-License-Identifier: BSD-2-Clause
/* Determines what the threads of a pass wait for, and compares them with the next pass. */
#include "calls/snap/wait_servers.h"

static bool is_waiting(const struct snap_thread *t)
{
	return t->state != 'R' && t->place != SNAP_ON_CPU && t->place != SNAP_ENDED;
}

/*
 * Scanning descriptors is most of the work. --deadlocks leaves out pipes and sockets, and needs only the holders of
 * file locks.
 */
static bool needs_files(const struct snap_waits *w)
{
	u32 i;

	for (i = 0; w->snap->deadlocks && i < w->n; i++)
		if (w->thread[i].why == WAIT_FLOCK || w->thread[i].why == WAIT_FCNTL)
			return true;
	return !w->snap->deadlocks;
}

static int ask_threads(struct snap_waits *w)
{
	bool only_kernel = snap__is_partial(w->snap) && !w->snap->deadlocks;
	u32 i;
	int err = 0;

	for (i = 0; i < w->n && !err; i++) {
		if (!is_waiting(w->thread[i].of))
			continue;
		err = snap_waits__of_kernel_lock(w, &w->thread[i]);
		if (only_kernel)
			continue;
		if (!err && !w->thread[i].why)
			err = snap_waits__of_tasks(w, &w->thread[i]);
		if (!err && !w->thread[i].why)
			err = snap_waits__of_futex(w, &w->thread[i]);
	}
	if (err || only_kernel)
		return err;
	err = snap_waits__of_locks(w);
	return err || !needs_files(w) ? err : snap_waits__of_files(w);
}

static int ask(struct snap_waits *w)
{
	const struct snap *s = w->snap;
	bool is_partial = snap__is_partial(s);
	int err = is_partial && !s->deadlocks && !s->locks ? 0 : ask_threads(w);

	return err || (is_partial && !s->servers) ? err : snap_waits__of_servers(w);
}

static void compare_with(struct snap_waits *w, const struct snap_thread *now)
{
	struct wait_thread *t = snap_waits__thread(w, now->task.pid, now->task.tid);

	if (t)
		t->moved = now->relations.switches != t->of->relations.switches || now->state != t->of->state ||
			   now->place != t->of->place;
}

static void find_moved(struct snap_waits *w, const struct snap_pass *again)
{
	const struct snap_thread *now;
	size_t at = 0;
	u32 i;

	for (i = 0; i < w->n; i++)
		w->thread[i].moved = !w->thread[i].server;
	while ((now = snap_pass__next(again, &at)))
		compare_with(w, now);
	for (i = 0; i < w->n; i++)
		if (w->thread[i].moved && w->thread[i].why && !(w->thread[i].of->flags & SNAP_OUT_OF_SCOPE))
			w->moved++;
}

int snap_waits__collect(struct snap_waits *w, struct snap *s, struct snap_pass *again, int link_fd,
			volatile s64 *clock_ahead)
{
	int err = snap_waits__init(w, s) ?: ask(w) ?: snap_pass__run(again, link_fd, clock_ahead);

	if (err)
		return err;
	find_moved(w, again);
	snap_waits__time_servers(w);
	snap_waits__find_cycles(w);
	snap_waits__time_kernel_locks(w);
	return 0;
}
