// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/python_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/sorted.h"
#include "base/table.h"

#include "bpf/lib/python.h"

#define PAGE_BYTES 4096

/* Number of cached pages; a page's number determines its slot. */
#define PAGES 1024

/* Limit on steps through the list of thread states. BPF programs may take only a few: they search it for each stack. */
#define MOST_STATES (1U << 16)

/* Limit on attempts to read the list of thread states while it changes. */
#define SEARCHES 4

/* As in BPF programs: frames beyond the requested ones are examined, to place the outermost run. */
#define MOST_FRAMES (2 * STACK_MOST_DEPTH)

/* Limit on code objects with numbers. */
#define MOST_NUMBERS (1U << 20)

struct page {
	u64 address;
	u64 generation;         /* the generation in which it was read; 0 if never */
	u32 have;               /* bytes that could be read */
	u8 bytes[PAGE_BYTES];
};

/* A thread state. */
struct state {
	u64 thread;             /* pthread_self() */
	u64 frame;              /* or its record, with PYTHON_CFRAMES */
	u32 order;              /* position in the list */
};

struct python_walker {
	struct python_walk walk;
	struct python *python;
	ssize_t (*read)(void *arg, u64 address, void *to, size_t size);
	void *arg;
	const u64 *sp;                          /* stack pointers of the native frames */
	struct stack *to;
	/* Identities of code objects; the number is the index plus 1. */
	u64 *identity;
	size_t n;
	struct table by_identity;
	/* Thread states of all interpreters of the process, by thread, if known. */
	struct state *state;
	size_t nstates;
	enum python_end states_end;             /* PYTHON_NO_STATE if all were read */
	bool knows_states, several;             /* several: has several interpreters */
	u64 generation;                         /* of the pages; incremented to forget them */
	struct python_code code;
	struct page page[PAGES];
};

/* Valid because the walk is the first member. */
static struct python_walker *walker_of(struct python_walk *p)
{
	return (struct python_walker *)p;
}

/*
 * --- memory ------------------------------------------------------------------------------------
 */

void python_walker__forget(struct python_walker *w)
{
	w->generation++;
	w->knows_states = false;
}

static const struct page *find_page(struct python_walker *w, u64 address)
{
	struct page *page = &w->page[address / PAGE_BYTES % PAGES];
	ssize_t n;

	if (page->address == address && page->generation == w->generation)
		return page;
	n = w->read(w->arg, address, page->bytes, PAGE_BYTES);
	page->address = address;
	page->generation = w->generation;
	page->have = n > 0 ? n : 0;
	return page;
}

/* Nothing is mapped below the first page. */
static bool python_read(struct python_walk *p, void *to, u32 size, u64 address)
{
	const struct page *page;
	u32 at, n;

	if (address < PAGE_BYTES || address + size < address)
		return false;
	for (; size; size -= n, address += n, to = (u8 *)to + n) {
		at = address % PAGE_BYTES;
		n = size < PAGE_BYTES - at ? size : PAGE_BYTES - at;
		page = find_page(walker_of(p), address - at);
		if (at + n > page->have)
			return false;
		memcpy(to, page->bytes + at, n);
	}
	return true;
}

/*
 * --- code --------------------------------------------------------------------------------------
 */

static u64 python_process_mix(const struct python_walk *p)
{
	return stack_mix(stack_mix(p->pid, p->process.code), p->process.stack);
}

static u32 python_number(struct python_walk *p, u32 level);
static bool python_put(struct python_walk *p, u64 word);
static void python_end_run(struct python_walk *p, u32 level);

/* Only the verifier needs it. */
#define barrier_var(variable) ((void)(variable))

#include "bpf/lib/python_steps.h"

static bool same_identity(const void *array, u32 index, const void *key)
{
	return ((const u64 *)array)[index] == *(const u64 *)key;
}

/* Returns 0 if there is no room, or if the names cannot be read. */
static u32 take_code(struct python_walker *w)
{
	struct python_code *c = &w->code;
	u32 lines = 0;

	if (w->n == MOST_NUMBERS || ARRAY_ROOM(w->identity, w->n))
		return 0;
	c->number = w->n + 1;
	c->pid = w->walk.pid;
	c->at_ns = monotonic_ns();
	if (!python_fill(&w->walk, c, &lines) ||
	    table__add(&w->by_identity, table_hash(0, &w->walk.identity, sizeof(w->walk.identity)), w->n))
		return 0;
	w->identity[w->n++] = w->walk.identity;
	python__take(w->python, c);
	return c->number;
}

static u32 python_number(struct python_walk *p, u32 level)
{
	struct python_walker *w = walker_of(p);
	s64 known;

	(void)level;
	if (!python_identify(p))
		return 0;
	known = table__find(&w->by_identity, table_hash(0, &p->identity, sizeof(p->identity)), same_identity,
			    w->identity, &p->identity);
	return known >= 0 ? known + 1 : take_code(w);
}

