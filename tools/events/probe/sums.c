// SPDX-License-Identifier: BSD-2-Clause
#include "events/probe/sums.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "agg/wide.h"

/* State of an entry while elements are added. */
struct total {
	u64 max, min_inv;
	u64 newest;             /* name_stamp of its current name */
};

/* Elements may be shorter than struct probe_sum: see maps->size. */
static void add_element(struct sum_entry *to, struct total *total, const void *element,
			const struct sum_maps *maps)
{
	struct probe_sum whole = {}, *from = &whole;
	size_t i;

	memcpy(from, element, maps->size);
	to->count += from->count;
	to->sum += wide_sum(from->sum, from->sum_high, maps->bias);
	for (i = 0; i < ARRAY_SIZE(to->counter); i++)
		to->counter[i] += from->counter[i];
	if (from->name_stamp > total->newest || !to->name[0]) {
		total->newest = from->name_stamp;
		memcpy(to->name, from->name, sizeof(to->name));
		to->name[sizeof(to->name) - 1] = 0;
	}
	if (from->max > total->max)
		total->max = from->max;
	if (from->min_inv > total->min_inv)
		total->min_inv = from->min_inv;
}

static void finish_entry(struct sum_entry *entry, const struct total *total, u64 bias)
{
	entry->max = total->max ^ bias;
	entry->min = ~total->min_inv ^ bias;
}

/*
 * Adds up the event's elements, using per_cpu, and clears them if they belong to one interval only.
 */
static int take_plain(struct sum_entry *entry, const struct sum_maps *maps, u32 at, char *per_cpu,
		      int ncpus)
{
	struct total total = {};
	int err = bpf_map_lookup_elem(maps->plain_fd, &at, per_cpu), cpu;

	for (cpu = 0; cpu < ncpus && !err; cpu++)
		add_element(entry, &total, per_cpu + cpu * maps->size, maps);
	if (err || !maps->in_turns || !entry->count)
		return err;
	finish_entry(entry, &total, maps->bias);
	memset(per_cpu, 0, (size_t)ncpus * maps->size);
	return bpf_map_update_elem(maps->plain_fd, &at, per_cpu, BPF_ANY);
}

static int read_plain(struct probe_sums *set, const struct sum_maps *maps)
{
	int ncpus = libbpf_num_possible_cpus(), err = 0;
	char *per_cpu;
	u32 i, next = 0;

	if (ncpus < 0)
		return ncpus;
	per_cpu = calloc(ncpus, maps->size);
	set->entry = calloc(maps->nevents ?: 1, sizeof(*set->entry));
	set->anew = maps->in_turns;
	if (!per_cpu || !set->entry)
		err = -ENOMEM;
	if (!err && maps->in_turns)
		err = elements__next_generation(maps->generation, &next);
	for (i = 0; i < maps->nevents && !err; i++) {
		set->entry[i].event = i;
		err = take_plain(&set->entry[i], maps, maps->in_turns ? 2 * i + !(next & 1) : i,
				 per_cpu, ncpus);
		set->n = i + 1;
	}
	free(per_cpu);
	return err;
}

static const char *order_key(const struct element *o)
{
	return (const char *)elements__key(o->of, o->i) + sizeof(struct hist_slot);
}

static int by_key(const void *a, const void *b)
{
	const struct element *x = a, *y = b;

	return memcmp(order_key(x), order_key(y), x->of->key_size - sizeof(struct hist_slot));
}

/* Elements of one key differ only in their CPU. */
static void group_elements(struct probe_sums *set, const struct element *order, size_t n,
			   const struct sum_maps *maps)
{
	struct sum_entry *entry;
	size_t i, k;

	for (i = 0; i < n; i = k) {
		struct total total = {};

		entry = &set->entry[set->n];
		for (k = i; k < n && !by_key(&order[i], &order[k]); k++)
			add_element(entry, &total, elements__value(order[k].of, order[k].i), maps);
		finish_entry(entry, &total, maps->bias);
		if (!entry->count) {    /* the entry was created, but nothing was added yet */
			memset(entry, 0, sizeof(*entry));
			continue;
		}
		entry->key = memcpy(set->keys + set->n++ * set->key_size, order_key(&order[i]),
				    set->key_size);
	}
}

