/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by biosnoop.bpf.c and tools/disks/biosnoop.c. */
#ifndef TALLY_BIOSNOOP_H
#define TALLY_BIOSNOOP_H

#include "request.h"

/* A completed request; members as in struct request_state. */
struct biosnoop_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC, at completion */
	__u64 queue_ns;
	__u64 device_ns;
	__u64 sector;
	__u32 bytes;
	__u32 disk;
	__u32 pid, tid;
	__u32 cpu;
	__s32 error;
	__u8 op;
	__u8 flags;
	__u8 pad[6];
	char comm[TASK_KEY_COMM_LEN];
};

_Static_assert(sizeof(struct biosnoop_record) == 80, "biosnoop_record has padding");

#endif /* TALLY_BIOSNOOP_H */
