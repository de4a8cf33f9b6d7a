/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds values to a histogram (layout: hist.h).
 *
 *   HIST_MAPS(NAME, struct NAME_key)                the key starts with struct hist_slot
 *   hist_add(&NAME, value)                          without keys
 *   hist_add_key(&keyed_NAME, &key.slot, value)     by key
 *
 * Both functions add in place, non-atomically, to memory that only this CPU writes, so the caller's hook must not
 * interrupt itself on one CPU (true of tracepoints that run with interrupts off). Values that cannot be added are
 * counted in losses (loss.bpf.h).
 */
#ifndef TALLY_HIST_BPF_H
#define TALLY_HIST_BPF_H

#include "compat.bpf.h"
#include "element.bpf.h"
#include "hist.h"
#include "loss.bpf.h"
#include "wide.bpf.h"
#include "writer.bpf.h"

/* user/run/measure.h finds the maps by these names; the loader sets the size of the hash. */
#define HIST_MAPS(name, key_type)                                                                                      \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                                               \
		__uint(max_entries, 1);                                                                                \
		__type(key, u32);                                                                                      \
		__type(value, struct hist_whole);                                                                      \
	} name SEC(".maps");                                                                                           \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_HASH);                                                                       \
		__uint(max_entries, 1);                                                                                \
		__type(key, key_type);                                                                                 \
		__type(value, struct hist_segment);                                                                    \
	} keyed_##name SEC(".maps")

static __always_inline void hist_totals_add(struct hist_totals *t, u64 value)
{
	wide_add(&t->sum, &t->sum_high, value, false, true);
	if (value > t->max)
		t->max = value;
	if (~value > t->min_inv)
		t->min_inv = ~value;
}

static __always_inline void hist_add(void *map, u64 value)
{
	struct hist_whole *h;
	u32 zero = 0;
	u64 i;

	h = bpf_map_lookup_elem(map, &zero);
	i = hist_index(value);
	/* The verifier of 5.10 knows the range only of the register that was compared, not of a shifted copy. */
	barrier_var(i);
	if (!h || i >= HIST_BUCKETS) /* never true, which the verifier does not know */
		return;
	hist_totals_add(&h->totals, value);
	h->bucket[i]++;
}

/* Read-only; too large for the 512 bytes of BPF stack. */
static const struct hist_segment hist_empty_segment = {};

/*
 * Adds value under the key that begins with slot. Returns its segment, in which the caller may store a name, or NULL if
 * there is no room; pass *err to count_failed_update().
 */
static __always_inline struct hist_segment *hist_try_key(void *map, struct hist_slot *slot, u64 value, long *err)
{
	u32 i = hist_index(value);
	struct hist_segment *h;

	slot->writer = this_writer();
	slot->segment = i >> HIST_SEGMENT_BITS;
	h = element_try(map, slot, &hist_empty_segment, err);
	if (!h)
		return NULL;
	hist_totals_add(&h->totals, value);
	h->bucket[i & (HIST_SEGMENT_BUCKETS - 1)]++;
	return h;
}

/* As hist_try_key(), but counts a value for which there is no room as lost. */
static __always_inline struct hist_segment *hist_add_key(void *map, struct hist_slot *slot, u64 value)
{
	long err;
	struct hist_segment *h = hist_try_key(map, slot, value, &err);

	if (!h)
		count_failed_update(err);
	return h;
}

#endif /* TALLY_HIST_BPF_H */
