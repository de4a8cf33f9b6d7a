/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Probe's frames (probe.h): the results of compiled functions for an event, and buffers for large frames. */
#ifndef TALLY_PROBE_FRAME_BPF_H
#define TALLY_PROBE_FRAME_BPF_H

#include "compat.bpf.h"
#include "event.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "probe.h"
#include "verdict.bpf.h"

/* --- what each event is asked ---------------------------------------------------------------- */

EVENT_BODY(event_filter, EVENT_FILTER, struct probe_frame)
EVENT_BODY(event_value, EVENT_VALUE, struct probe_frame)
EVENT_BODY(event_key, EVENT_KEY, struct probe_frame)
EVENT_BODY(event_match, EVENT_MATCH, struct probe_frame)

/* Each of these functions returns false after counting the reason. */

static __always_inline bool passes(void *ctx, struct probe_frame *f)
{
	int verdict = event_filter(ctx, f);

	if (verdict < 0)
		count_undecided(verdict);
	if (verdict == 0)
		count_filtered();
	return verdict > 0;
}

static __always_inline bool make_value(void *ctx, struct probe_frame *f)
{
	int verdict = event_value(ctx, f);

	if (verdict < 0)
		count_undecided(verdict);
	if (verdict > 0)
		count_lost(LOSS_NEGATIVE);
	return !verdict;
}

static __always_inline bool make_key(void *ctx, struct probe_frame *f)
{
	int verdict = event_key(ctx, f);

	if (verdict < 0)
		count_undecided(verdict);
	return verdict >= 0;
}

/* *is_shared is set if calls of other functions also end here, so that the end need not have a begin. */
static __always_inline bool make_match(void *ctx, struct probe_frame *f, bool *is_shared)
{
	int verdict = event_match(ctx, f);

	*is_shared = verdict > 0;
	if (verdict < 0)
		count_undecided(verdict);
	return verdict >= 0;
}

/* --- frames in buffers ----------------------------------------------------------------------- */

/*
 * The head of a record or of a begin is written directly before the key, after the head of the frame is no longer
 * needed, so that the kernel gets one contiguous piece of memory.
 */
struct buffer {
	u64 holders;            /* preempt.bpf.h: claim_alone() */
	u64 head;
	struct probe_frame frame;
};
_Static_assert(sizeof(struct probe_record) <= sizeof(u64) + PROBE_HEAD, "no room for a record's");
_Static_assert(sizeof(struct probe_begin) <= PROBE_HEAD, "no room for a begin's");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROBE_FRAMES);
	__type(key, u32);
	__type(value, struct buffer);
} buffers SEC(".maps");

/*
 * Takes a free buffer of this CPU, which the caller must give back. Returns NULL after counting the loss if there is
 * none.
 */
static __always_inline struct probe_frame *take_frame(struct buffer **buffer)
{
	struct buffer *b;
	u32 at, i;

	for (i = 0; i < PROBE_FRAMES; i++) {
		at = i;
		b = bpf_map_lookup_elem(&buffers, &at);
		if (!b || !claim_alone(&b->holders))
			continue;
		*buffer = b;
		return &b->frame;
	}
	count_lost(LOSS_NO_BUFFER);
	return NULL;
}

static __always_inline void give_back(struct buffer *buffer)
{
	give_up_claim(&buffer->holders);
}

#endif /* TALLY_PROBE_FRAME_BPF_H */