static int read_keyed(struct probe_sums *set, const struct sum_maps *maps)
{
	struct elements e = {
		.key_size = maps->key_size, .value_size = maps->size,
	};
	const struct writer_place writer = {
		.at = offsetof(struct hist_slot, writer), .generation = maps->generation,
		.each_time = maps->in_turns,
	};
	struct element *order = NULL;
	int err;

	set->key_size = maps->key_size - sizeof(struct hist_slot);
	err = elements__take(&e, maps->keyed_fd, &writer, &set->anew);
	if (err)
		goto out;
	order = elements__sorted(&e, by_key);
	set->entry = calloc(e.n ?: 1, sizeof(*set->entry));
	set->keys = calloc(e.n ?: 1, set->key_size);
	if (!order || !set->entry || !set->keys) {
		err = -ENOMEM;
		goto out;
	}
	group_elements(set, order, e.n, maps);
out:
	free(order);
	elements__free(&e);
	return err;
}

int probe_sums__read(struct probe_sums *set, const struct sum_maps *maps)
{
	struct probe_sums new = {};
	int err;

	err = maps->keyed ? read_keyed(&new, maps) : read_plain(&new, maps);
	if (err) {
		probe_sums__free(&new);
		return err;
	}
	*set = new;
	return 0;
}

static int compare_entries(const struct probe_sums *set, const struct sum_entry *a,
			   const struct sum_entry *b)
{
	if (set->key_size)
		return memcmp(a->key, b->key, set->key_size);
	return a->event < b->event ? -1 : a->event > b->event;
}

int probe_sums__difference(struct probe_sums *out, const struct probe_sums *later,
			   const struct probe_sums *earlier)
{
	struct probe_sums d = { .key_size = later->key_size };
	const struct sum_entry *e, *before;
	struct sum_entry *new;
	size_t i, c, k = 0;

	d.entry = calloc(later->n ?: 1, sizeof(*d.entry));
	d.keys = calloc(later->n ?: 1, d.key_size ?: 1);
	if (!d.entry || !d.keys) {
		probe_sums__free(&d);
		return -ENOMEM;
	}
	for (i = 0; i < later->n; i++) {
		e = &later->entry[i];
		while (k < earlier->n && compare_entries(later, &earlier->entry[k], e) < 0)
			k++;
		before = k < earlier->n && !compare_entries(later, &earlier->entry[k], e) ?
				 &earlier->entry[k] : NULL;
		if (e->count == (before ? before->count : 0))
			continue;
		new = &d.entry[d.n];
		*new = *e;
		new->count -= before ? before->count : 0;
		new->sum -= before ? before->sum : 0;
		for (c = 0; before && c < ARRAY_SIZE(new->counter); c++)
			new->counter[c] -= before->counter[c];
		if (d.key_size)
			new->key = memcpy(d.keys + d.n * d.key_size, e->key, d.key_size);
		d.n++;
	}
	*out = d;
	return 0;
}

static int by_bytes(const void *a, const void *b, void *size)
{
	return memcmp(((const struct sum_entry *)a)->key, ((const struct sum_entry *)b)->key, *(size_t *)size);
}

static void add_up(struct sum_entry *to, const struct sum_entry *from, u64 bias)
{
	size_t i;

	to->count += from->count;
	to->sum += from->sum;
	if ((from->max ^ bias) > (to->max ^ bias))
		to->max = from->max;
	if ((from->min ^ bias) < (to->min ^ bias))
		to->min = from->min;
	for (i = 0; i < ARRAY_SIZE(to->counter); i++)
		to->counter[i] += from->counter[i];
	if (!to->name[0])
		memcpy(to->name, from->name, sizeof(to->name));
}

void probe_sums__regroup(struct probe_sums *set, void (*change)(void *context, void *key), void *context, u64 bias)
{
	struct sum_entry *e = set->entry;
	size_t i, n = 0;

	if (!set->key_size || !set->n)
		return;
	for (i = 0; i < set->n; i++)
		change(context, (char *)e[i].key);
	qsort_r(e, set->n, sizeof(*e), by_bytes, &set->key_size);
	for (i = 1; i < set->n; i++) {
		if (!by_bytes(&e[n], &e[i], &set->key_size))
			add_up(&e[n], &e[i], bias);
		else
			e[++n] = e[i];
	}
	set->n = n + 1;
}

void probe_sums__free(struct probe_sums *set)
{
	free(set->entry);
	free(set->keys);
	memset(set, 0, sizeof(*set));
}
