// SPDX-License-Identifier: BSD-2-Clause
#include "report/stack_events.h"

#include <errno.h>
#include <stdlib.h>

/* Copies the key without its first field, the event. */
static struct report_row rest_of(const struct report_row *key)
{
	struct report_row rest = *key;

	if (rest.ncells) {
		rest.cell++;
		rest.ncells--;
	}
	return rest;
}

int stack_events__one(struct report *one, const struct report *r, size_t event)
{
	const struct report_stacks *all = r->stacks;
	const struct report_event *e = &all->event[event];
	struct report_stacks *s = malloc(sizeof(*s));
	size_t i;

	*one = *r;
	one->stacks = s;
	if (!s)
		return -ENOMEM;
	*s = *all;
	s->event = NULL;
	s->nevents = 0;
	s->unit = e->unit;
	s->type = e->name;
	s->period = e->period;
	s->total = e->total;
	s->n = 0;
	s->stack = calloc(all->n ?: 1, sizeof(*s->stack));
	s->key = calloc(all->nkeys ?: 1, sizeof(*s->key));
	if (!s->stack || !s->key)
		return -ENOMEM;
	for (i = 0; i < all->nkeys; i++)
		s->key[i] = rest_of(&all->key[i]);
	for (i = 0; i < all->n; i++)
		if (all->stack[i].event == event)
			s->stack[s->n++] = all->stack[i];
	one->value = e->name;
	one->events = e->total;
	one->chosen = e->chosen;
	one->left_out = e->left_out;
	return 0;
}

void stack_events__free(struct report *one)
{
	if (!one->stacks)
		return;
	free(one->stacks->stack);
	free(one->stacks->key);
	free(one->stacks);
	one->stacks = NULL;
}
