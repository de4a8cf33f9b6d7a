// SPDX-License-Identifier: BSD-2-Clause
/* Stacks of a pass. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "calls/snap/snap.h"
#include "calls/snap/user_stacks.h"

/* Many threads have the same stack, so it is symbolized only once. */
struct named {
	const struct stack *stack;
	struct stack_path path;
};

/* The threads of a group have one key. Stacks with the same names share one value. */
struct merge {
	struct snap *snap;
	struct report *r;
	struct snap_groups groups;
	struct table by_path;
	struct named *named;
	size_t nnamed;
	struct table by_stack;
	u64 without;            /* threads that are on a CPU or have ended */
	u64 lack_python;        /* threads whose memory could be read, but not all functions of Python */
};

static size_t bytes_of(const struct stack *s)
{
	return (s->kernel + s->user + s->python) * sizeof(*s->frame);
}

static bool same_stack(const void *array, u32 index, const void *key)
{
	const struct stack *a = ((const struct named *)array)[index].stack, *b = key;

	return a->kernel == b->kernel && a->user == b->user && a->python == b->python &&
	       a->kernel_end == b->kernel_end && a->user_end == b->user_end && a->python_end == b->python_end &&
	       a->guessed == b->guessed && a->pid == b->pid &&
	       !memcmp(a->frame, b->frame, bytes_of(a));
}

static int name(struct merge *m, const struct stack *stack, u32 *index)
{
	u64 hash = table_hash(stack->pid, stack->frame, bytes_of(stack));
	s64 known = table__find(&m->by_stack, hash, same_stack, m->named, stack);
	size_t n = m->nnamed;
	int err;

	*index = known >= 0 ? (u32)known : n;
	if (known >= 0)
		return 0;
	if (ARRAY_ROOM(m->named, n))
		return -ENOMEM;
	m->named[n].stack = stack;
	err = stack_names__resolve(&m->snap->stacks.names, stack, m->snap->stacks.kernel, &m->named[n].path);
	if (err)
		return err;
	m->nnamed++;
	return table__add(&m->by_stack, hash, n);
}

static int add_thread(struct merge *m, const struct snap_stack *of)
{
	struct stacks *s = &m->snap->stacks;
	const struct stack *stack = of->stack;
	const struct stack_path *path;
	u32 group, index = 0;
	int err;

	if (!stack) {
		m->without++;
		return 0;
	}
	m->r->events++;
	m->r->counters.lost[LOSS_TRUNCATED] += stack->user_end == STACK_DEEPER ||
					       stack->python_end == PYTHON_DEEPER;
	err = snap_groups__add(&m->groups, of->thread, &group) ?: name(m, stack, &index);
	if (err)
		return err;
	path = &m->named[index].path;
	m->lack_python += path->lacks_python && !of->is_unread;
	stacks__count_doubts(s, path, 1);
	return stacks__add_path(s, m->r, &m->by_path, group, 0, 1, path);
}

static int add_pass(struct merge *m)
{
	struct snap_user_stacks *u = m->snap->user_stacks;
	size_t i;
	int err = snap_user_stacks__take(m->snap);

	for (i = 0; i < u->n && !err; i++)
		err = add_thread(m, &u->item[i]);
	m->r->counters.lost[LOSS_INCOMPLETE] += u->ran + u->unread + u->foreign + m->lack_python;
	m->r->read_ns = m->snap->pass.took_ns;
	return err;
}

static int name_groups(struct merge *m)
{
	static const struct snap_thread nobody = { .state = 'R', .place = SNAP_ON_CPU };
	const struct snap_group none = { .thread = &nobody };
	struct report_stacks *out = m->r->stacks;
	struct report_row row = {};
	int err = 0;

	if (!m->groups.n)
		return report__end_columns(m->r, &row, snap_groups__add_key(&m->groups, &none, &row));
	out->key = calloc(m->groups.n, sizeof(*out->key));
	if (!out->key)
		return -ENOMEM;
	for (; out->nkeys < m->groups.n && !err; out->nkeys++)
		err = snap_groups__add_key(&m->groups, &m->groups.group[out->nkeys], &out->key[out->nkeys]);
	return err;
}

/* Adds a part of the note, unless n is 0. */
static size_t put(struct merge *m, size_t at, u64 n, const char *one, const char *many)
{
	struct snap *s = m->snap;

	if (!n || at >= sizeof(s->without))
		return at;
	m->r->caveat = s->without;
	return at + snprintf(s->without + at, sizeof(s->without) - at, "%s%llu %s", at ? "; " : "", n,
			     n == 1 ? one : many);
}

static void put_without(struct merge *m)
{
	const struct snap_user_stacks *u = m->snap->user_stacks;
	size_t at = put(m, 0, m->without, "more on a CPU or exited: no stack",
			"more on a CPU or exited: no stacks");

	at = put(m, at, u->ran, "ran while its stack was read: no user part",
		 "ran while their stacks were read: no user parts");
	at = put(m, at, u->unread, "has a user stack that could not be read completely",
		 "have user stacks that could not be read completely");
	at = put(m, at, m->lack_python, "has Python functions that could not be read: [python]",
		 "have Python functions that could not be read: [python]");
	put(m, at, u->foreign, "of a 32-bit program: user part not read",
	    "of 32-bit programs: user parts not read");
}

static void merge__free(struct merge *m)
{
	while (m->nnamed)
		stack_path__free(&m->named[--m->nnamed].path);
	free(m->named);
	table__free(&m->by_stack);
	table__free(&m->by_path);
	snap_groups__free(&m->groups);
}

static void describe(struct merge *m)
{
	struct snap *s = m->snap;

	m->r->stacks->frame = s->stacks.names.frame;
	m->r->stacks->nframes = s->stacks.names.n;
	m->r->stacks->unit = "threads";
	m->r->unit = UNIT_COUNT;
	put_without(m);
}

int snap_stacks__report(struct snap *s, struct measurement *measurement, struct report *r)
{
	struct merge m = { .snap = s, .r = r };
	int err;

	r->stacks = calloc(1, sizeof(*r->stacks));
	if (!r->stacks)
		return -ENOMEM;
	stacks__forget_doubts(&s->stacks);
	snap_groups__begin(&m.groups, s, measurement, measurement->cli->by);
	err = add_pass(&m);
	if (!err)
		err = name_groups(&m);
	describe(&m);
	merge__free(&m);
	if (err)
		return err;
	report__sort_stacks(r, measurement->cli->top);
	return stacks__add_notes(&s->stacks, r);
}
