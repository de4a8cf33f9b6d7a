// SPDX-License-Identifier: BSD-2-Clause
#include "agg/hist_set.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "agg/wide.h"
#include "base/array.h"

static void totals_add(struct histogram_totals *to, const struct hist_totals *from, bool is_signed)
{
	to->sum += wide_sum(from->sum, from->sum_high, is_signed);
	if (from->max > to->max)
		to->max = from->max;
	if (from->min_inv > to->min_inv)
		to->min_inv = from->min_inv;
}

static int read_whole(struct hist_set *set, const struct hist_maps *maps)
{
	int ncpus = libbpf_num_possible_cpus(), cpu, err;
	struct histogram_totals totals = {};
	struct hist_whole *per_cpu;
	u32 zero = 0, i;
	u64 *sum;

	if (ncpus < 0)
		return ncpus;
	per_cpu = calloc(ncpus + 1, sizeof(*per_cpu));
	set->group = calloc(1, sizeof(*set->group));
	if (!per_cpu || !set->group) {
		err = -ENOMEM;
		goto out;
	}
	set->ngroups = 1;
	sum = per_cpu[ncpus].bucket;
	err = bpf_map_lookup_elem(maps->whole_fd, &zero, per_cpu);
	if (err)
		goto out;
	for (cpu = 0; cpu < ncpus; cpu++) {
		totals_add(&totals, &per_cpu[cpu].totals, maps->is_signed);
		for (i = 0; i < HIST_BUCKETS; i++)
			sum[i] += per_cpu[cpu].bucket[i];
	}
	err = histogram__init(&set->group[0].hist, sum, 0, HIST_BUCKETS, &totals);
out:
	free(per_cpu);
	return err;
}

static const char *order_key(const struct element *o)
{
	return (const char *)elements__key(o->of, o->i) + sizeof(struct hist_slot);
}

static int by_key_then_segment(const void *a, const void *b)
{
	const struct element *x = a, *y = b;
	size_t tail = x->of->key_size - sizeof(struct hist_slot);
	int d = memcmp(order_key(x), order_key(y), tail);
	const struct hist_slot *s, *t;

	if (d)
		return d;
	s = elements__key(x->of, x->i);
	t = elements__key(y->of, y->i);
	return s->segment < t->segment ? -1 : s->segment > t->segment;
}

/* Adds up the segments of one key: order[0..n) differ only in CPU and segment. */
static int add_group(struct hist_group *g, const struct element *order, size_t n, bool is_signed)
{
	u64 dense[HIST_SEGMENTS * HIST_SEGMENT_BUCKETS] = {};
	struct histogram_totals totals = {};
	size_t k;
	u32 b;

	*g = (struct hist_group){};     /* may contain data of a dropped key */
	for (k = 0; k < n; k++) {
		const struct elements *e = order[k].of;
		const struct hist_segment *seg = elements__value(e, order[k].i);
		const struct hist_slot *slot = elements__key(e, order[k].i);

		if (slot->segment >= HIST_SEGMENTS)
			continue;
		totals_add(&totals, &seg->totals, is_signed);
		for (b = 0; b < HIST_SEGMENT_BUCKETS; b++)
			dense[slot->segment * HIST_SEGMENT_BUCKETS + b] += seg->bucket[b];
		if (seg->name_stamp > g->name_stamp) {
			g->name_stamp = seg->name_stamp;
			memcpy(g->name, seg->name, sizeof(g->name));
			g->name[sizeof(g->name) - 1] = 0;
		}
	}
	return histogram__init(&g->hist, dense, 0, HIST_BUCKETS, &totals);
}

static int group_elements(struct hist_set *set, const struct elements *e, struct element *order,
			  bool is_signed)
{
	size_t i, end, tail = set->key_size;
	struct hist_group *g;
	char *key;
	int err;

	for (i = 0; i < e->n; i = end) {
		for (end = i + 1; end < e->n; end++)
			if (memcmp(order_key(&order[i]), order_key(&order[end]), tail))
				break;
		g = &set->group[set->ngroups];
		err = add_group(g, order + i, end - i, is_signed);
		if (err)
			return err;
		if (!g->hist.count)     /* created, but its first value has not been added yet */
			continue;
		key = set->keys + set->ngroups++ * tail;
		memcpy(key, order_key(&order[i]), tail);
		g->key = key;
	}
	return 0;
}

static int read_keyed(struct hist_set *set, const struct hist_maps *maps)
{
	struct elements e = {
		.key_size = maps->key_size, .value_size = sizeof(struct hist_segment),
	};
	const struct writer_place writer = {
		.at = offsetof(struct hist_slot, writer), .generation = maps->generation,
	};
	struct element *order = NULL;
	int err;

	set->key_size = maps->key_size - sizeof(struct hist_slot);
	err = elements__take(&e, maps->keyed_fd, &writer, &set->anew);
	if (err)
		goto out;
	order = elements__sorted(&e, by_key_then_segment);
	set->group = calloc(e.n ?: 1, sizeof(*set->group));
	set->keys = calloc(e.n ?: 1, set->key_size);
	if (!order || !set->group || !set->keys) {
		err = -ENOMEM;
		goto out;
	}
	err = group_elements(set, &e, order, maps->is_signed);
out:
	free(order);
	elements__free(&e);
	return err;
}

