// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#include "bpf/calls/why.h"

/*
 * --- records -----------------------------------------------------------------------------------
 */

static u32 most_of(const struct path *p)
{
	return p->most ?: PATH_MOST;
}

static bool same_thread(const void *array, u32 index, const void *key)
{
	const struct path_thread *thread = array;

	return thread[index].tid == *(const u32 *)key;
}

static struct path_thread *find_thread(const struct path *p, u32 tid)
{
	s64 at = table__find(&p->threads, table_hash(0, &tid, sizeof(tid)), same_thread, p->thread, &tid);

	return at < 0 ? NULL : &p->thread[at];
}

static struct path_thread *thread_of(struct path *p, u32 tid)
{
	struct path_thread *thread = find_thread(p, tid);

	if (thread)
		return thread;
	if (ARRAY_APPEND(p->thread, p->nthreads, (struct path_thread){ .tid = tid }))
		return NULL;
	if (table__add(&p->threads, table_hash(0, &tid, sizeof(tid)), p->nthreads - 1))
		return NULL;
	return &p->thread[p->nthreads - 1];
}

static bool same_name(const void *array, u32 index, const void *key)
{
	const char(*name)[TASK_KEY_COMM_LEN] = array;

	return !strncmp(name[index], key, TASK_KEY_COMM_LEN);
}

static int add_name(struct path *p, const char *comm, u64 hash)
{
	int err = ARRAY_ROOM(p->name, p->nnames);

	if (err)
		return err;
	memset(p->name[p->nnames], 0, TASK_KEY_COMM_LEN);
	memcpy(p->name[p->nnames++], comm, strnlen(comm, TASK_KEY_COMM_LEN - 1));
	return table__add(&p->names, hash, p->nnames - 1);
}

static int name_of(struct path *p, const char *comm, u32 *name)
{
	u64 hash = table_hash(0, comm, strnlen(comm, TASK_KEY_COMM_LEN));
	s64 at;
	int err = p->nnames ? 0 : add_name(p, "", table_hash(0, "", 0));

	if (err)
		return err;
	at = table__find(&p->names, hash, same_name, p->name, comm);
	if (at < 0 && p->nnames < PATH_MOST_NAMES) {
		err = add_name(p, comm, hash);
		at = p->nnames - 1;
	}
	*name = err || at < 0 ? 0 : at;
	return err;
}

const char *path__name(const struct path *p, u32 name)
{
	return name < p->nnames ? p->name[name] : "";
}

/* Sets the names of the thread and of an outside waker, and the thread's name from this record on. */
static int name_node(struct path *p, struct path_thread *thread, struct path_node *node, const char *comm)
{
	u32 name = 0;
	int err = name_of(p, comm, &name);

	if (node->kind == WHYPATH_BIRTH || node->kind == WHYPATH_NAME || node->kind == WHYPATH_END)
		thread->name = name;
	else if (WHYPATH_BY(node->code) == WHYPATH_BY_OUTSIDE)
		node->waker_name = name;
	node->name = thread->name;
	return err;
}

/* Orders the times of a record, because the clocks of two CPUs may differ. */
static void order_times(struct path_node *node)
{
	if (node->until < node->since)
		node->until = node->since;
	if (node->woken && node->woken < node->since)
		node->woken = node->since;
	if (node->woken > node->until)
		node->woken = node->until;
}

/* Notes the end of the path's thread. Threads of a process may end while the first one continues. */
static void look_for_end(struct path *p, const struct whypath_record *r)
{
	if (r->kind == WHYPATH_END && (p->end_pid ? r->waker == p->end_pid : r->tid == p->end_tid)) {
		p->end_tid = r->tid;
		p->end_ns = r->since;
	} else if (r->kind == WHYPATH_OPEN && p->end_pid && r->tid == p->end_pid) {
		p->end_tid = 0;
		p->end_ns = 0;
	}
}

int path__take(struct path *p, const struct whypath_record *r)
{
	struct path_node node = {
		.since = r->since,
		.woken = r->woken,
		.until = r->until ?: UINT64_MAX,
		.waker = r->waker,
		.number = r->number,
		.slot = r->slot,
		.phase = r->phase,
		.code = r->code,
		.kind = r->kind,
	};
	struct path_thread *thread = thread_of(p, r->tid);
	int err = thread ? name_node(p, thread, &node, r->comm) : -ENOMEM;

	if (!err && p->n < most_of(p))
		err = array__grow(&p->node, p->n, 1, sizeof(*p->node));
	if (err)
		return err;
	order_times(&node);
	node.thread = thread - p->thread;
	p->node[p->n++ % most_of(p)] = node;
	p->dropped = p->n > most_of(p) ? p->n - most_of(p) : 0;
	look_for_end(p, r);
	return 0;
}

