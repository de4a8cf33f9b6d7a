/* SPDX-License-Identifier: BSD-2-Clause */
/* Dropped packets (bpf/net/netdrop.h) as text: reason, location and protocol. */
#ifndef TALLY_NET_DROP_H
#define TALLY_NET_DROP_H

#include "base/types.h"
#include "sym/symbols.h"

#define DROP_TEXT_SPACE 256

/*
 * The drop reasons of the running kernel, from its BTF: their numbers differ between versions.
 * Initialise to all zeros. n is 0 if the kernel has none (before 5.17).
 */
struct drop_reasons {
	char **name;            /* names by number, "NO_SOCKET"; name[n] is used for reasons of subsystems */
	u32 n;
	u32 consumed;           /* the number that means no drop, or UINT32_MAX */
	char **subsystem;       /* names of the subsystems, by the upper half of the number */
	u32 nsubsystems;
};

/* Returns 0, even if the kernel has no reasons, or a negative errno. */
int drop_reasons__read(struct drop_reasons *r);
void drop_reasons__free(struct drop_reasons *r);

/* Returns "SOCKET_RCVBUFF", or for subsystems (mac80211, openvswitch) the name and the number: "OPENVSWITCH:3". */
const char *drop_reason_name(const struct drop_reasons *r, u32 reason, char text[DROP_TEXT_SPACE]);

/* Returns "tcp", "udp6", "icmp", "arp", "0x88cc", or "none" if it is not a network packet. */
const char *drop_protocol_name(__u16 ethertype, u8 protocol, char text[DROP_TEXT_SPACE]);

/* Returns "tcp_v4_rcv+0x1a2", "nf_hook_slow+0x90 [nf_tables]". */
const char *drop_location_name(struct symbols *s, u64 location, char text[DROP_TEXT_SPACE]);

#endif /* TALLY_NET_DROP_H */
