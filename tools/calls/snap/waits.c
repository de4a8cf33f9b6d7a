// SPDX-License-Identifier: BSD-2-Clause
/* The threads of a pass by their numbers, and the targets of their waits. */
#include "calls/snap/waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/opener.h"
#include "base/process_thread.h"
#include "base/sorted.h"
#include "calls/snap/wait_servers.h"

const char *const wait_why_names[WAIT_WHYS] = {
	[WAIT_MUTEX] = "mutex",
	[WAIT_FUTEX] = "futex",
	[WAIT_JOIN] = "join",
	[WAIT_FLOCK] = "flock",
	[WAIT_FCNTL] = "fcntl",
	[WAIT_PIPE] = "pipe",
	[WAIT_SOCKET] = "socket",
	[WAIT_CHILD] = "child",
	[WAIT_VFORK] = "vfork",
	[WAIT_TRACER] = "tracer",
	[WAIT_FUSE] = "fuse",
	[WAIT_NFS] = "nfs",
	[WAIT_KERNEL_MUTEX] = "kernel mutex",
	[WAIT_RWSEM_READ] = "rwsem:R",
	[WAIT_RWSEM_WRITE] = "rwsem:W",
	[WAIT_SEMAPHORE] = "semaphore",
};

/*
 * --- threads by number -------------------------------------------------------------------------
 */

