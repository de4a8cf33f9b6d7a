/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tcptop's programs keep of a connection, and tell of it. */
#ifndef TALLY_TCPTOP_H
#define TALLY_TCPTOP_H

#include "task_key.h"
#include "tcp.h"

/* The one system call that is looked at, for bpf/lib/call.bpf.h. */
enum tcptop_call {
	TCPTOP_NONE,
	TCPTOP_ACCEPT,
};

/* The process that a connection belongs to: the parts of its key that are asked for, and its name. */
struct tcptop_owner {
	struct task_key task;
	char name[TASK_KEY_COMM_LEN];
};

/* By the address of its socket, which is not used again before the connection has ended. */
struct tcptop_connection {
	__u64 serial;           /* CLOCK_MONOTONIC, in ns: tells it from another one with this socket */
	__u64 sent, received;   /* bytes that were not seen going: what it had when it was found */
	struct tcptop_owner owner;
	__u32 pid;              /* of the owner; 0: not known, nobody has accepted it yet */
	__u32 seen;             /* the last walk over all files that found its owner holding it */
	__u8 wanted;            /* in scope */
	__u8 pad[7];
};

/* What it has moved since it was found. Read from one that is there, or sent when it ends. */
struct tcptop_record {
	__u64 socket, serial;   /* together: which one */
	__u64 sent, received;
	struct tcptop_owner owner;
	struct tcp_flow flow;
};

_Static_assert(sizeof(struct tcptop_connection) == 104, "tcptop_connection has padding");
_Static_assert(sizeof(struct tcptop_record) == 136, "tcptop_record has padding");

#endif /* TALLY_TCPTOP_H */
