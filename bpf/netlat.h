/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TALLY_NETLAT_H
#define TALLY_NETLAT_H

#include "hist.h"
#include "task_key.h"

enum netlat_stage {
	NETLAT_QDISC,           /* from being queued for a device to being handed to its driver */
	NETLAT_DEVICE,          /* from there until it is freed, or has come in at the other end */
	NETLAT_STAGES,
};

enum netlat_part {
	BY_STAGE = 1 << BY_PARTS,
	BY_DEVICE = 2 << BY_PARTS,
};

struct netlat_parts {
	char device[16];
	__u32 stage;            /* enum netlat_stage */
	__u32 pad;
};

struct netlat_key {
	struct hist_slot slot;          /* first: hist_add_key() fills it */
	struct task_key task;           /* of it, the CPU only */
	struct netlat_parts parts;
};

/* A packet on its way out, by address. */
struct netlat_packet {
	__u64 queued_ns;        /* 0: not seen */
	__u64 sent_ns;          /* 0: not yet */
	char device[16];
};

#endif /* TALLY_NETLAT_H */
