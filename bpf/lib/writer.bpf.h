/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who writes an element of a keyed map: this CPU, in this generation. Both are in each key, so that
 * an element has one writer, and so that the loader can take elements out and lose no count: it
 * begins a new generation, waits until no program goes on that could have seen the one before
 * (an RCU grace period), and then reads and deletes what nobody writes any more
 * (user/agg/elements.h).
 */
#ifndef TALLY_WRITER_BPF_H
#define TALLY_WRITER_BPF_H

#include "compat.bpf.h"
#include "writer.h"

u32 writer_generation = 0;

static __always_inline u32 this_writer(void)
{
	return bpf_get_smp_processor_id() |
	       *(volatile u32 *)&writer_generation << WRITER_CPU_BITS;
}

/* Where CPUs share an element, and add to it atomically: any of them, in this generation. */
static __always_inline u32 shared_writer(void)
{
	return *(volatile u32 *)&writer_generation << WRITER_CPU_BITS;
}

#endif /* TALLY_WRITER_BPF_H */
