/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The headers of IP packets. */
#ifndef TALLY_PACKET_BPF_H
#define TALLY_PACKET_BPF_H

#include "compat.bpf.h"

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define IPPROTO_UDP 17

/* IPv6 headers between the IPv6 header and that of the protocol (RFC 8200; authentication: RFC 4302). */
#define EXTENSION_HOP_BY_HOP 0
#define EXTENSION_ROUTING 43
#define EXTENSION_FRAGMENT 44
#define EXTENSION_AUTHENTICATION 51
#define EXTENSION_DESTINATION 60
#define MOST_EXTENSIONS 8

/* Sets *protocol. Returns the length of the IP header at p, or 0 if the next header is not in this packet. */
static __always_inline u32 behind_ipv4(const unsigned char *p, u8 *protocol)
{
	u8 head[10] = {};

	if (bpf_probe_read_kernel(head, sizeof(head), p) || head[0] >> 4 != 4)
		return 0;
	*protocol = head[9];
	/* Only the first fragment has ports. */
	return (head[6] & 0x1f) | head[7] ? 0 : (head[0] & 0xf) * 4;
}

static __always_inline bool is_extension(u8 kind)
{
	return kind == EXTENSION_HOP_BY_HOP || kind == EXTENSION_ROUTING || kind == EXTENSION_FRAGMENT ||
	       kind == EXTENSION_AUTHENTICATION || kind == EXTENSION_DESTINATION;
}

static __always_inline u32 extension_length(u8 kind, u8 length)
{
	if (kind == EXTENSION_FRAGMENT)
		return 8;
	return kind == EXTENSION_AUTHENTICATION ? (length + 2) * 4 : (length + 1) * 8;
}

/* Skips extension headers, each of which begins with the kind of the next one. */
static __always_inline u32 behind_ipv6(const unsigned char *p, u8 *protocol)
{
	u32 at = 40, i;
	u8 head[7] = {}, next[4];

	if (bpf_probe_read_kernel(head, sizeof(head), p) || head[0] >> 4 != 6)
		return 0;
	*protocol = head[6];
#pragma unroll
	for (i = 0; i < MOST_EXTENSIONS; i++) {
		if (!is_extension(*protocol))
			return at;
		if (bpf_probe_read_kernel(next, sizeof(next), p + at))
			return 0;
		at += extension_length(*protocol, next[1]);
		/* Only the first fragment has ports. */
		if (*protocol == EXTENSION_FRAGMENT && (next[2] | (next[3] & 0xf8))) {
			*protocol = next[0];
			return 0;
		}
		*protocol = next[0];
	}
	return is_extension(*protocol) ? 0 : at;
}

#endif /* TALLY_PACKET_BPF_H */
