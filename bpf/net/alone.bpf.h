/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For programs that add to histograms (hist.bpf.h) on hooks that run with interrupts on: a program that interrupts
 * another such program on its CPU must not add, and counts LOSS_NO_BUFFER instead. Newer kernels skip a program that
 * interrupts itself, and count this, but not a program that interrupts another.
 *
 *   if (!alone_begin())
 *           return 0;
 *   ...
 *   alone_end();
 *
 * Programs that never add to the same element, because their keys always differ, may interrupt each other: they use
 * alone_begin_of() with another kind, below ALONE_KINDS.
 */
#ifndef TALLY_ALONE_BPF_H
#define TALLY_ALONE_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"

#define ALONE_KINDS 4

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ALONE_KINDS);
	__type(key, u32);
	__type(value, u32);
} alone SEC(".maps");

static __always_inline bool alone_begin_of(u32 kind)
{
	volatile u32 *taken = bpf_map_lookup_elem(&alone, &kind);

	if (!taken)
		return false;
	if (*taken) {
		count_lost(LOSS_NO_BUFFER);
		return false;
	}
	*taken = 1;
	return true;
}

static __always_inline void alone_end_of(u32 kind)
{
	volatile u32 *taken = bpf_map_lookup_elem(&alone, &kind);

	if (taken)
		*taken = 0;
}

static __always_inline bool alone_begin(void)
{
	return alone_begin_of(0);
}

static __always_inline void alone_end(void)
{
	alone_end_of(0);
}

#endif /* TALLY_ALONE_BPF_H */
