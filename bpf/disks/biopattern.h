/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by biopattern.bpf.c and tools/disks/biopattern.c. */
#ifndef TALLY_BIOPATTERN_H
#define TALLY_BIOPATTERN_H

#include "request.h"

struct biopattern_key {
	__u32 disk;
	__u32 op;
};

/* Sums over all CPUs; cumulative since the gate was opened. */
struct biopattern_sums {
	__u64 sequential;       /* requests that begin where the disk's previous one ended */
	__u64 random;
	__u64 sequential_bytes;
	__u64 random_bytes;
};

#endif /* TALLY_BIOPATTERN_H */
