// SPDX-License-Identifier: BSD-2-Clause
/* Kernel stacks of a pass. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/snap/snap.h"

/* The threads of a group have one key; stacks that look alike share a value. */
struct merge {
	struct snap *snap;
	struct report *r;
	struct snap_groups groups;
	struct table by_path;
	u64 without;            /* threads on a CPU, and those that have ended */
};

/* The form in which programs of other tools store a stack. */
struct kernel_stack {
	struct stack stack;
	u64 frame[SNAP_FRAMES];
};

static void stack_of(struct kernel_stack *to, const struct snap_thread *t)
{
	*to = (struct kernel_stack){
		.stack.kernel = t->frames,
		.stack.kernel_end = t->frames < SNAP_FRAMES ? STACK_WALKED : STACK_DEEPER,
	};
	memcpy(to->stack.frame, t + 1, t->frames * sizeof(u64));
}

static int add_thread(struct merge *m, const struct snap_thread *t)
{
	struct kernel_stack stack;
	struct stack_path path;
	u32 group;
	int err;

	if (!t->frames || t->frames > SNAP_FRAMES) {
		m->without++;
		return 0;
	}
	m->r->events++;
	stack_of(&stack, t);
	err = snap_groups__add(&m->groups, t, &group);
	if (!err)
		err = stack_names__resolve(&m->snap->stacks.names, &stack.stack, true, &path);
	if (err)
		return err;
	err = stacks__add_path(&m->snap->stacks, m->r, &m->by_path, group, 0, 1, &path);
	stack_path__free(&path);
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

static void describe(struct merge *m)
{
	struct snap *s = m->snap;

	m->r->stacks->frame = s->stacks.names.frame;
	m->r->stacks->nframes = s->stacks.names.n;
	m->r->stacks->unit = "threads";
	m->r->unit = UNIT_COUNT;
	if (!m->without)
		return;
	snprintf(s->without, sizeof(s->without), "%llu more on a CPU or ended: %s no stack", m->without,
		 m->without == 1 ? "it has" : "they have");
	m->r->caveat = s->without;
}

int snap_stacks__report(struct snap *s, struct measurement *measurement, struct report *r)
{
	struct merge m = { .snap = s, .r = r };
	const struct snap_thread *t;
	size_t at = 0;
	int err = 0;

	r->stacks = calloc(1, sizeof(*r->stacks));
	if (!r->stacks)
		return -ENOMEM;
	snap_groups__begin(&m.groups, s, measurement, measurement->cli->by);
	while (!err && (t = snap_pass__next(&s->pass, &at)))
		err = add_thread(&m, t);
	if (!err)
		err = name_groups(&m);
	describe(&m);
	snap_groups__free(&m.groups);
	table__free(&m.by_path);
	if (!err)
		report__sort_stacks(r, measurement->cli->top);
	return err;
}
