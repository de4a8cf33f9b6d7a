// SPDX-License-Identifier: BSD-2-Clause
#include "profile/functions.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The length of a name without its parameters: "(anonymous namespace)::f(int) const". */
static size_t bare_length(const char *name)
{
	static const char call[] = "operator()";
	const char *p = name;

	for (; *p; p++) {
		if (!strncmp(p, call, strlen(call)))
			p += strlen(call);
		else if (!strncmp(p, "(anonymous namespace)", 21))
			p += 21;
		if (*p == '(' || *p == '@' || !*p)
			break;
	}
	return p - name;
}

bool is_function_named(const char *name, const char *glob)
{
	size_t n;
	char *bare;
	bool is;

	if (!strcmp(name, glob) || !fnmatch(glob, name, 0))
		return true;
	n = bare_length(name);
	if (!n || !name[n])
		return false;
	bare = strndup(name, n);
	is = bare && (!strcmp(bare, glob) || !fnmatch(glob, bare, 0));
	free(bare);
	return is;
}

/*
 * Names are interned per file, so that pointers can be compared. Addresses distinguish functions
 * with the same name, in different files or within one. JIT functions belong to one process.
 */
static bool same_function(const void *array, u32 index, const void *key)
{
	const struct sampled_function *all = array, *a = &all[index], *b = key;

	if (a->symbol.kind != b->symbol.kind || a->symbol.name != b->symbol.name)
		return false;
	if (a->symbol.kind == SYMBOL_JIT)
		return a->pid == b->pid && a->runtime == b->runtime;
	return a->symbol.module_offset - a->symbol.offset ==
	       b->symbol.module_offset - b->symbol.offset;
}

static struct sampled_function *get_function(struct sampled_functions *f, struct table *known,
					     const struct sampled_function *like, const char *glob)
{
	u64 hash = table_hash(like->symbol.kind, &like->symbol.name, sizeof(like->symbol.name));
	s64 i = table__find(known, hash, same_function, f->function, like);

	if (i >= 0)
		return &f->function[i];
	if (ARRAY_ROOM(f->function, f->n))
		return NULL;
	if (table__add(known, hash, f->n))
		return NULL;
	f->function[f->n] = *like;
	f->function[f->n].matches = is_function_named(like->symbol.name, glob);
	return &f->function[f->n++];
}

static int add_place(struct sampled_function *f, u64 offset, u64 count)
{
	return ARRAY_APPEND(f->place, f->nplaces, (struct sampled_place){ offset, count });
}

static int add_sample(struct sampled_functions *f, struct table *known, struct stacks *s,
		      const struct stack_sample *sample, const char *glob)
{
	const struct stack *stack = sample->stack;
	struct sampled_function like = {}, *to;
	int err;

	f->total += sample->count;
	if (!stack || !(stack->kernel + stack->user))
		return 0;
	if (stack->kernel) {
		err = symbols__kernel(s->names.symbols, stack->frame[0], &like.symbol);
	} else {
		like.pid = stack->pid;
		err = symbols__user_at(s->names.symbols, stack->pid, stack->first_ns, stack->frame[0],
				       &like.symbol);
	}
	if (err || !like.symbol.name)
		return err;
	like.runtime = stack->frame[0] - like.symbol.offset;
	to = get_function(f, known, &like, glob);
	if (!to)
		return -ENOMEM;
	to->count += sample->count;
	return to->matches ? add_place(to, like.symbol.offset, sample->count) : 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct sampled_place *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Merges equal offsets, which come from different processes and stacks. */
static void merge_places(struct sampled_function *f)
{
	size_t i, n = 0;

	if (!f->nplaces)
		return;
	qsort(f->place, f->nplaces, sizeof(*f->place), by_offset);
	for (i = 1; i < f->nplaces; i++) {
		if (f->place[i].offset == f->place[n].offset)
			f->place[n].count += f->place[i].count;
		else
			f->place[++n] = f->place[i];
	}
	f->nplaces = n + 1;
}

static int wanted_first(const void *a, const void *b)
{
	const struct sampled_function *x = a, *y = b;

	if (x->matches != y->matches)
		return x->matches ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->symbol.name, y->symbol.name) ?: x->runtime < y->runtime ? -1 : 1;
}

int sampled_functions__find(struct sampled_functions *f, struct stacks *s, const char *glob)
{
	struct table known = {};
	size_t i;
	int err = 0;

	*f = (struct sampled_functions){};
	for (i = 0; i < s->store.nsamples && !err; i++)
		err = add_sample(f, &known, s, &s->store.sample[i], glob);
	table__free(&known);
	if (err) {
		sampled_functions__free(f);
		return err;
	}
	if (f->n)
		qsort(f->function, f->n, sizeof(*f->function), wanted_first);
	for (i = 0; i < f->n; i++)
		merge_places(&f->function[i]);
	return 0;
}

void sampled_functions__free(struct sampled_functions *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		free(f->function[i].place);
	free(f->function);
	*f = (struct sampled_functions){};
}
