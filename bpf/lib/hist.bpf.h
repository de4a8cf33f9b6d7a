/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adding a value to a histogram (layout and reasons: hist.h).
 *
 *   HIST_MAPS(NAME, struct NAME_key), which starts with struct hist_slot
 *   hist_add(&NAME, value)                          the whole
 *   hist_add_key(&keyed_NAME, &key.slot, value)     by key
 *
 * Both are plain in-place adds on memory that only this CPU writes: the caller's hook must not be
 * able to interrupt itself on one CPU (true of tracepoints that run with interrupts off).
 * What cannot be added is counted in losses (loss.bpf.h).
 */
#ifndef TALLY_HIST_BPF_H
#define TALLY_HIST_BPF_H

#include "compat.bpf.h"
#include "hist.h"
#include "loss.bpf.h"
#include "wide.bpf.h"
#include "writer.bpf.h"

/* What user/run/measure.h finds by these names; the loader sizes the hash. */
#define HIST_MAPS(name, key_type)                                                                  \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                           \
		__uint(max_entries, 1);                                                            \
		__type(key, u32);                                                                  \
		__type(value, struct hist_whole);                                                  \
	} name SEC(".maps");                                                                       \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, 1);                                                            \
		__type(key, key_type);                                                             \
		__type(value, struct hist_segment);                                                \
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
	/* 5.10 knows the range of the very register that is compared, not of one shifted since. */
	barrier_var(i);
	if (!h || i >= HIST_BUCKETS) /* neither happens; the verifier cannot know */
		return;
	hist_totals_add(&h->totals, value);
	h->bucket[i]++;
}

/* Too large for the 512 bytes of BPF stack; only ever read. */
static const struct hist_segment hist_empty_segment = {};

/*
 * Adds value under the key that slot is the head of. Returns the segment it went to, so that
 * the caller can leave a name there, or NULL if it was lost (and counted).
 */
static __always_inline struct hist_segment *hist_add_key(void *map, struct hist_slot *slot,
							 u64 value)
{
	u32 i = hist_index(value);
	struct hist_segment *h;
	long err;

	slot->writer = this_writer();
	slot->segment = i >> HIST_SEGMENT_BITS;
	h = bpf_map_lookup_elem(map, slot);
	if (!h) {
		err = bpf_map_update_elem(map, slot, &hist_empty_segment, BPF_NOEXIST);
		if (err) {
			count_failed_update(err);
			return NULL;
		}
		h = bpf_map_lookup_elem(map, slot);
		if (!h) {
			count_lost(LOSS_NO_MEMORY);
			return NULL;
		}
	}
	hist_totals_add(&h->totals, value);
	h->bucket[i & (HIST_SEGMENT_BUCKETS - 1)]++;
	return h;
}

#endif /* TALLY_HIST_BPF_H */
