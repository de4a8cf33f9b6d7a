/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TALLY_NETLAT_H
#define TALLY_NETLAT_H

#include "hist.h"
#include "task_key.h"

enum netlat_stage {
	NETLAT_QDISC,           /* from being queued for a device to being handed to its driver */
	NETLAT_DEVICE,          /* from there until it is freed, or comes in at the other end */
	NETLAT_BACKLOG,         /* from a driver's hand-over until the protocols take it up */
	NETLAT_SOCKET,          /* from there until it is first read */
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

/* A packet that has come in, by address. */
struct netlat_arrival {
	__u64 handed_ns;
	__u64 taken_ns;         /* 0: not yet */
	__u64 head;             /* where its data is: with the address, what it is known by */
	char device[16];
	__u32 is_read;
	__u32 pad;
};

/* Polls of devices for packets that have come in; parts that are not asked for are zero. */
struct netlat_poll_key {
	char device[16];        /* empty: the queue of a CPU (backlog), which belongs to none */
	__u32 cpu;
	__u32 writer;           /* shared_writer() */
};

struct netlat_poll_sums {
	__u64 polls;
	__u64 packets;
	__u64 full;             /* of the polls, those that used up their budget */
};

/* As a snapshot has it. */
struct netlat_poll_element {
	struct netlat_poll_key key;
	struct netlat_poll_sums sums;
};

#endif /* TALLY_NETLAT_H */