static int compare_threads(const void *a, const void *b)
{
	const struct task_key *x = &((const struct wait_thread *)a)->of->task;
	const struct task_key *y = &((const struct wait_thread *)b)->of->task;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	/* The first thread of a process comes first, regardless of its number. */
	if ((x->tid == x->pid) != (y->tid == y->pid))
		return x->tid == x->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void find_processes(struct snap_waits *w)
{
	u32 i, first = 0, k;

	for (i = 1; i <= w->n; i++) {
		if (i < w->n && w->thread[i].of->task.pid == w->thread[first].of->task.pid)
			continue;
		for (k = first; k < i; k++) {
			w->thread[k].process = first;
			w->thread[k].nthreads = i - first;
		}
		first = i;
	}
}

static int number_threads(struct snap_waits *w)
{
	const struct snap_thread *of;
	size_t at = 0;

	while ((of = snap_pass__next(&w->snap->pass, &at)))
		if (ARRAY_APPEND(w->thread, w->n, (struct wait_thread){ .of = of, .next = WAITS_NOBODY }))
			return -ENOMEM;
	if (w->n)
		qsort(w->thread, w->n, sizeof(*w->thread), compare_threads);
	find_processes(w);
	return 0;
}

/*
 * --- threads by other numbers ------------------------------------------------------------------
 */

static u64 own_key(u32 pidns, u32 tid)
{
	return (u64)pidns << 32 | tid;
}

/* Returns 0 if the thread is not in this order. */
static u64 key_of(const struct snap_waits *w, u32 thread, enum wait_order order)
{
	const struct snap_thread *of = w->thread[thread].of;

	if (of->place == SNAP_ENDED && order != WAITS_BY_OWN_TID)
		return 0;
	switch (order) {
	case WAITS_BY_OWN_TID:
		return of->relations.own_tid ? own_key(of->task.pidns, of->relations.own_tid) : 0;
	case WAITS_BY_CLEAR_TID:
		return of->relations.clear_tid;
	case WAITS_BY_TASK:
		return of->relations.task;
	case WAITS_BY_MEMORY:
		return w->thread[thread].process == thread ? of->relations.memory : 0;
	case WAITS_BY_SEEN_PID:
		return w->thread[thread].process == thread ? of->relations.seen_pid : 0;
	default:
		return w->thread[thread].process == thread ? of->relations.parent : 0;
	}
}

static int compare_keys(const void *a, const void *b)
{
	const struct wait_index *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int make_index(struct snap_waits *w, enum wait_order order)
{
	u32 i;
	u64 key;

	for (i = 0; i < w->n; i++) {
		key = key_of(w, i, order);
		if (key && ARRAY_APPEND(w->index[order], w->nindex[order], (struct wait_index){ key, i }))
			return -ENOMEM;
	}
	if (w->nindex[order])
		qsort(w->index[order], w->nindex[order], sizeof(**w->index), compare_keys);
	return 0;
}

size_t snap_waits__up_to(const struct snap_waits *w, enum wait_order order, u64 key)
{
	return SORTED_UP_TO(w->index[order], w->nindex[order], key, key);
}

u32 snap_waits__find(const struct snap_waits *w, enum wait_order order, u64 key)
{
	size_t behind = snap_waits__up_to(w, order, key);

	return behind && w->index[order][behind - 1].key == key ? w->index[order][behind - 1].thread : WAITS_NOBODY;
}

u32 snap_waits__by_own_tid(const struct snap_waits *w, const struct snap_thread *beside, u32 tid)
{
	return tid && beside->task.pidns ? snap_waits__find(w, WAITS_BY_OWN_TID, own_key(beside->task.pidns, tid)) :
					   WAITS_NOBODY;
}

struct wait_thread *snap_waits__thread(struct snap_waits *w, u32 pid, u32 tid)
{
	const struct snap_thread sought = { .task = { .pid = pid, .tid = tid } };
	const struct wait_thread key = { .of = &sought };

	return w->n ? bsearch(&key, w->thread, w->n, sizeof(key), compare_threads) : NULL;
}

/*
 * --- targets -----------------------------------------------------------------------------------
 */

void snap_waits__begin(struct snap_waits *w, struct wait_thread *t, enum wait_why why, bool complete)
{
	t->why = why;
	t->first = w->ntargets;
	t->n = 0;
	t->complete = complete;
}

int snap_waits__add_target(struct snap_waits *w, u32 thread, bool whole_process)
{
	if (w->ntargets >= WAITS_MOST_TARGETS) {
		w->too_many = true;
		return 0;
	}
	return ARRAY_APPEND(w->target, w->ntargets, (struct wait_target){ thread, whole_process });
}

int snap_waits__add(struct snap_waits *w, struct wait_thread *t, u32 thread, bool whole_process)
{
	size_t before = w->ntargets;
	int err = snap_waits__add_target(w, thread, whole_process);

	t->n += w->ntargets - before;
	t->complete &= w->ntargets > before;
	return err;
}

void snap_waits__path(char path[WAITS_PATH], const struct wait_thread *t, const char *name)
{
	snprintf(path, WAITS_PATH, "/proc/%u/%s", process_thread(t->of->relations.seen_pid), name);
}

bool snap_waits__read(struct snap_waits *w, const struct wait_thread *t, u64 address, void *to, size_t size)
{
	char path[WAITS_PATH];
	ssize_t n;

	if (w->reads++ >= WAITS_MOST_READS) {
		w->too_many = true;
		return false;
	}
	snap_waits__path(path, t, "mem");
	n = t->of->relations.seen_pid ? opener__read_path(path, address, to, size) : -1;
	if (n == (ssize_t)size)
		return true;
	w->unread++;
	return false;
}

/*
 * --- all ---------------------------------------------------------------------------------------
 */

int snap_waits__init(struct snap_waits *w, struct snap *s)
{
	enum wait_order order;
	int err;

	*w = (struct snap_waits){ .snap = s };
	err = number_threads(w);
	for (order = 0; order < WAITS_ORDERS && !err; order++)
		err = make_index(w, order);
	return err;
}

void wait_server__free(struct wait_server *server)
{
	free(server->point);
	free(server->type);
	free(server->source);
	free(server);
}

void snap_waits__free(struct snap_waits *w)
{
	enum wait_order order;
	size_t i;

	for (order = 0; order < WAITS_ORDERS; order++)
		free(w->index[order]);
	free(w->thread);
	free(w->target);
	for (i = 0; i < w->nservers; i++)
		wait_server__free(w->server[i]);
	free(w->server);
}
