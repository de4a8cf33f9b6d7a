// SPDX-License-Identifier: BSD-2-Clause
#include "agg/sum_set.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The part of a named element after its sums. */
struct sum_name {
	u64 stamp;
	char name[SUM_NAME_LEN];
};

static size_t value_at(const struct sum_layout *l)
{
	return (l->key_size + 7) & ~(size_t)7;
}

size_t sum_layout__size(const struct sum_layout *l)
{
	return value_at(l) + l->value_size;
}

const u64 *sum_layout__sums(const struct sum_layout *l, const void *element)
{
	return (const u64 *)((const char *)element + value_at(l));
}

static u64 *sums_of(const struct sum_layout *l, void *element)
{
	return (u64 *)((char *)element + value_at(l));
}

static struct interval_maximum *slots_of(const struct sum_layout *l, void *element)
{
	return (struct interval_maximum *)(sums_of(l, element) + l->nsums);
}

static struct sum_name *name_of(const struct sum_layout *l, void *element)
{
	return (struct sum_name *)(slots_of(l, element) + l->nmaxima * MAXIMUM_SLOTS);
}

const char *sum_layout__name(const struct sum_layout *l, const void *element)
{
	return l->named ? name_of(l, (void *)element)->name : NULL;
}

static int compare(const void *a, const void *b, void *layout)
{
	return memcmp(a, b, ((const struct sum_layout *)layout)->key_size);
}

/* Slots of one interval: the larger. A slot of an earlier interval is left over from it. */
static void take_larger(struct interval_maximum *to, const struct interval_maximum *from)
{
	if (from->interval > to->interval || (from->interval == to->interval && from->value > to->value))
		*to = *from;
}

static void add_up(const struct sum_layout *l, void *to, void *from)
{
	u32 i;

	for (i = 0; i < l->nsums; i++)
		sums_of(l, to)[i] += sums_of(l, from)[i];
	for (i = 0; i < l->nmaxima * MAXIMUM_SLOTS; i++)
		take_larger(&slots_of(l, to)[i], &slots_of(l, from)[i]);
	if (l->named && name_of(l, from)->stamp > name_of(l, to)->stamp)
		*name_of(l, to) = *name_of(l, from);
}

/* Sorts by key and adds up equal keys. */
static void settle(struct sum_set *set)
{
	const struct sum_layout *l = set->layout;
	char *to = set->element;
	size_t size, i;

	if (!set->n)
		return;
	size = sum_layout__size(l);
	qsort_r(set->element, set->n, size, compare, (void *)l);
	for (i = 1; i < set->n; i++) {
		char *from = set->element + i * size;

		if (!compare(to, from, (void *)l))
			add_up(l, to, from);
		else if ((to += size) != from)
			memcpy(to, from, size);
	}
	set->n = (to - set->element) / size + 1;
}

int sum_set__make(struct sum_set *set, const struct sum_layout *layout, const struct elements *e)
{
	size_t i, size = sum_layout__size(layout);

	*set = (struct sum_set){ .layout = layout };
	set->element = calloc(e->n ?: 1, size);
	if (!set->element)
		return -ENOMEM;
	for (i = 0; i < e->n; i++) {
		char *to = set->element + i * size;

		memcpy(to, elements__key(e, i), e->key_size);
		if (layout->writer_at != SUM_NO_WRITER)
			memset(to + layout->writer_at, 0, sizeof(u32));
		memcpy(sums_of(layout, to), elements__value(e, i), layout->value_size);
	}
	set->n = e->n;
	settle(set);
	return 0;
}

/* The map's keys may be shorter: the rest is zero. */
static size_t key_size_of(int map_fd, const struct sum_layout *layout)
{
	struct bpf_map_info info = {};
	u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(map_fd, &info, &size) || info.key_size > layout->key_size)
		return layout->key_size;
	return info.key_size;
}

int sum_set__read(struct sum_set *set, const struct sum_layout *layout, int map_fd)
{
	struct elements e = { .key_size = key_size_of(map_fd, layout), .value_size = layout->value_size };
	int err = elements__read(&e, map_fd);

	*set = (struct sum_set){};
	if (!err)
		err = sum_set__make(set, layout, &e);
	elements__free(&e);
	return err;
}

/* Subtracts earlier sums. Returns whether anything is left. */
static bool subtract(const struct sum_layout *l, void *from, void *earlier)
{
	bool grew = false;
	u32 i;

	for (i = 0; i < l->nsums; i++) {
		if (earlier)
			sums_of(l, from)[i] -= sums_of(l, earlier)[i];
		grew |= sums_of(l, from)[i] != 0;
	}
	return grew;
}

int sum_set__difference(struct sum_set *out, const struct sum_set *later,
			const struct sum_set *earlier)
{
	const struct sum_layout *l = later->layout;
	size_t size = l ? sum_layout__size(l) : 1, i, k = 0;
	int order;

	*out = (struct sum_set){ .layout = l };
	out->element = calloc(later->n ?: 1, size);
	if (!out->element)
		return -ENOMEM;
	for (i = 0; i < later->n; i++) {
		char *to = out->element + out->n * size;

		memcpy(to, later->element + i * size, size);
		for (order = 1; k < earlier->n; k++) {
			order = compare(earlier->element + k * size, to, (void *)l);
			if (order >= 0)
				break;
		}
		if (subtract(l, to, order ? NULL : earlier->element + k * size))
			out->n++;
	}
	return 0;
}

int sum_set__since(struct sum_set *out, struct sum_set *last, const struct sum_layout *layout,
		   int map_fd, volatile u32 *generation)
{
	struct elements e = { .key_size = key_size_of(map_fd, layout), .value_size = layout->value_size };
	bool has_writer = layout->writer_at != SUM_NO_WRITER, anew;
	const struct writer_place writer = {
		.at = layout->writer_at, .generation = has_writer ? generation : NULL,
	};
	struct sum_set now = {};
	int err = elements__take(&e, map_fd, &writer, &anew);

	*out = (struct sum_set){};
	if (!err)
		err = sum_set__make(&now, layout, &e);
	elements__free(&e);
	if (!err)
		err = sum_set__difference(out, &now, last);
	if (err) {
		sum_set__free(&now);
		return err;
	}
	sum_set__free(last);
	if (anew)
		sum_set__free(&now);
	*last = now;
	return 0;
}

int sum_set__insert(struct sum_set *set, const void *elements, size_t n)
{
	size_t size = sum_layout__size(set->layout);
	char *larger;

	if (!n)
		return 0;
	larger = realloc(set->element, (set->n + n) * size);
	if (!larger)
		return -ENOMEM;
	memcpy(larger + set->n * size, elements, n * size);
	set->element = larger;
	set->n += n;
	settle(set);
	return 0;
}

void sum_set__regroup(struct sum_set *set, void (*change)(void *context, void *key), void *context)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		change(context, set->element + i * sum_layout__size(set->layout));
	settle(set);
}

const void *sum_set__at(const struct sum_set *set, size_t i)
{
	return set->element + i * sum_layout__size(set->layout);
}

void sum_set__free(struct sum_set *set)
{
	free(set->element);
	*set = (struct sum_set){};
}
