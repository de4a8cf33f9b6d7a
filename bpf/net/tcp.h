/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A TCP connection in reports: filled in by tcp.bpf.h, shown by tools/net/tcp.h. */
#ifndef TALLY_TCP_H
#define TALLY_TCP_H

#include "task_key.h"

struct tcp_flow {
	__u8 local[16];         /* AF_INET uses 4 bytes */
	__u8 remote[16];
	__u16 family;           /* 0 if unknown or not requested */
	__u16 lport;
	__u16 rport;
	__u16 pad;
};

/* The connection properties of --by. Parts that are not requested are zero. */
enum tcp_flow_part {
	BY_LOCAL = 1 << BY_PARTS,
	BY_REMOTE = 2 << BY_PARTS,
	BY_LPORT = 4 << BY_PARTS,
	BY_RPORT = 8 << BY_PARTS,
	BY_FLOW = BY_LOCAL | BY_REMOTE | BY_LPORT | BY_RPORT,
};

_Static_assert(sizeof(struct tcp_flow) == 40, "tcp_flow has padding");

/* --lport, --rport: a connection must match each non-empty list. */
#define TCP_PORTS_MOST 16

struct tcp_ports {
	__u32 nlocal, nremote;
	__u16 local[TCP_PORTS_MOST];
	__u16 remote[TCP_PORTS_MOST];
};

/* Payload bytes of tcpi_bytes_received, in which a FIN counts as one byte. */
static inline __u64 tcp_payload_received(__u64 received, _Bool got_fin)
{
	return received - (got_fin && received);
}

#endif /* TALLY_TCP_H */
