/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Outstanding allocations, kept by kmem.bpf.c and memleak.bpf.c for tools/memory/outstanding.h. */
#ifndef TALLY_OUTSTANDING_H
#define TALLY_OUTSTANDING_H

#include "stack.h"

/* One allocation. */
struct outstanding_item {
	__u64 bytes;
	__u64 since_ns;         /* CLOCK_MONOTONIC */
	struct stack_id stack;  /* all zero if not taken, or lost */
};

#endif /* TALLY_OUTSTANDING_H */
