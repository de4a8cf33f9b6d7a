// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owners of futexes. The process itself writes this memory, so its content is not trustworthy. An owner counts only if
 * it is a thread that shares the futex with the waiter.
 */
#include <errno.h>
#include <linux/futex.h>

#include "base/clock.h"
#include "calls/snap/waits.h"
#include "sym/mappings.h"

/* A mutex of glibc: the first words of pthread_mutex_t. */
enum {
	LOCK,
	COUNT,
	OWNER,
	USERS,
	KIND,
	WORDS
};

/* The largest value of a mutex kind: types, robust, PI, protected, shared, elision and its absence. */
#define MOST_KIND 0x7ff

/* lowlevellock.h: locked, with waiters. */
#define LOCKED_AND_WAITED_FOR 2

struct futex_wait {
	u64 address;
	u32 op, expected;
	bool private, has_timeout;
};

static void decode(struct futex_wait *f, const struct snap_thread *t)
{
	*f = (struct futex_wait){
		.address = t->value[0],
		.op = t->value[1] & FUTEX_CMD_MASK,
		.expected = t->value[2],
		.private = t->value[1] & FUTEX_PRIVATE_FLAG,
		.has_timeout = t->value[3],
	};
}

static bool is_pi(const struct futex_wait *f)
{
	return f->op == FUTEX_LOCK_PI || f->op == 13; /* FUTEX_LOCK_PI2: 5.14 */
}

/* Condition variables, semaphores and joins of glibc pass FUTEX_WAIT_BITSET without a timeout. */
static bool may_be_mutex(const struct futex_wait *f)
{
	return is_pi(f) || f->op == FUTEX_WAIT || (f->op == FUTEX_WAIT_BITSET && f->has_timeout);
}

/* The tid that the words name, or 0 for none. */
static u32 owner_in(const struct futex_wait *f, const u32 word[WORDS])
{
	u32 tid = word[LOCK] & FUTEX_TID_MASK;

	if (is_pi(f))
		return tid;
	if (word[KIND] > MOST_KIND)
		return 0;
	if (f->expected == LOCKED_AND_WAITED_FOR)
		return word[LOCK] == LOCKED_AND_WAITED_FOR ? word[OWNER] : 0;
	/* A robust mutex. */
	return f->expected & word[LOCK] & FUTEX_WAITERS && tid == word[OWNER] ? tid : 0;
}

/*
 * --- shared memory -----------------------------------------------------------------------------
 */

struct place {
	u64 address; /* where to look, or 0 if the file is known */
	u64 device, inode, offset;
};

static int find_address(void *arg, const struct mapping_line *line)
{
	struct place *p = arg;

	if (p->address < line->start || p->address >= line->end)
		return 0;
	if (!line->shared || !line->inode)
		return -1;
	p->device = line->device;
	p->inode = line->inode;
	p->offset = line->offset + (p->address - line->start);
	return 1;
}

static int find_file(void *arg, const struct mapping_line *line)
{
	const struct place *p = arg;

	return line->shared && line->inode == p->inode && line->device == p->device && p->offset >= line->offset &&
	       p->offset - line->offset < line->end - line->start;
}

static bool maps_have(struct snap_waits *w, const struct wait_thread *t, mapping_visit visit, struct place *p)
{
	u64 began = clock_ns(CLOCK_THREAD_CPUTIME_ID), end = began + WAITS_MAPS_NS - w->maps_ns;
	int found;

	if (w->maps_ns >= WAITS_MAPS_NS) {
		w->too_many = true;
		return false;
	}
	found = t->of->relations.seen_pid ? mappings__each_until(t->of->relations.seen_pid, end, visit, p) : 0;
	w->maps_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
	w->too_many |= found == -ETIME;
	return found == 1;
}

static bool shares(struct snap_waits *w, const struct wait_thread *t, const struct wait_thread *owner,
		   const struct futex_wait *f)
{
	struct place p = { .address = f->address };

	if (!t->of->relations.memory || !owner->of->relations.memory)
		return false;
	if (t->of->relations.memory == owner->of->relations.memory)
		return true;
	return !f->private && maps_have(w, t, find_address, &p) && maps_have(w, owner, find_file, &p);
}

/*
 * --- a wait ------------------------------------------------------------------------------------
 */

/* The thread that the waiter joins. The kernel clears this futex when that thread ends. */
static u32 joined(const struct snap_waits *w, const struct wait_thread *t, u64 address)
{
	size_t i = snap_waits__up_to(w, WAITS_BY_CLEAR_TID, address);
	const struct wait_index *index = w->index[WAITS_BY_CLEAR_TID];

	for (; i && index[i - 1].key == address; i--)
		if (w->thread[index[i - 1].thread].of->relations.memory == t->of->relations.memory)
			return index[i - 1].thread;
	return WAITS_NOBODY;
}

static u32 owner_of(struct snap_waits *w, struct wait_thread *t, const struct futex_wait *f)
{
	u32 word[WORDS] = {}, owner;

	if (!may_be_mutex(f) || !snap_waits__read(w, t, f->address, word, sizeof(word)))
		return WAITS_NOBODY;
	owner = snap_waits__by_own_tid(w, t->of, owner_in(f, word));
	if (owner == WAITS_NOBODY || w->thread[owner].of->place == SNAP_ENDED || !shares(w, t, &w->thread[owner], f))
		return WAITS_NOBODY;
	return owner;
}

int snap_waits__of_futex(struct snap_waits *w, struct wait_thread *t)
{
	struct futex_wait f;
	u32 thread;

	if (t->of->place != SNAP_IN_CALL || !snap_thread__is_call(t->of, "futex"))
		return 0;
	decode(&f, t->of);
	thread = joined(w, t, f.address);
	if (thread != WAITS_NOBODY) {
		snap_waits__begin(w, t, WAIT_JOIN, !f.has_timeout);
		return snap_waits__add(w, t, thread, false);
	}
	thread = owner_of(w, t, &f);
	snap_waits__begin(w, t, thread == WAITS_NOBODY ? WAIT_FUTEX : WAIT_MUTEX,
			  thread != WAITS_NOBODY && !f.has_timeout);
	return thread == WAITS_NOBODY ? 0 : snap_waits__add(w, t, thread, false);
}
