// SPDX-License-Identifier: BSD-2-Clause
/* Waits for locks of the kernel, which the kernel records in the waiting task. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/snap/waits.h"

static const enum wait_why whys[] = {
	[SNAP_KERNEL_MUTEX] = WAIT_KERNEL_MUTEX,
	[SNAP_RWSEM_READ] = WAIT_RWSEM_READ,
	[SNAP_RWSEM_WRITE] = WAIT_RWSEM_WRITE,
	[SNAP_SEMAPHORE] = WAIT_SEMAPHORE,
};

static bool sleeps_for_lock(const struct snap_thread *t)
{
	return t->relations.lock.kind && t->relations.lock.kind < ARRAY_SIZE(whys);
}

/* Only the owner of a mutex, or the writer of a rw_semaphore, can release it. Any task can release a semaphore. */
int snap_waits__of_kernel_lock(struct snap_waits *w, struct wait_thread *t)
{
	const struct snap_lock_wait *lock = &t->of->relations.lock;
	u32 owner;

	if (!sleeps_for_lock(t->of))
		return 0;
	snap_waits__begin(w, t, whys[lock->kind], true);
	owner = lock->owner ? snap_waits__find(w, WAITS_BY_TASK, lock->owner) : WAITS_NOBODY;
	if (owner != WAITS_NOBODY && w->thread[owner].of->place != SNAP_ENDED)
		return snap_waits__add(w, t, owner, false);
	t->complete = false;
	return 0;
}

void snap_waits__time_kernel_locks(struct snap_waits *w)
{
	const struct wait_thread *t;
	struct wait_thread *owner;
	u32 i;
	u64 ns;

	for (i = 0; i < w->n; i++) {
		t = &w->thread[i];
		owner = t->next == WAITS_NOBODY ? NULL : &w->thread[t->next];
		if (!owner || owner->next != WAITS_NOBODY || t->of->state != 'D' || !sleeps_for_lock(t->of) ||
		    t->moved || t->of->flags & SNAP_OUT_OF_SCOPE)
			continue;
		if (snap_pass__time(&w->snap->pass, t->of, &ns) && ns > owner->lock_wait_ns)
			owner->lock_wait_ns = ns;
	}
}

int snap_waits__lock_text(const struct snap_waits *w, const struct snap_thread *t, char **text)
{
	const struct snap_lock_wait *lock = &t->relations.lock;
	char name[KERNEL_VARIABLE_SPACE];
	u32 process;
	int n;

	*text = NULL;
	if (!sleeps_for_lock(t))
		return 0;
	process = lock->memory ? snap_waits__find(w, WAITS_BY_MEMORY, lock->memory) : WAITS_NOBODY;
	if (process != WAITS_NOBODY)
		n = asprintf(text, "mmap_lock of %u (%.*s)", w->thread[process].of->task.pid, TASK_KEY_COMM_LEN,
			     w->thread[process].of->task.comm);
	else if (kernel_variables__name(&w->snap->variables, lock->lock, name))
		n = asprintf(text, "%s", name);
	else
		n = asprintf(text, "%#llx", lock->lock);
	return n < 0 ? -ENOMEM : 0;
}
