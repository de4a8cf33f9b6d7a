/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ring buffer for single events, one per tool. The loader's side is user/run/ring.h. Records that do not fit are
 * counted (LOSS_RING_FULL).
 */
#ifndef TALLY_RING_BPF_H
#define TALLY_RING_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"

/* Kernel ABI (include/uapi/linux/bpf.h). */
#define BPF_RB_NO_WAKEUP 1
#define BPF_RB_FORCE_WAKEUP 2
#define BPF_RB_AVAIL_DATA 0

/* Wake the reader when this many bytes are unread. The reader also polls on a timer. */
const volatile u64 wake_bytes = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);      /* set by the loader */
} records SEC(".maps");

/*
 * Waking the reader for each record would cost a context switch each, and another event each when tracing the
 * scheduler. So programs wake the reader only when the buffer fills up; otherwise its timer suffices.
 */
static __always_inline u64 ring_wakeup(void)
{
	return bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) >= wake_bytes ? BPF_RB_FORCE_WAKEUP :
									     BPF_RB_NO_WAKEUP;
}

/* A zeroed record to fill in and submit; NULL if there is no room. */
#define ring_reserve(type)                                                                         \
	({                                                                                         \
		type *_record = bpf_ringbuf_reserve(&records, sizeof(type), 0);                    \
                                                                                                   \
		if (_record)                                                                       \
			__builtin_memset(_record, 0, sizeof(type));                                \
		else                                                                               \
			count_lost(LOSS_RING_FULL);                                                \
		_record;                                                                           \
	})

static __always_inline void ring_submit(void *record)
{
	bpf_ringbuf_submit(record, ring_wakeup());
}

/*
 * Copies a record of variable size (ending in a string) from the program's memory. Returns false if there is no room.
 */
static __always_inline bool ring_output(void *record, u64 size)
{
	bool has_room = !bpf_ringbuf_output(&records, record, size, ring_wakeup());

	if (!has_room)
		count_lost(LOSS_RING_FULL);
	return has_room;
}

/* As ring_output(), for a name: its event still counts without it. */
static __always_inline void ring_output_name(void *record, u64 size)
{
	if (bpf_ringbuf_output(&records, record, size, ring_wakeup()))
		count_lost(LOSS_INCOMPLETE);
}

#endif /* TALLY_RING_BPF_H */
