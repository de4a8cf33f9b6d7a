/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records that tcpretrans's programs send about retransmissions, or their sums. */
#ifndef TALLY_TCPRETRANS_H
#define TALLY_TCPRETRANS_H

#include "tcp.h"

enum retrans_why {
	RETRANS_OTHER,
	RETRANS_SYN,            /* connect(2) without an answer so far */
	RETRANS_SYNACK,         /* by a listening socket: the handshake is not complete */
	RETRANS_TIMEOUT,        /* the retransmission timer (RTO), or a consequence of it */
	RETRANS_RECOVERY,       /* the peer reported a gap: fast retransmit */
	RETRANS_PROBE,          /* a tail loss probe: sends the last segment again before the timer expires */
	RETRANS_WHYS,
};

struct retrans_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC */
	struct tcp_flow flow;
	__u32 bytes;            /* without headers */
	__u32 segments;
	__s32 error;            /* of the transmission: -errno or 0 */
	__u32 cpu;
	__u8 why;               /* enum retrans_why */
	__u8 state;             /* TCP_ESTABLISHED, ... */
	__u8 pad[6];
};

struct retrans_key {
	struct tcp_flow flow;
	__u32 writer;           /* shared_writer() */
	__u32 pad;
};

struct retrans_sums {
	__u64 retransmits;
	__u64 segments;
	__u64 bytes;
	__u64 why[RETRANS_WHYS];        /* number of retransmits by enum retrans_why */
};

/* An element: key followed by value (agg/sum_set.h). */
struct retrans_element {
	struct retrans_key key;
	struct retrans_sums sums;
};

_Static_assert(sizeof(struct retrans_key) == 48, "retrans_key has padding");
_Static_assert(sizeof(struct retrans_record) == 72, "retrans_record has padding");

#endif /* TALLY_TCPRETRANS_H */