int hist_set__read(struct hist_set *set, const struct hist_maps *maps)
{
	struct hist_set new = {};
	int err;

	err = maps->keyed ? read_keyed(&new, maps) : read_whole(&new, maps);
	if (err) {
		hist_set__free(&new);
		return err;
	}
	*set = new;
	return 0;
}

int hist_set__difference(struct hist_set *out, struct hist_set *later,
			 const struct hist_set *earlier)
{
	static const struct histogram none;
	struct hist_set d = { .key_size = later->key_size };
	const struct histogram *before;
	struct hist_group *g;
	size_t i, k = 0;
	char *key;
	int err, order;

	d.group = calloc(later->ngroups ?: 1, sizeof(*d.group));
	d.keys = calloc(later->ngroups ?: 1, d.key_size ?: 1);
	if (!d.group || !d.keys) {
		err = -ENOMEM;
		goto fail;
	}
	for (i = 0; i < later->ngroups; i++) {
		for (order = 1; k < earlier->ngroups; k++) {
			order = d.key_size ? memcmp(earlier->group[k].key, later->group[i].key,
						    d.key_size) : 0;
			if (order >= 0)
				break;
		}
		before = k < earlier->ngroups && !order ? &earlier->group[k].hist : &none;
		g = &d.group[d.ngroups];
		err = histogram__difference(&g->hist, &later->group[i].hist, before);
		if (err)
			goto fail;
		if (!g->hist.count && d.key_size) {
			histogram__free(&g->hist);
			continue;
		}
		memcpy(g->name, later->group[i].name, sizeof(g->name));
		g->name_stamp = later->group[i].name_stamp;
		key = d.keys + d.ngroups++ * d.key_size;
		if (d.key_size)
			g->key = memcpy(key, later->group[i].key, d.key_size);
	}
	*out = d;
	return 0;
fail:
	d.ngroups = later->ngroups;
	hist_set__free(&d);
	return err;
}

static int compare_groups(const void *a, const void *b, void *key_size)
{
	const struct hist_group *x = a, *y = b;

	return memcmp(x->key, y->key, *(const size_t *)key_size);
}

static int add_up(struct hist_group *to, struct hist_group *from)
{
	int err = histogram__add(&to->hist, &from->hist);

	histogram__free(&from->hist);
	if (from->name_stamp > to->name_stamp) {
		to->name_stamp = from->name_stamp;
		memcpy(to->name, from->name, sizeof(to->name));
	}
	return err;
}

int hist_set__regroup(struct hist_set *set, void (*change)(void *context, void *key), void *context)
{
	struct hist_group *g = set->group;
	size_t i, n = 0;
	int err = 0;

	if (!set->key_size || !set->ngroups)
		return 0;
	for (i = 0; i < set->ngroups; i++)
		change(context, (char *)g[i].key);
	qsort_r(g, set->ngroups, sizeof(*g), compare_groups, &set->key_size);
	for (i = 1; i < set->ngroups; i++) {
		if (!compare_groups(&g[n], &g[i], &set->key_size))
			err = add_up(&g[n], &g[i]) ?: err;
		else
			g[++n] = g[i];
	}
	set->ngroups = n + 1;
	return err;
}

static struct hist_group *find_group(const struct hist_set *set, const void *key)
{
	size_t i;

	for (i = 0; i < set->ngroups; i++)
		if (!set->key_size || !memcmp(set->group[i].key, key, set->key_size))
			return &set->group[i];
	return NULL;
}

/* Appends a group. All keys are in one array, so they move when it grows. */
static struct hist_group *append_group(struct hist_set *set, const void *key)
{
	size_t room = 0, i;
	char *keys;

	if (ARRAY_RESERVE(set->group, room, set->ngroups + 1))
		return NULL;
	keys = calloc(set->ngroups + 1, set->key_size ?: 1);
	if (!keys)
		return NULL;
	set->group[set->ngroups] = (struct hist_group){ .key = key };
	for (i = 0; i <= set->ngroups && set->key_size; i++)
		set->group[i].key = memcpy(keys + i * set->key_size, set->group[i].key, set->key_size);
	free(set->keys);
	set->keys = keys;
	return &set->group[set->ngroups++];
}

int hist_set__add(struct hist_set *set, const void *key, u64 value, u64 n)
{
	const struct histogram_totals totals = { .sum = (__int128)value * n, .max = value, .min_inv = ~value };
	struct hist_group *g = find_group(set, key);
	struct histogram h;
	int err;

	if (!n)
		return 0;
	err = histogram__init(&h, &n, hist_index(value), 1, &totals);
	if (err)
		return err;
	g = g ?: append_group(set, key);
	err = g ? histogram__add(&g->hist, &h) : -ENOMEM;
	histogram__free(&h);
	return err;
}

const struct histogram *hist_set__find(const struct hist_set *set, const void *key)
{
	size_t low = 0, high = set->ngroups, middle;
	int d;

	while (low < high) {
		middle = low + (high - low) / 2;
		d = memcmp(key, set->group[middle].key, set->key_size);
		if (!d)
			return &set->group[middle].hist;
		if (d < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

void hist_set__replace(struct hist_set *earlier, struct hist_set *later)
{
	hist_set__free(earlier);
	if (later->anew)
		hist_set__free(later);
	*earlier = *later;
}

void hist_set__free(struct hist_set *set)
{
	size_t i;

	for (i = 0; set->group && i < set->ngroups; i++)
		histogram__free(&set->group[i].hist);
	free(set->group);
	free(set->keys);
	memset(set, 0, sizeof(*set));
}
