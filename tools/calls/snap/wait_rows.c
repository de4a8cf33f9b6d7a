// SPDX-License-Identifier: BSD-2-Clause
/* Chains of waits as rows: the thread that others wait for, followed by its waiters. Cycles come first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "calls/snap/waits.h"
#include "cli/order.h"

/* Deeper waits are only counted. */
#define MOST_DEPTH 64

struct chain {
	u32 root; /* the end of the chain, or a thread of its cycle */
	u32 rank; /* deadlocks, other cycles, chains with an end, then waits without a known target */
	u64 threads, ns;
};

struct tree {
	struct snap_waits *w;
	struct report *r;
	size_t room; /* rows left; SIZE_MAX: any number */
	u32 *order;  /* threads with a known target, sorted by target */
	size_t n;
	struct chain *chain;
	size_t nchains;
};

static u64 time_of(const struct snap_waits *w, u32 thread)
{
	u64 ns;

	return snap_pass__time(&w->snap->pass, w->thread[thread].of, &ns) ? ns : 0;
}

static bool is_shown(const struct wait_thread *t)
{
	return !t->moved && !(t->of->flags & SNAP_OUT_OF_SCOPE);
}

/*
 * --- order -------------------------------------------------------------------------------------
 */

/* Threads with equal waits compare equal. */
static int compare_alike(const struct wait_thread *x, const struct wait_thread *y)
{
	if (x->next != y->next)
		return x->next < y->next ? -1 : 1;
	if (x->waiters != y->waiters)
		return x->waiters > y->waiters ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->why != y->why)
		return x->why < y->why ? -1 : 1;
	if (x->of->value[0] != y->of->value[0])
		return x->of->value[0] < y->of->value[0] ? -1 : 1;
	return memcmp(x->of->task.comm, y->of->task.comm, TASK_KEY_COMM_LEN);
}

static int compare_waits(const void *a, const void *b, void *arg)
{
	const struct snap_waits *w = arg;
	u32 x = *(const u32 *)a, y = *(const u32 *)b;
	int alike = compare_alike(&w->thread[x], &w->thread[y]);

	if (alike)
		return alike;
	if (w->thread[x].of->since != w->thread[y].of->since)
		return w->thread[x].of->since < w->thread[y].of->since ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int compare_chains(const void *a, const void *b)
{
	const struct chain *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->threads != y->threads)
		return x->threads > y->threads ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->root < y->root ? -1 : 1;
}

