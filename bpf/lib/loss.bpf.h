/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts losses, in one element per CPU. Adds are atomic because the programs of an object interrupt each other. */
#ifndef TALLY_LOSS_BPF_H
#define TALLY_LOSS_BPF_H

#include "compat.bpf.h"
#include "loss.h"

/*
 * The gate, which the loader opens when all programs are attached. Until then programs maintain the state that they
 * will need, but record, filter and lose nothing.
 */
u32 armed = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct loss_counters);
} losses SEC(".maps");

static __noinline int count_lost_many(u32 reason, u64 n)
{
	u32 zero = 0;
	struct loss_counters *c = bpf_map_lookup_elem(&losses, &zero);
	u64 at = reason;

	/* The verifier requires that the compared register is also the one used. */
	barrier_var(at);
	if (at < LOSS_REASONS && c && armed)
		__sync_fetch_and_add(&c->lost[at], n);
	return 0;
}

static __always_inline void count_lost(u32 reason)
{
	count_lost_many(reason, 1);
}

static __noinline int count_filtered(void)
{
	u32 zero = 0;
	struct loss_counters *c = bpf_map_lookup_elem(&losses, &zero);

	if (c && armed)
		__sync_fetch_and_add(&c->filtered, 1);
	return 0;
}

static __noinline int count_unaccounted(void)
{
	u32 zero = 0;
	struct loss_counters *c = bpf_map_lookup_elem(&losses, &zero);

	if (c && armed)
		__sync_fetch_and_add(&c->unaccounted, 1);
	return 0;
}

static __noinline int count_corrected(void)
{
	u32 zero = 0;
	struct loss_counters *c = bpf_map_lookup_elem(&losses, &zero);

	if (c && armed)
		__sync_fetch_and_add(&c->corrected, 1);
	return 0;
}

/*
 * Counts the end of an event that began before the run, so that its begin was not seen. Each tool documents whether it
 * counts such events, and with what time.
 */
static __noinline int count_begun_before(void)
{
	u32 zero = 0;
	struct loss_counters *c = bpf_map_lookup_elem(&losses, &zero);

	if (c && armed)
		__sync_fetch_and_add(&c->begun_before, 1);
	return 0;
}

/* Counts a system call that the kernel did not run (answered.bpf.h). Tools document whether they include it. */
static __noinline int count_answered(void)
{
	u32 zero = 0;
	struct loss_counters *c = bpf_map_lookup_elem(&losses, &zero);

	if (c && armed)
		__sync_fetch_and_add(&c->answered, 1);
	return 0;
}

static __noinline int count_summed(void)
{
	u32 zero = 0;
	struct loss_counters *c = bpf_map_lookup_elem(&losses, &zero);

	if (c && armed)
		__sync_fetch_and_add(&c->summed, 1);
	return 0;
}

/*
 * Counts n events for which a map update created no element: -E2BIG means a full map, any other error a lack of memory.
 * Before 6.4 (commit d7ba4cc900bf) the kernel functions behind the helper return an int, so the upper half of err is
 * undefined.
 */
static __always_inline void count_failed_updates(long err, u64 n)
{
	count_lost_many((int)err == -E2BIG ? LOSS_MAP_FULL : LOSS_NO_MEMORY, n);
}

static __always_inline void count_failed_update(long err)
{
	count_failed_updates(err, 1);
}

#endif /* TALLY_LOSS_BPF_H */