/*
 * --- by thread ---------------------------------------------------------------------------------
 */

static u32 place_of(const struct path *p, u64 i)
{
	return (p->dropped + i) % most_of(p);
}

static int add_span(struct path *p, const struct path_node *node)
{
	const struct path_span span = { .began = node->since,
					.ended = node->until,
					.tid = p->thread[node->thread].tid };

	return ARRAY_APPEND(p->span, p->nspans, span);
}

/* Counts the records of each thread, and stores the spans. */
static int count_nodes(struct path *p, u64 n)
{
	struct path_node *node;
	int err = 0;
	u64 i;

	for (i = 0; i < n && !err; i++) {
		node = &p->node[place_of(p, i)];
		if (node->kind == WHYPATH_SPAN)
			err = add_span(p, node);
		else
			p->thread[node->thread].n++;
	}
	return err;
}

int path__index(struct path *p)
{
	u64 n = p->n - p->dropped, i;
	struct path_thread *thread;
	u32 first = 0;
	int err;

	p->order = calloc(n + 1, sizeof(*p->order));
	err = p->order ? count_nodes(p, n) : -ENOMEM;
	if (err)
		return err;
	for (i = 0; i < p->nthreads; i++) {
		thread = &p->thread[i];
		thread->first = first;
		first += thread->n;
	}
	for (i = 0; i < n; i++) {
		thread = &p->thread[p->node[place_of(p, i)].thread];
		if (p->node[place_of(p, i)].kind != WHYPATH_SPAN)
			p->order[thread->first + thread->left++] = place_of(p, i);
	}
	return 0;
}

/*
 * --- the walk ----------------------------------------------------------------------------------
 */

struct walk {
	struct path *p;
	u64 at;			    /* everything from this time on has its links */
	u64 floor;		    /* limit of the walk: the begin of the path, or of the wait that is explained */
	struct path_thread *thread; /* the thread whose time before `at` comes next */
	u32 name;		    /* name of the thread */
	bool in_span;
};

/* Adds a link from this time to w->at, and moves w->at back to it. */
static int add_link(struct walk *w, struct path_link link, u64 from)
{
	struct path *p = w->p;
	int err;

	if (from < w->floor)
		from = w->floor;
	if (from >= w->at)
		return 0;
	link.from = from;
	link.until = w->at;
	link.tid = w->thread->tid;
	link.name = w->name;
	link.is_other = p->nplaces;
	err = ARRAY_APPEND(p->link, p->nlinks, link);
	if (err)
		return err;
	w->at = from;
	p->nthreads_linked += !w->thread->linked;
	w->thread->linked = true;
	return 0;
}

static int add_what(struct walk *w, enum path_what what, u64 from)
{
	return add_link(w, (struct path_link){ .what = what }, from);
}

/* The time from which on the record determines what the thread does: for an open record, its begin. */
static u64 settled_at(const struct path_node *node)
{
	return node->kind == WHYPATH_OPEN ? node->since : node->until;
}

/* Returns NULL if there is no such record. */
static struct path_node *node_of(const struct path *p, const struct path_thread *thread, u32 i)
{
	return i < thread->n ? &p->node[p->order[thread->first + i]] : NULL;
}

/* The thread's last record that has ended by w->at. */
static struct path_node *next_node(struct walk *w)
{
	struct path_node *node;

	while ((node = node_of(w->p, w->thread, w->thread->left - 1)) && settled_at(node) > w->at)
		w->thread->left--;
	return node;
}

/* Finds the position of the walk in the records of a thread, which a span may end anywhere. */
static void seek(struct walk *w)
{
	u32 low = 0, high = w->thread->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (settled_at(node_of(w->p, w->thread, middle)) <= w->at)
			low = middle + 1;
		else
			high = middle;
	}
	w->thread->left = low;
}

/* Saves the thread, which the walk resumes after explaining its wait, which began at `since`. */
static int keep_place(struct walk *w, u64 since)
{
	struct path *p = w->p;
	const struct path_place place = {
		.thread = w->thread, .left = w->thread->left, .name = w->name, .until = w->floor
	};
	int err = ARRAY_APPEND(p->place, p->nplaces, place);

	if (!err && since > w->floor)
		w->floor = since;
	return err;
}

static void go_back(struct walk *w)
{
	const struct path_place *place = &w->p->place[--w->p->nplaces];

	w->thread = place->thread;
	w->thread->left = place->left;
	w->name = place->name;
	w->floor = place->until;
}

/*
 * Continues the path with the thread that ended this wait. Without records of that thread, its activity is unknown.
 * Returns 1, 0 if the path cannot continue there, or -ENOMEM.
 */