/* The first thread that waits for this one. */
static size_t first_waiter(const struct tree *t, u32 thread)
{
	size_t from = 0, to = t->n, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (t->w->thread[t->order[middle]].next < thread)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

static int add_row(struct tree *t, const struct wait_row *row)
{
	struct report_row out = {};

	if (!t->room) {
		t->r->hidden++;
		return 0;
	}
	t->room -= t->room != SIZE_MAX;
	return report__end_row(t->r, &out, wait_row__fill(t->w, row, &out));
}

/* With --each: the other targets of a wait. */
static int add_others(struct tree *t, struct wait_row row)
{
	const struct wait_thread *of = &t->w->thread[row.thread];
	u32 i, first = row.to;
	int err = 0;

	for (i = 0; i < of->n && t->w->snap->each && !err; i++) {
		row.to = t->w->target[of->first + i].thread;
		if (t->w->thread[row.to].process != t->w->thread[first].process)
			err = add_row(t, &row);
	}
	return err;
}

/*
 * --- chains ------------------------------------------------------------------------------------
 */

/* Counts the threads from this position on that have the same wait as the first, and no waiters. */
static u32 alike_from(const struct tree *t, size_t at)
{
	const struct wait_thread *first = &t->w->thread[t->order[at]], *other;
	u32 n = 1;

	for (; !t->w->snap->each && !first->waiters && at + n < t->n; n++) {
		other = &t->w->thread[t->order[at + n]];
		if (compare_alike(first, other))
			break;
	}
	return n;
}

static int add_waiters(struct tree *t, const struct wait_row *above)
{
	size_t i = first_waiter(t, above->thread);
	struct wait_row row = *above;
	int err = 0;

	row.depth++;
	row.to = above->thread;
	for (; i < t->n && t->w->thread[t->order[i]].next == above->thread && !err; i += row.like) {
		row.thread = t->order[i];
		row.like = alike_from(t, i);
		if (row.depth > MOST_DEPTH) {
			t->r->hidden++;
			continue;
		}
		err = add_row(t, &row) ?: add_others(t, row);
		if (!err)
			err = add_waiters(t, &row);
	}
	return err;
}

static int add_cycle(struct tree *t, struct wait_row row)
{
	u32 first = row.thread;
	int err;

	do {
		row.to = t->w->thread[row.thread].next;
		err = add_row(t, &row) ?: add_waiters(t, &row);
		row.thread = row.to;
	} while (!err && row.thread != first);
	return err;
}

/* Futexes without a known owner come last, and equal waits share a row. */
static int add_unknown(struct tree *t, u32 chain)
{
	struct wait_row row = { .to = WAITS_NOBODY, .rank = RANK_UNKNOWN, .chain = chain };
	size_t i = first_waiter(t, WAITS_NOBODY);
	int err = 0;

	for (; i < t->n && !err; i += row.like) {
		row.thread = t->order[i];
		row.like = alike_from(t, i);
		row.chain++;
		err = add_row(t, &row);
	}
	return err;
}

static int add_chains(struct tree *t)
{
	struct wait_row row;
	size_t i;
	int err = 0;

	for (i = 0; i < t->nchains && !err; i++) {
		row = (struct wait_row){
			.thread = t->chain[i].root,
			.to = WAITS_NOBODY,
			.like = 1,
			.chain = i + 1,
			.rank = t->chain[i].rank,
		};
		err = row.rank <= RANK_CYCLE ? add_cycle(t, row) : add_row(t, &row) ?: add_waiters(t, &row);
	}
	return err || t->w->snap->deadlocks ? err : add_unknown(t, t->nchains);
}

/*
 * --- together ----------------------------------------------------------------------------------
 */

/* The number of threads that a cycle holds up, or 0 if none is in scope. */
static u64 cycle_threads(const struct snap_waits *w, u32 first, u64 *ns)
{
	u64 threads = 0;
	u32 at = first;

	*ns = 0;
	do {
		threads += w->thread[at].waiters + !(w->thread[at].of->flags & SNAP_OUT_OF_SCOPE);
		if (time_of(w, at) > *ns)
			*ns = time_of(w, at);
		at = w->thread[at].next;
	} while (at != first);
	return threads;
}

/* With --deadlocks, most chains are not wanted. */
static bool is_wanted(const struct snap *s, const struct wait_thread *root)
{
	return !s->deadlocks || root->leads_to_server || (s->locks && root->lock_wait_ns);
}

static int find_chain(struct tree *t, u32 i, bool *seen)
{
	const struct wait_thread *of = &t->w->thread[i];
	struct chain chain = { .root = i, .rank = RANK_CHAIN, .threads = of->waiters, .ns = time_of(t->w, i) };

	if (of->cycle) {
		if (seen[of->cycle - 1])
			return 0;
		seen[of->cycle - 1] = true;
		chain.rank = snap_waits__is_deadlock(t->w, of->cycle) ? RANK_DEADLOCK : RANK_CYCLE;
		chain.threads = cycle_threads(t->w, i, &chain.ns);
	} else if (of->next != WAITS_NOBODY || !is_wanted(t->w->snap, of)) {
		return 0;
	}
	return chain.threads ? ARRAY_APPEND(t->chain, t->nchains, chain) : 0;
}

/* --deadlocks and --servers together show only cycles, and chains with a server. */
static void find_servers(struct snap_waits *w)
{
	u32 i, at;

	for (i = 0; i < w->n; i++)
		for (at = i; w->thread[i].server && at != WAITS_NOBODY && !w->thread[at].leads_to_server;
		     at = w->thread[at].next)
			w->thread[at].leads_to_server = true;
}

static int find_chains(struct tree *t)
{
	bool *seen = calloc(t->w->ncycles + 1, sizeof(*seen));
	u32 i;
	int err = seen ? 0 : -ENOMEM;

	find_servers(t->w);
	for (i = 0; i < t->w->n && !err; i++)
		err = find_chain(t, i, seen);
	free(seen);
	if (!err && t->nchains)
		qsort(t->chain, t->nchains, sizeof(*t->chain), compare_chains);
	return err;
}

/* Collects threads with a known target, and threads without one if nobody waits for them. */
static int order_waits(struct tree *t)
{
	const struct wait_thread *of;
	u32 i;

	for (i = 0; i < t->w->n; i++) {
		of = &t->w->thread[i];
		if (!of->why || of->cycle || (!is_shown(of) && !of->waiters) ||
		    (of->next == WAITS_NOBODY && (of->waiters || !is_shown(of))))
			continue;
		if (ARRAY_APPEND(t->order, t->n, i))
			return -ENOMEM;
	}
	if (t->n)
		qsort_r(t->order, t->n, sizeof(*t->order), compare_waits, t->w);
	return 0;
}

static void describe(struct snap_waits *w, struct report *r)
{
	char *to = w->snap->without;
	size_t room = sizeof(w->snap->without);
	int n = 0;

	if (!r->nrows && w->snap->deadlocks)
		n += snprintf(to, room, "no deadlock among mutexes, file locks and waits for children");
	if (!r->nrows && w->snap->servers)
		n += snprintf(to + n, room - n, "%sno wait for a file server", n ? "; " : "");
	if (!r->nrows && w->snap->locks)
		n += snprintf(to + n, room - n, "%sno wait for a lock of the kernel", n ? "; " : "");
	if (w->unread)
		n += snprintf(to + n, room - n, "%s%llu wait%s could not be read", n ? "; " : "", w->unread,
			      w->unread == 1 ? "" : "s");
	if (w->moved && !w->snap->deadlocks && n < (int)room)
		n += snprintf(to + n, room - n, "%s%llu left out: %s ran meanwhile", n ? "; " : "", w->moved,
			      w->moved == 1 ? "it" : "they");
	if (w->too_many && n < (int)room)
		n += snprintf(to + n, room - n, "%stoo many waits: some were not examined", n ? "; " : "");
	if (n)
		r->caveat = to;
}

static int add_columns(struct tree *t)
{
	static const struct snap_thread nobody = { .state = 'R', .place = SNAP_ON_CPU };
	struct wait_thread none = { .of = &nobody };
	struct snap_waits w = { .snap = t->w->snap, .thread = &none, .n = 1 };
	const struct wait_row row = { .to = WAITS_NOBODY, .rank = RANK_UNKNOWN };
	struct report_row out = {};

	return report__end_columns(t->r, &out, wait_row__fill(&w, &row, &out));
}

int snap_waits__report(struct snap_waits *w, struct measurement *m, struct report *r)
{
	size_t top = table_rows(m->cli);
	struct tree t = { .w = w, .r = r, .room = top ?: SIZE_MAX };
	u32 i;
	int err;

	r->table = true;
	for (i = 0; i < w->n; i++)
		r->events += !(w->thread[i].of->flags & SNAP_OUT_OF_SCOPE);
	err = order_waits(&t) ?: find_chains(&t) ?: add_chains(&t);
	describe(w, r);
	if (!err && !r->nrows)
		err = add_columns(&t);
	free(t.order);
	free(t.chain);
	return err;
}
