/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of probe (probe.h): what the compiled functions make of an event, and the buffers of
 * those that do not fit on a stack.
 */
#ifndef TALLY_PROBE_FRAME_BPF_H
#define TALLY_PROBE_FRAME_BPF_H

#include "compat.bpf.h"
#include "event.bpf.h"
#include "loss.bpf.h"
#include "probe.h"

/* --- what each event is asked ---------------------------------------------------------------- */

EVENT_BODY(event_filter, EVENT_FILTER, struct probe_frame)
EVENT_BODY(event_value, EVENT_VALUE, struct probe_frame)
EVENT_BODY(event_key, EVENT_KEY, struct probe_frame)
EVENT_BODY(event_match, EVENT_MATCH, struct probe_frame)

/* Those that are false have counted why. */

static __always_inline bool passes(void *ctx, struct probe_frame *f)
{
	int verdict = event_filter(ctx, f);

	if (verdict < 0)
		count_lost(LOSS_READ_FAULT);
	if (verdict == 0)
		count_filtered();
	return verdict > 0;
}

static __always_inline bool make_value(void *ctx, struct probe_frame *f)
{
	int verdict = event_value(ctx, f);

	if (verdict)
		count_lost(verdict < 0 ? LOSS_READ_FAULT : LOSS_NEGATIVE);
	return !verdict;
}

static __always_inline bool make_key(void *ctx, struct probe_frame *f)
{
	if (event_key(ctx, f) >= 0)
		return true;
	count_lost(LOSS_READ_FAULT);
	return false;
}

static __always_inline bool make_match(void *ctx, struct probe_frame *f)
{
	if (event_match(ctx, f) >= 0)
		return true;
	count_lost(LOSS_READ_FAULT);
	return false;
}

/* --- frames in buffers ----------------------------------------------------------------------- */

/*
 * What a record or a begin has in front of the key is written there when the head of the frame is
 * no longer needed: so one piece of memory is what the kernel is given.
 */
struct buffer {
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

/* A bit for each of a CPU's buffers that is in use. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} buffers_used SEC(".maps");

struct lease {
	u64 *used;
	u64 bit;
};

/*
 * The first buffer that is free. Whoever interrupts has given back its own when this goes on, so
 * that looking and taking need not be one step. Atomic adds cancel out whatever happens.
 */
static __always_inline struct probe_frame *take_frame(struct lease *lease)
{
	struct buffer *buffer;
	u32 i = 0;

	lease->used = bpf_map_lookup_elem(&buffers_used, &i);
	if (!lease->used)
		return NULL;
	lease->bit = ~*lease->used & ((1 << PROBE_FRAMES) - 1);
	lease->bit &= -lease->bit;
	_Static_assert(PROBE_FRAMES == 4, "the next line is for bits 0 to 3");
	i = (lease->bit >> 1) - (lease->bit >> 3);
	buffer = lease->bit ? bpf_map_lookup_elem(&buffers, &i) : NULL;
	if (!buffer) {
		count_lost(LOSS_NO_BUFFER);
		return NULL;
	}
	__sync_fetch_and_add(lease->used, lease->bit);
	return &buffer->frame;
}

static __always_inline void give_back(const struct lease *lease)
{
	__sync_fetch_and_add(lease->used, -lease->bit);
}

#endif /* TALLY_PROBE_FRAME_BPF_H */
