// SPDX-License-Identifier: BSD-2-Clause
/* Waits for children, for a child of vfork(2), and for a tracer. */
#include <sys/wait.h>

#include "calls/snap/waits.h"

static int add_children(struct snap_waits *w, struct wait_thread *t, bool of_vfork)
{
	u32 pid = t->of->task.pid;
	size_t at = snap_waits__up_to(w, WAITS_BY_PARENT, pid), i;
	const struct wait_index *index = w->index[WAITS_BY_PARENT];
	int err = 0;

	for (i = at; i-- > 0 && index[i].key == pid && !err;)
		if (!of_vfork || w->thread[index[i].thread].of->flags & SNAP_VFORKED)
			err = snap_waits__add(w, t, index[i].thread, true);
	return err;
}

static int add_child(struct snap_waits *w, struct wait_thread *t, u32 pid)
{
	u32 child = snap_waits__by_own_tid(w, t->of, pid);

	if (child == WAITS_NOBODY)
		return 0;
	return snap_waits__add(w, t, w->thread[child].process, true);
}

static int of_wait4(struct snap_waits *w, struct wait_thread *t)
{
	int pid = t->of->value[0];

	snap_waits__begin(w, t, WAIT_CHILD, pid > 0 || pid == -1);
	return pid > 0 ? add_child(w, t, pid) : add_children(w, t, false);
}

static int of_waitid(struct snap_waits *w, struct wait_thread *t)
{
	u64 what = t->of->value[0];

	snap_waits__begin(w, t, WAIT_CHILD, what == P_PID || what == P_ALL);
	if (what == P_PID)
		return add_child(w, t, t->of->value[1]);
	return what == P_ALL || what == P_PGID ? add_children(w, t, false) : 0;
}

static bool is_vfork(const struct snap_thread *t)
{
	return snap_thread__is_call(t, "vfork") || snap_thread__is_call(t, "clone") ||
	       snap_thread__is_call(t, "clone3");
}

static int of_tracer(struct snap_waits *w, struct wait_thread *t)
{
	const struct wait_thread key = *t;
	u32 i;

	snap_waits__begin(w, t, WAIT_TRACER, true);
	for (i = 0; i < w->n; i++)
		if (w->thread[i].of->task.tid == key.of->relations.tracer)
			return snap_waits__add(w, t, w->thread[i].process, true);
	return 0;
}

int snap_waits__of_tasks(struct snap_waits *w, struct wait_thread *t)
{
	if (t->of->state == 't' && t->of->relations.tracer)
		return of_tracer(w, t);
	if (t->of->place != SNAP_IN_CALL)
		return 0;
	if (snap_thread__is_call(t->of, "wait4"))
		return of_wait4(w, t);
	if (snap_thread__is_call(t->of, "waitid"))
		return of_waitid(w, t);
	if (!is_vfork(t->of))
		return 0;
	snap_waits__begin(w, t, WAIT_VFORK, true);
	return add_children(w, t, true);
}
