/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The number of the current interval, set by the loader. */
#ifndef TALLY_MAXIMUM_BPF_H
#define TALLY_MAXIMUM_BPF_H

#include "maximum.h"

u64 interval = 1;

static __always_inline void maximum_keep_in(struct interval_maximum *m, u64 number, u64 value)
{
	if (m->interval == number && m->value >= value)
		return;
	m->interval = number;
	m->value = value;
}

/* For elements with one writer. */
static __always_inline void maximum_keep(struct interval_maximum m[MAXIMUM_SLOTS], u64 value)
{
	u64 number = *(volatile u64 *)&interval;

	/* The verifier of 5.10 cannot handle a variable index into an array of two. */
	if (number & 1)
		maximum_keep_in(&m[1], number, value);
	else
		maximum_keep_in(&m[0], number, value);
}

static __always_inline void timed_maximum_keep_in(struct timed_maximum *m, u64 number, u64 value)
{
	if (m->interval == number && m->value >= value)
		return;
	m->interval = number;
	m->value = value;
	m->at_ns = bpf_ktime_get_ns();
}

static __always_inline void timed_maximum_keep(struct timed_maximum m[MAXIMUM_SLOTS], u64 value)
{
	u64 number = *(volatile u64 *)&interval;

	if (number & 1)
		timed_maximum_keep_in(&m[1], number, value);
	else
		timed_maximum_keep_in(&m[0], number, value);
}

#endif /* TALLY_MAXIMUM_BPF_H */
