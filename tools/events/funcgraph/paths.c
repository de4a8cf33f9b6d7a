// SPDX-License-Identifier: BSD-2-Clause
#include "events/funcgraph/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "base/array.h"

/*
 * --- from the map ------------------------------------------------------------------------------
 */

static int by_id(const void *a, const void *b)
{
	const struct path *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void add_sums(struct funcgraph_sums *to, const struct funcgraph_sums *from)
{
	to->calls += from->calls;
	to->total_ns += from->total_ns;
	to->self_ns += from->self_ns;
	to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
	to->open += from->open;
	to->open_ns += from->open_ns;
	to->open_self_ns += from->open_self_ns;
}

/* Merges equal ids. */
static void settle(struct paths *p)
{
	size_t i, n = 0;

	if (!p->n)
		return;
	qsort(p->path, p->n, sizeof(*p->path), by_id);
	for (i = 1; i < p->n; i++) {
		if (p->path[i].id == p->path[n].id)
			add_sums(&p->path[n].sums, &p->path[i].sums);
		else
			p->path[++n] = p->path[i];
	}
	p->n = n + 1;
}

/* Appends the elements to the known paths, after resetting the sums of the known ones. */
static int add_elements(struct paths *p, const struct elements *e)
{
	size_t i;

	if (array__grow(&p->path, p->n, e->n + 1, sizeof(*p->path)))
		return -ENOMEM;
	for (i = 0; i < p->n; i++)
		p->path[i].sums = (struct funcgraph_sums){};
	for (i = 0; i < e->n; i++) {
		struct path *new = &p->path[p->n++];
		struct funcgraph_key key;

		memcpy(&key, elements__key(e, i), sizeof(key));
		*new = (struct path){
			.id = funcgraph_path(key.parent, key.function), .caller_id = key.parent,
			.function = key.function,
		};
		memcpy(&new->sums, elements__value(e, i), sizeof(new->sums));
	}
	settle(p);
	return 0;
}

/*
 * --- the tree ----------------------------------------------------------------------------------
 */

static size_t find(const struct paths *p, u64 id)
{
	const struct path key = { .id = id }, *found;

	found = id ? bsearch(&key, p->path, p->n, sizeof(key), by_id) : NULL;
	return found ? (size_t)(found - p->path) : PATH_NONE;
}

static void link_callers(struct paths *p)
{
	size_t i, at;

	for (i = 0; i < p->n; i++)
		p->path[i].caller = find(p, p->path[i].caller_id);
	for (i = 0; i < p->n; i++) {
		p->path[i].depth = 0;
		for (at = p->path[i].caller; at != PATH_NONE && p->path[i].depth < FUNCGRAPH_DEPTH - 1;
		     at = p->path[at].caller)
			p->path[i].depth++;
	}
}

struct place {
	const struct paths *of;
	size_t i;
};

static int deepest_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	u32 left = x->of->path[x->i].depth, right = y->of->path[y->i].depth;

	return left > right ? -1 : left < right;
}

/* Siblings are adjacent, longest first. */
static int by_caller_and_time(const void *a, const void *b)
{
	const struct place *left = a, *right = b;
	const struct path *x = &left->of->path[left->i], *y = &right->of->path[right->i];

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->inclusive != y->inclusive)
		return x->inclusive > y->inclusive ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* Longest first. With equal times, callers precede callees. */
static int by_time(const void *a, const void *b)
{
	const struct place *left = a, *right = b;
	const struct path *x = &left->of->path[left->i], *y = &right->of->path[right->i];

	if (x->inclusive != y->inclusive)
		return x->inclusive > y->inclusive ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return by_id(x, y);
}

static void sort(struct place *place, const struct paths *p, int (*compare)(const void *, const void *))
{
	size_t i;

	for (i = 0; i < p->n; i++)
		place[i] = (struct place){ p, i };
	qsort(place, p->n, sizeof(*place), compare);
}

