/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TALLY_NETLAT_H
#define TALLY_NETLAT_H

#include "hist.h"
#include "task_key.h"

enum netlat_stage {
	NETLAT_QDISC,           /* from being queued for a device to its driver */
	NETLAT_DEVICE,          /* from the driver until the packet is freed, or arrives at the other end */
	NETLAT_BACKLOG,         /* from the receiving driver to the protocols */
	NETLAT_SOCKET,          /* from the protocols to the first read */
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
	struct hist_slot slot;          /* first; filled in by hist_add_key() */
	struct task_key task;           /* only its CPU */
	struct netlat_parts parts;
};

/* An outgoing packet, by address. */
struct netlat_packet {
	__u64 queued_ns;        /* 0 if not seen */
	__u64 sent_ns;          /* 0 if not yet */
	char device[16];
};

/* An incoming packet, by address. */
struct netlat_arrival {
	__u64 handed_ns;
	__u64 taken_ns;         /* 0 if not yet */
	__u64 head;             /* address of its data; identifies the packet, together with the packet's own address */
	char device[16];
	__u32 is_read;
	__u32 pad;
};

/* Device polls for incoming packets; parts that are not requested are zero. */
struct netlat_poll_key {
	char device[16];        /* empty for a CPU's backlog queue, which has no device */
	__u32 cpu;
	__u32 writer;           /* shared_writer() */
};

struct netlat_poll_sums {
	__u64 polls;
	__u64 packets;
	__u64 full;             /* polls that used up their budget */
};

/* An element of a snapshot. */
struct netlat_poll_element {
	struct netlat_poll_key key;
	struct netlat_poll_sums sums;
};

#endif /* TALLY_NETLAT_H */
