// SPDX-License-Identifier: BSD-2-Clause
#include "agg/sum_set.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/iterator.h"

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

static size_t slot_size(const struct sum_layout *l)
{
	return l->timed ? sizeof(struct timed_maximum) : sizeof(struct interval_maximum);
}

static char *slot_of(const struct sum_layout *l, void *element, u32 i)
{
	return (char *)(sums_of(l, element) + l->nsums) + i * slot_size(l);
}

static struct sum_name *name_of(const struct sum_layout *l, void *element)
{
	return (struct sum_name *)slot_of(l, element, l->nmaxima * MAXIMUM_SLOTS);
}

const char *sum_layout__name(const struct sum_layout *l, const void *element)
{
	return l->named ? name_of(l, (void *)element)->name : NULL;
}

static int compare(const void *a, const void *b, void *layout)
{
	return memcmp(a, b, ((const struct sum_layout *)layout)->key_size);
}

/*
 * True if slot replaces `than` as the maximum: its interval is later (then `than` is stale), its value is larger or, if
 * timed, the value is equal and earlier.
 */
static bool is_larger(const struct sum_layout *l, const char *slot, const char *than)
{
	const struct interval_maximum *a = (const void *)slot, *b = (const void *)than;

	if (a->interval != b->interval)
		return a->interval > b->interval;
	if (a->value != b->value || !l->timed)
		return a->value > b->value;
	return ((const struct timed_maximum *)slot)->at_ns < ((const struct timed_maximum *)than)->at_ns;
}

void sum_layout__add_up(const struct sum_layout *l, void *to, const void *element)
{
	void *from = (void *)element;
	u32 i;

	for (i = 0; i < l->nsums; i++)
		sums_of(l, to)[i] += sums_of(l, from)[i];
	for (i = 0; i < l->nmaxima * MAXIMUM_SLOTS; i++)
		if (is_larger(l, slot_of(l, from, i), slot_of(l, to, i)))
			memcpy(slot_of(l, to, i), slot_of(l, from, i), slot_size(l));
	if (l->named && name_of(l, from)->stamp > name_of(l, to)->stamp)
		*name_of(l, to) = *name_of(l, from);
}

/* Sorts the set by key, and adds up elements with equal keys. */
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
			sum_layout__add_up(l, to, from);
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

/* Returns the key size of the map, which may be smaller than the layout's; the rest of the key is zero. */
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

/* Subtracts earlier sums. Returns true if the rest is not zero. */
static bool subtract(const struct sum_layout *l, void *from, void *earlier)
{
	u64 grew = 0;
	u32 i;

	for (i = 0; i < l->nsums; i++) {
		if (earlier)
			sums_of(l, from)[i] -= sums_of(l, earlier)[i];
		if (sums_of(l, from)[i])
			grew |= 1ULL << i;
	}
	if (l->measured && !(grew & l->measured))
		memset(slot_of(l, from, 0), 0, l->nmaxima * MAXIMUM_SLOTS * slot_size(l));
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

int sum_set__insert(struct sum_set *set, const void *elements, size_t n)
{
	size_t size = sum_layout__size(set->layout);

	if (!n)
		return 0;
	if (array__reserve(&set->element, &set->room, set->n + n, size))
		return -ENOMEM;
	memcpy(set->element + set->n * size, elements, n * size);
	set->n += n;
	settle(set);
	return 0;
}

int sum_set__read_elements(struct sum_set *set, int fd)
{
	size_t size = sum_layout__size(set->layout), room = 64 * size, have = 0, whole;
	char *elements = malloc(room);
	int err = elements ? 0 : -ENOMEM;
	ssize_t n = 0;

	/* A read may end in the middle of an element. */
	while (!err && (n = iterator__read(fd, elements + have, room - have)) > 0) {
		have += n;
		whole = have / size;
		err = sum_set__insert(set, elements, whole);
		have %= size;
		memmove(elements, elements + whole * size, have);
	}
	free(elements);
	return err ?: n < 0 ? n : 0;
}

static int take_map(const struct sum_source *source, struct sum_set *set, bool *anew)
{
	const struct sum_layout *l = source->layout;
	struct elements e = { .key_size = key_size_of(source->map_fd, l), .value_size = l->value_size };
	const struct writer_place writer = {
		.at = l->writer_at, .generation = l->writer_at != SUM_NO_WRITER ? source->generation : NULL,
	};
	int err = elements__take(&e, source->map_fd, &writer, anew);

	if (!err)
		err = sum_set__make(set, l, &e);
	elements__free(&e);
	return err;
}

static int add_running(const struct sum_source *source, struct sum_set *set)
{
	int fd = bpf_iter_create(bpf_link__fd(source->running)), err;

	if (fd < 0)
		return fd;
	err = sum_set__read_elements(set, fd);
	close(fd);
	return err;
}

static int copy(struct sum_set *to, const struct sum_set *from)
{
	size_t size = sum_layout__size(from->layout);

	*to = (struct sum_set){ .layout = from->layout, .n = from->n, .element = calloc(from->n ?: 1, size) };
	if (!to->element) {
		to->n = 0;
		return -ENOMEM;
	}
	memcpy(to->element, from->element, from->n * size);
	return 0;
}

void sum_set__raise(struct sum_set *later, const struct sum_set *earlier)
{
	const struct sum_layout *l = later->layout;
	size_t i, k = 0;
	u32 j;

	for (i = 0; i < later->n; i++) {
		char *now = later->element + i * sum_layout__size(l), *then = NULL;
		int order = 1;

		for (; k < earlier->n && order > 0; k += order > 0) {
			then = earlier->element + k * sum_layout__size(l);
			order = compare(now, then, (void *)l);
		}
		for (j = 0; j < l->nsums && !order; j++)
			if (sums_of(l, now)[j] < sums_of(l, then)[j])
				sums_of(l, now)[j] = sums_of(l, then)[j];
	}
}

/*
 * Sets the base of the next interval. If the elements have been removed from the map, the base is the sums that were
 * shown in addition to the elements: operations in progress, and operations that ended during the read.
 */
static int replace_last(struct sum_set *last, struct sum_set *now, const struct sum_set *ended, bool anew)
{
	struct sum_set left = {};
	int err = anew ? sum_set__difference(&left, now, ended) : 0;

	if (err)
		return err;
	sum_set__free(last);
	*last = anew ? left : *now;
	if (!anew)
		*now = (struct sum_set){};
	return 0;
}

int sum_set__since(struct sum_set *out, struct sum_set *last, const struct sum_source *source)
{
	struct sum_set ended = {}, now = {};
	bool anew = false;
	int err = take_map(source, &ended, &anew);

	*out = (struct sum_set){};
	if (!err)
		err = copy(&now, &ended);
	if (!err && source->running)
		err = add_running(source, &now);
	if (!err && source->running)
		sum_set__raise(&now, last);
	if (!err)
		err = sum_set__difference(out, &now, last);
	if (!err)
		err = replace_last(last, &now, &ended, anew);
	if (err)
		sum_set__free(out);
	sum_set__free(&now);
	sum_set__free(&ended);
	return err;
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