/* Sums up from callees to callers. */
static void add_up(struct paths *p, const struct place *deepest)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		p->path[i].inclusive = p->path[i].is_seen = 0;
	for (i = 0; i < p->n; i++) {
		struct path *path = &p->path[deepest[i].i];
		const struct funcgraph_sums *s = &path->sums;
		u64 own = s->total_ns + s->open_ns;

		path->inclusive = own > path->inclusive ? own : path->inclusive;
		path->is_seen |= s->calls || s->open;
		if (path->caller == PATH_NONE)
			continue;
		p->path[path->caller].inclusive += path->inclusive;
		p->path[path->caller].is_seen |= path->is_seen;
	}
}

/* The index of a caller's first callee, in the order by caller; PATH_NONE sorts last. */
static size_t first_of(const struct place *place, size_t n, size_t caller)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (place[middle].of->path[place[middle].i].caller < caller)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Limited to FUNCGRAPH_DEPTH, the maximum length of paths. */
static void walk(struct paths *p, const struct place *place, size_t caller, u32 depth)
{
	size_t i;

	for (i = first_of(place, p->n, caller); i < p->n && depth < FUNCGRAPH_DEPTH; i++) {
		const struct path *path = &p->path[place[i].i];

		if (path->caller != caller)
			return;
		if (!path->is_seen)
			continue;
		p->walk[p->nwalk++] = place[i].i;
		walk(p, place, place[i].i, depth + 1);
	}
}

static int make_tree(struct paths *p)
{
	struct place *place = calloc(p->n ?: 1, sizeof(*place));

	p->nwalk = 0;
	if (!place || ARRAY_RESERVE(p->walk, p->walk_room, p->n)) {
		free(place);
		return -ENOMEM;
	}
	link_callers(p);
	sort(place, p, deepest_first);
	add_up(p, place);
	sort(place, p, by_caller_and_time);
	walk(p, place, PATH_NONE, 0);
	free(place);
	return 0;
}

int paths__read(struct paths *p, int map_fd, volatile u32 *generation)
{
	struct elements e = {
		.key_size = sizeof(struct funcgraph_key), .value_size = sizeof(struct funcgraph_sums),
	};
	const struct writer_place writer = {
		.at = offsetof(struct funcgraph_key, writer), .generation = generation, .each_time = true,
	};
	bool anew;
	int err = elements__take(&e, map_fd, &writer, &anew);

	if (!err)
		err = add_elements(p, &e);
	if (!err)
		err = make_tree(p);
	elements__free(&e);
	return err;
}

size_t paths__keep(struct paths *p, size_t most)
{
	struct place *place = most && p->nwalk > most ? calloc(p->n, sizeof(*place)) : NULL;
	size_t i, kept = 0, n = 0;

	if (!place)
		return 0;       /* without memory, no path is left out */
	sort(place, p, by_time);
	for (i = 0; i < p->n; i++) {
		struct path *path = &p->path[place[i].i];

		path->is_seen &= kept < most;
		kept += path->is_seen;
	}
	for (i = 0; i < p->nwalk; i++)
		if (p->path[p->walk[i]].is_seen)
			p->walk[n++] = p->walk[i];
	i = p->nwalk - n;
	p->nwalk = n;
	free(place);
	return i;
}

u32 paths__functions(const struct paths *p, size_t i, u32 function[FUNCGRAPH_DEPTH])
{
	u32 n = p->path[i].depth + 1, left = n;

	for (; i != PATH_NONE && left; i = p->path[i].caller)
		function[--left] = p->path[i].function;
	return n;
}

u64 paths__calls(const struct paths *p)
{
	u64 calls = 0;
	size_t i;

	for (i = 0; i < p->n; i++)
		calls += p->path[i].sums.calls;
	return calls;
}

void paths__free(struct paths *p)
{
	free(p->path);
	free(p->walk);
}
