/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of connections in tcptop's programs, and the records that they send. */
#ifndef TALLY_TCPTOP_H
#define TALLY_TCPTOP_H

#include "task_key.h"
#include "tcp.h"

/* The only system call traced, for bpf/lib/call.bpf.h. */
enum tcptop_call {
	TCPTOP_NONE,
	TCPTOP_ACCEPT,
};

/* The process that owns a connection: the requested key parts, and its name. */
struct tcptop_owner {
	struct task_key task;
	char name[TASK_KEY_COMM_LEN];
};

/* Keyed by the address of the socket, which is not reused before the connection ends. */
struct tcptop_connection {
	__u64 serial;           /* CLOCK_MONOTONIC, in ns: distinguishes connections that reuse a socket */
	__u64 sent, received;   /* bytes transferred before the connection was found, which do not count */
	struct tcptop_owner owner;
	__u32 pid;              /* of the owner; 0 if unknown or not yet accepted */
	__u32 seen;             /* number of the last walk over all files that found the owner holding the socket */
	__u8 wanted;            /* in scope */
	__u8 pad[7];
};

/* Bytes transferred since the connection was found. Read from a current connection, or sent at its end. */
struct tcptop_record {
	__u64 socket, serial;   /* together identify the connection */
	__u64 sent, received;
	struct tcptop_owner owner;
	struct tcp_flow flow;
};

/* A batch of connections: the loader passes sockets and receives a record for each. */
#define TCPTOP_LOOK 64

struct tcptop_look {
	__u64 n;
	__u64 socket[TCPTOP_LOOK];
	struct tcptop_record record[TCPTOP_LOOK];       /* socket is 0 if it no longer exists or was not requested */
};

_Static_assert(sizeof(struct tcptop_connection) == 104, "tcptop_connection has padding");
_Static_assert(sizeof(struct tcptop_record) == 136, "tcptop_record has padding");

#endif /* TALLY_TCPTOP_H */
