/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by tcpbacklog.bpf.c and tools/net/tcpbacklog.c. */
#ifndef TALLY_TCPBACKLOG_H
#define TALLY_TCPBACKLOG_H

#include "maximum.h"
#include "tcp.h"

/* The only system call traced, for bpf/lib/call.bpf.h. */
enum tcpbacklog_call {
	TCPBACKLOG_NONE,
	TCPBACKLOG_ACCEPT,
};

/* A connection in the accept queue. */
struct backlog_waiting {
	__u64 since_ns;	      /* CLOCK_MONOTONIC */
	__u32 queue;	      /* connections in the queue, with this one */
	__u32 backlog;	      /* limit of the queue: listen(2) and net.core.somaxconn */
	struct tcp_flow flow; /* the parts of --by, once the handshake has ended */
	__u8 is_queued;	      /* the handshake has ended */
	__u8 is_earlier;      /* in the queue since before the run: since_ns is its start */
	__u8 is_owned;	      /* accepted, but accept(2) has not returned it yet */
	__u8 pad[5];
};

/* Connections from before the run are added in steps of so many. */
#define BACKLOG_STEP 64

/* A request of the loader: add the next connections of this listener. */
struct backlog_walk {
	__u64 listener; /* address of its socket */
	__u64 request;	/* address of the next request_sock; 0: the first, or none is left */
};

struct backlog_key {
	struct task_key task; /* of the task that accepted; zeros if nobody did */
	struct tcp_flow flow;
	__u32 writer;
	__u32 pad;
};

struct backlog_sums {
	__u64 accepted;
	__u64 ns;
	__u64 closed;  /* by a reset or with the listener, before they were accepted */
	__u64 waiting; /* at the end of the interval; added by the loader */
	struct interval_maximum wait[MAXIMUM_SLOTS];
	struct interval_maximum queue[MAXIMUM_SLOTS];
	struct interval_maximum backlog[MAXIMUM_SLOTS];
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

struct backlog_element {
	struct backlog_key key;
	struct backlog_sums sums;
};

_Static_assert(sizeof(struct backlog_waiting) == 64, "backlog_waiting has padding");
_Static_assert(sizeof(struct backlog_key) == 96, "backlog_key has padding");

#endif /* TALLY_TCPBACKLOG_H */
