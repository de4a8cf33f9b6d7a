/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What profile.bpf.c and its loader share. */
#ifndef TALLY_PROFILE_H
#define TALLY_PROFILE_H

#include "stack.h"

/* Of a CPU, since the programs were loaded. */
struct profile_samples {
	__u64 taken;            /* samples, whatever became of them */
	__u64 idle;             /* those that found the CPU idle */
	__u64 events;           /* that the program was told of; those of before the gate opened, too */
	__u64 filtered;         /* events whose samples were out of scope */
};

#endif /* TALLY_PROFILE_H */
