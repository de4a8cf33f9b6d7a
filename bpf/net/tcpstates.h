/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by tcpstates.bpf.c and tools/net/tcpstates.c. */
#ifndef TALLY_TCPSTATES_H
#define TALLY_TCPSTATES_H

#include "maximum.h"
#include "tcp.h"

/* A key part, in addition to those of connections. */
#define BY_STATE (BY_RPORT << 1)

/* The only system call traced, for bpf/lib/call.bpf.h. */
enum tcpstates_call {
	TCPSTATES_NONE,
	TCPSTATES_ACCEPT,
};

/* A socket and its present state. */
struct tcpstates_socket {
	__u64 since_ns;	      /* CLOCK_MONOTONIC: of the state */
	struct task_key task; /* of the owner; zeros if unknown */
	char comm[TASK_KEY_COMM_LEN];
	__u8 state;	 /* enum of include/net/tcp_states.h */
	__u8 has_owner;	 /* connected, accepted or held by a task */
	__u8 is_wanted;	 /* in scope */
	__u8 is_earlier; /* in the state since before the run: since_ns is its start */
	__u8 pad[4];
};

struct tcpstates_key {
	struct task_key task;
	struct tcp_flow flow;
	__u32 writer;
	__u32 state;
};

struct tcpstates_sums {
	__u64 left; /* sockets that changed to another state */
	__u64 ns;   /* the time of these in this state */
	__u64 now;  /* in the state at the end of the interval; added by the loader */
	struct interval_maximum longest[MAXIMUM_SLOTS];
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

struct tcpstates_element {
	struct tcpstates_key key;
	struct tcpstates_sums sums;
};

_Static_assert(sizeof(struct tcpstates_key) == 96, "tcpstates_key has padding");

#endif /* TALLY_TCPSTATES_H */
