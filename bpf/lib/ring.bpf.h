/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ring buffer that single events leave by, one to a tool. The loader's half is
 * user/run/ring.h. What finds no room is counted (LOSS_RING_FULL).
 */
#ifndef TALLY_RING_BPF_H
#define TALLY_RING_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"

/* Kernel ABI (include/uapi/linux/bpf.h). */
#define BPF_RB_NO_WAKEUP 1
#define BPF_RB_FORCE_WAKEUP 2
#define BPF_RB_AVAIL_DATA 0

/* The reader is woken when so many bytes wait for it. It looks by itself now and then, too. */
const volatile u64 wake_bytes = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);      /* set by the loader */
} records SEC(".maps");

/*
 * A reader woken for each record would be switched to for each one: costly, and with the scheduler's
 * events an event more each. It is woken where the buffer fills up, and has a timer for the rest.
 */
static __always_inline u64 ring_wakeup(void)
{
	return bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) >= wake_bytes ? BPF_RB_FORCE_WAKEUP :
									     BPF_RB_NO_WAKEUP;
}

/* A zeroed record to be filled in and submitted; NULL when there is no room. */
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

/* Copies a record of any size from memory of the program: for those that end in a text. */
static __always_inline void ring_output(void *record, u64 size)
{
	if (bpf_ringbuf_output(&records, record, size, ring_wakeup()))
		count_lost(LOSS_RING_FULL);
}

/* The same for a name of something that is counted with or without it. */
static __always_inline void ring_output_name(void *record, u64 size)
{
	if (bpf_ringbuf_output(&records, record, size, ring_wakeup()))
		count_lost(LOSS_INCOMPLETE);
}

#endif /* TALLY_RING_BPF_H */