static int follow(struct walk *w, const struct path_node *node, u64 since)
{
	struct path_thread *thread = find_thread(w->p, node->waker), *before = w->thread;
	int err = 0;

	if (!thread || (w->in_span && (w->p->nplaces == PATH_LEVELS || since >= w->at)))
		return 0;
	if (w->in_span)
		err = keep_place(w, since);
	w->thread = thread;
	if (w->in_span)
		seek(w);
	if (err || next_node(w))
		return err ?: 1;
	w->thread = before;
	if (w->in_span)
		go_back(w);
	return 0;
}

static struct path_link wait_link(const struct path_node *node)
{
	return (struct path_link){
		.what = PATH_WAIT,
		.phase = node->phase,
		.slot = node->slot,
		.file = WHYPATH_FILE(node->code),
		.by = WHYPATH_BY(node->code),
		.waker_name = node->waker_name,
	};
}

static bool is_runnable(u32 phase)
{
	return phase == WHY_WOKEN || phase == WHY_PREEMPTED || phase == WHY_THROTTLED;
}

/* Explains the part of a wait before its wakeup. If no thread in scope created a thread, its past is unknown. */
static int explain_wait(struct walk *w, const struct path_node *node)
{
	u64 since = node->kind == WHYPATH_BIRTH ? w->floor : node->since;
	int followed;

	if (WHYPATH_BY(node->code) != WHYPATH_BY_THREAD)
		return node->kind == WHYPATH_BIRTH ? add_what(w, PATH_HOLE, since) :
						     add_link(w, wait_link(node), since);
	followed = follow(w, node, since);
	if (followed)
		return followed < 0 ? followed : 0;
	return add_what(w, PATH_HOLE, since);
}

/* Takes a wait, from its end to its begin. */
static int take_wait(struct walk *w, const struct path_node *node)
{
	struct path_link for_cpu = { .what = PATH_FOR_CPU, .phase = WHY_WOKEN };
	int err = 0;

	if (is_runnable(node->phase)) {
		for_cpu.phase = node->phase;
		return add_link(w, for_cpu, node->since);
	}
	if (node->woken)
		err = add_link(w, for_cpu, node->woken);
	if (err || w->at <= w->floor)
		return err;
	return explain_wait(w, node);
}

static int take_node(struct walk *w, const struct path_node *node)
{
	switch (node->kind) {
	case WHYPATH_WAIT:
	case WHYPATH_BIRTH:
		return take_wait(w, node);
	case WHYPATH_HOLE:
		return add_what(w, PATH_HOLE, node->since);
	case WHYPATH_OPEN:
		return node->phase == WHY_ON_CPU || node->phase == WHY_UNKNOWN ? 0 : take_wait(w, node);
	default:
		return 0;
	}
}

/* Whether a record between this one and the next one is missing. */
static bool is_torn(const struct walk *w, const struct path_node *node)
{
	const struct path_node *after = node_of(w->p, w->thread, w->thread->left);

	return after && after->number && node->number + 1 != after->number;
}

/* Goes one step back: adds the time on a CPU until w->at, and takes the record before it. */
static int step(struct walk *w)
{
	struct path_node *node = next_node(w);
	enum path_what what = PATH_ON_CPU;
	int err;

	if (!node)
		return add_what(w, PATH_HOLE, w->floor);
	if (is_torn(w, node))
		what = PATH_HOLE;
	w->name = node->name;
	w->thread->left--;
	err = add_what(w, what, node->kind == WHYPATH_OPEN ? w->at : node->until);
	return err ?: take_node(w, node);
}

static int walk(struct walk *w)
{
	struct path *p = w->p;
	int err = 0;

	p->nlinks = p->nplaces = 0;
	while (!err && (p->nplaces || w->at > w->floor))
		if (w->at > w->floor)
			err = step(w);
		else
			go_back(w);
	return err;
}

int path__walk(struct path *p, u32 tid, u64 began_ns, u64 end_ns)
{
	struct walk w = { .p = p, .floor = began_ns, .at = end_ns, .thread = thread_of(p, tid) };
	size_t i;

	if (!w.thread)
		return -ENOMEM;
	for (i = 0; i < p->nthreads; i++)
		p->thread[i].left = p->thread[i].n;
	return walk(&w);
}

int path__walk_span(struct path *p, const struct path_span *span)
{
	struct walk w = {
		.p = p, .floor = span->began, .at = span->ended, .thread = thread_of(p, span->tid), .in_span = true
	};

	if (!w.thread)
		return -ENOMEM;
	seek(&w);
	return walk(&w);
}

void path__free(struct path *p)
{
	free(p->node);
	free(p->thread);
	table__free(&p->threads);
	free(p->name);
	table__free(&p->names);
	free(p->link);
	free(p->order);
	free(p->span);
	free(p->place);
}
