// SPDX-License-Identifier: BSD-2-Clause
#include "events/probe/starts.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg/elements.h"
#include "jit/compile.h"

#include "bpf/lib/probe.h"

#define INITIAL_PIDNS 0xeffffffc        /* PROC_PID_INIT_INO, include/linux/proc_ns.h */

static bool knows_all_threads(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == INITIAL_PIDNS;
}

static bool is_gone(u32 tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", tid);
	return access(path, F_OK) && errno == ENOENT;
}

/* The key of a call, as made by match__call() in jit/compile.c. */
struct call_key {
	u64 holder;             /* thread, or goroutine */
	u64 position;           /* stack address, or for a goroutine the distance from the upper end */
	u32 event;
	u32 process;            /* process of a goroutine in the initial pid namespace; 0: the holder is a thread */
};

_Static_assert(sizeof(struct call_key) == MATCH_CALL_SIZE, "the key of a call has other members");

struct call {
	struct call_key key;
	u64 height;             /* height of the frame: a callee's is lower than its caller's */
	u64 time_ns;
	size_t i;               /* index of the element */
};

static bool has_one_holder(const struct call_key *a, const struct call_key *b)
{
	return a->holder == b->holder && a->process == b->process;
}

/* Sorts by holder, newest first. */
static int newest_first(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->key.process != y->key.process)
		return x->key.process < y->key.process ? -1 : 1;
	if (x->key.holder != y->key.holder)
		return x->key.holder < y->key.holder ? -1 : 1;
	return x->time_ns > y->time_ns ? -1 : x->time_ns < y->time_ns;
}

/* Finds calls whose frame is below that of a newer call: stacks grow downwards. */
static int find_left(const struct elements *e, bool *is_left)
{
	struct call *call = calloc(e->n ?: 1, sizeof(*call));
	struct probe_begin begin;
	u64 highest = 0;
	size_t i;

	if (!call)
		return -ENOMEM;
	for (i = 0; i < e->n; i++) {
		memcpy(&begin, elements__value(e, i), sizeof(begin));
		memcpy(&call[i].key, elements__key(e, i), sizeof(call[i].key));
		call[i].height = call[i].key.process ? ~call[i].key.position : call[i].key.position;
		call[i].time_ns = begin.time_ns;
		call[i].i = i;
	}
	qsort(call, e->n, sizeof(*call), newest_first);
	for (i = 0; i < e->n; i++) {
		if (!i || !has_one_holder(&call[i].key, &call[i - 1].key))
			highest = 0;
		is_left[call[i].i] = call[i].height < highest;
		if (call[i].height > highest)
			highest = call[i].height;
	}
	free(call);
	return 0;
}

/* The process of a goroutine, which may outlive the thread in which it began, or else the thread. */
static u32 task_of(const struct elements *e, size_t i, const struct probe_begin *begin)
{
	struct call_key key;

	memcpy(&key, elements__key(e, i), sizeof(key));
	return key.process ?: begin->tid;
}

static size_t delete_some(const struct starts_plan *plan, const struct elements *e,
			  const bool *is_left)
{
	struct probe_begin begin;
	size_t n = 0, i;

	for (i = 0; i < e->n; i++) {
		memcpy(&begin, elements__value(e, i), sizeof(begin));
		if ((is_left[i] || is_gone(task_of(e, i, &begin))) &&
		    !bpf_map_delete_elem(plan->fd, elements__key(e, i)))
			n += !begin.lost;
	}
	return n;
}

int starts__sweep(const struct starts_plan *plan, size_t *deleted)
{
	struct elements e = { .key_size = plan->key_size, .value_size = plan->value_size };
	bool *is_left = NULL;
	size_t n = 0;
	int err = 0;

	if (plan->value_size < sizeof(struct probe_begin) || !plan->calls ||
	    plan->key_size != sizeof(struct call_key) || !knows_all_threads())
		goto out;
	err = elements__read(&e, plan->fd);
	if (err)
		goto out;
	is_left = calloc(e.n ?: 1, sizeof(*is_left));
	if (!is_left)
		err = -ENOMEM;
	else if (e.n > plan->max_entries / 2)
		err = find_left(&e, is_left);
	if (!err)
		n = delete_some(plan, &e, is_left);
out:
	free(is_left);
	elements__free(&e);
	if (deleted)
		*deleted = n;
	return err;
}
