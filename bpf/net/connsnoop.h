/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records that connsnoop's programs send about connects and accepts. */
#ifndef TALLY_CONNSNOOP_H
#define TALLY_CONNSNOOP_H

#include "socket.h"
#include "stack.h"

enum conn_call {
	CONN_NONE,
	CONN_CONNECT,
	CONN_ACCEPT,
};

/* The socket was closed before its connect completed. */
#define CONN_CLOSED 1

struct conn_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC, time of the result */
	__u64 latency_ns;       /* connect: from call to result; 0 if it began before the run */
	__s32 result;           /* 0, descriptor, -errno or CONN_CLOSED */
	__s32 fd;               /* the descriptor passed to the call */
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u16 protocol;         /* IPPROTO_, for AF_INET and AF_INET6 */
	__u16 type;             /* SOCK_ */
	__u8 call;              /* enum conn_call */
	__u8 padding[7];
	__u8 comm[16];
	struct socket_address local;
	struct socket_address remote;
	struct stack_id stack;  /* stack of the call; zero if not taken */
};

#endif /* TALLY_CONNSNOOP_H */