/*
 * --- frames ------------------------------------------------------------------------------------
 */

static bool python_put(struct python_walk *p, u64 word)
{
	walker_of(p)->to->frame[p->base + p->n] = word;
	return true;
}

/*
 * Returns the index of the native frame that contains an address, between its stack pointer and its caller's;
 * p->nnative if there is none, or if it is beyond the last one.
 */
static u32 native_at(struct python_walk *p, u64 address)
{
	const u64 *sp = walker_of(p)->sp;
	size_t behind = sorted_up_to(sp, p->nnative, sizeof(*sp), 0, address);

	return !behind || behind == p->nnative ? p->nnative : behind - 1;
}

static void python_end_run(struct python_walk *p, u32 level)
{
	u64 *word = walker_of(p)->to->frame + p->base + p->n - 1;

	(void)level;
	if (p->run)
		*word = (*word & ~(u64)PYTHON_IN_RUN) | native_at(p, p->entry);
	p->run = 0;
}

static int add_state(struct python_walker *w)
{
	const struct python_layout *at = &w->walk.process.layout;
	const struct state state = {
		.thread = python_member(&w->walk, at->thread_id),
		.frame = python_member(&w->walk, at->thread_frame),
		.order = w->nstates,
	};

	w->several |= w->walk.interpreter != w->walk.first_interpreter;
	return ARRAY_APPEND(w->state, w->nstates, state);
}

/* Returns how the list ends: PYTHON_NO_STATE after the last state of the last interpreter, or an error. */
static enum python_end list_states(struct python_walker *w)
{
	struct python_walk *p = &w->walk;
	u64 before;
	u32 i;

	w->nstates = 0;
	w->several = false;
	if (!python_begin_search(p))
		return p->end;
	/* No thread is searched for, so each step is taken. */
	p->thread = 0;
	for (i = 0; i < MOST_STATES; i++) {
		before = p->state;
		if (!python_step_state(p))
			return p->end;
		if (before && add_state(w))
			return PYTHON_CROWDED;
	}
	return p->end;
}

static int by_thread(const void *a, const void *b)
{
	const struct state *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/*
 * Reads the list again from its begin if it was unreadable: other threads may end during the read, and leave
 * arbitrary data in their states.
 */
static void know_states(struct python_walker *w)
{
	u32 i;

	for (i = 0; i < SEARCHES && !w->knows_states; i++) {
		w->states_end = list_states(w);
		w->knows_states = w->states_end != PYTHON_UNREADABLE;
		if (!w->knows_states)
			python_walker__forget(w);
	}
	w->knows_states = true;
	if (w->nstates)
		qsort(w->state, w->nstates, sizeof(*w->state), by_thread);
}

/* The state of a thread that does not run is in the list from the pass on, so its members may be from the list. */
static bool find_state(struct python_walk *p)
{
	struct python_walker *w = walker_of(p);
	u64 thread = p->thread;
	size_t i;

	know_states(w);
	p->thread = thread;
	p->frame = p->cframe = 0;
	p->end = w->states_end;
	if (p->end != PYTHON_NO_STATE)
		return false;
	i = SORTED_UP_TO(w->state, w->nstates, thread, thread - 1);
	if (i == w->nstates || w->state[i].thread != thread)
		return false;
	if (w->several && i + 1 < w->nstates && w->state[i + 1].thread == thread) {
		p->end = PYTHON_AMBIGUOUS;
		return false;
	}
	p->frame = w->state[i].frame;
	p->end = PYTHON_WHOLE;
	return python_end_search(p, true);
}

void python_walker__walk(struct python_walker *w, u64 thread, const u64 *sp, u32 most, struct stack *to)
{
	const struct python_process *process = python__process(w->python);
	struct python_walk *p = &w->walk;
	u32 i;

	to->python = 0;
	to->python_end = PYTHON_NONE;
	if (!process || !thread)
		return;
	*p = (struct python_walk){
		.process = *process, .thread = thread, .pid = to->pid,
		.base = to->kernel + to->user, .most = most, .nnative = to->user,
	};
	w->sp = sp;
	w->to = to;
	if (find_state(p))
		for (i = 0; i < MOST_FRAMES; i++)
			if (!python_step_frame(p, 0))
				break;
	to->python = p->n;
	to->python_end = p->end;
}

/*
 * --- all of it ---------------------------------------------------------------------------------
 */

int python_walker__new(struct python_walker **walker, struct python *python,
		       ssize_t (*read)(void *arg, u64 address, void *to, size_t size), void *arg)
{
	struct python_walker *w = calloc(1, sizeof(*w));

	*walker = w;
	if (!w)
		return -ENOMEM;
	w->python = python;
	w->read = read;
	w->arg = arg;
	w->generation = 1;
	return 0;
}

void python_walker__free(struct python_walker *w)
{
	if (!w)
		return;
	free(w->identity);
	free(w->state);
	table__free(&w->by_identity);
	free(w);
}
