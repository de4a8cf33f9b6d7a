/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What profile.bpf.c and tools/profile.c share. */
#ifndef TALLY_PROFILE_H
#define TALLY_PROFILE_H

#include "stack.h"

/* Of a CPU, since the programs were loaded: samples taken, whatever became of them. */
struct profile_samples {
	__u64 taken;
	__u64 idle;             /* those that found the CPU idle */
};

#endif /* TALLY_PROFILE_H */
