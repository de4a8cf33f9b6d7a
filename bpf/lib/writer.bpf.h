/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The writer of an element of a keyed map: this CPU, in this generation. Both are part of each key, so that an element
 * has one writer, and so that the loader can remove elements without losing counts. The loader begins a new generation,
 * waits until no program that may have seen the previous generation is still running (an RCU grace period), and then
 * reads and deletes the elements of the previous one, which no program writes any more (user/agg/elements.h).
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

/* For elements that CPUs share and add to atomically: any CPU, in this generation. */
static __always_inline u32 shared_writer(void)
{
	return *(volatile u32 *)&writer_generation << WRITER_CPU_BITS;
}

#endif /* TALLY_WRITER_BPF_H */
