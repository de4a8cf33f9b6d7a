/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records that tcplife's program sends about completed sessions, and the state that it keeps of current sessions. */
#ifndef TALLY_TCPLIFE_H
#define TALLY_TCPLIFE_H

#include "tcp.h"

/* The only system call traced, for bpf/lib/call.bpf.h. */
enum tcplife_call {
	TCPLIFE_NONE,
	TCPLIFE_ACCEPT,
};

enum tcplife_role {
	TCPLIFE_UNKNOWN,        /* not accepted, or older than the run */
	TCPLIFE_CONNECT,
	TCPLIFE_ACCEPTED,
};

/* The owner of a session: the task that connected or accepted it, else the holder at the start of the run. */
struct tcplife_owner {
	__u32 pid;              /* 0 if unknown */
	__u32 tid;
	__u8 comm[16];
};

struct tcplife_session {
	__u64 start_ns;         /* CLOCK_MONOTONIC; 0 if before the run */
	struct tcplife_owner owner;
	__u8 role;              /* enum tcplife_role */
	__u8 wanted;            /* in scope */
	__u8 established;
	__u8 pad[5];
};

struct tcplife_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC, at the end */
	__u64 start_ns;         /* CLOCK_MONOTONIC; 0 if before the run */
	struct tcplife_owner owner;
	struct tcp_flow flow;
	__u64 received;         /* the kernel's counts: tcpi_bytes_received, acked, sent, retrans */
	__u64 acked;
	__u64 sent;
	__u64 resent;
	__u32 retransmits;      /* segments */
	__u32 srtt_us;          /* 0 if not measured */
	__u32 min_rtt_us;       /* UINT32_MAX if not measured */
	__u32 cpu;
	__u32 error;            /* error of the socket: ECONNRESET, ETIMEDOUT; 0 if none */
	__u8 role;
	__u8 got_fin;           /* received includes one byte for the FIN */
	__u8 pad[2];
};

_Static_assert(sizeof(struct tcplife_session) == 40, "tcplife_session has padding");
_Static_assert(sizeof(struct tcplife_record) == 136, "tcplife_record has padding");

#endif /* TALLY_TCPLIFE_H */
