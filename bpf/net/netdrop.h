/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The key by which netdrop's program counts dropped packets. */
#ifndef TALLY_NETDROP_H
#define TALLY_NETDROP_H

#include "task_key.h"

enum drop_part {
	BY_REASON = 1 << BY_PARTS,
	BY_LOCATION = 2 << BY_PARTS,
	BY_PROTOCOL = 4 << BY_PARTS,
	BY_PORT = 8 << BY_PARTS,
	BY_DEVICE = 16 << BY_PARTS,
};

/* Parts that are not requested are zero. */
struct drop_key {
	__u64 location;         /* return address in the function that dropped the packet */
	__u32 reason;           /* enum skb_drop_reason */
	__u16 ethertype;        /* 0 if not a network packet (UNIX sockets, netlink) */
	__u16 port;             /* destination port; 0 if none or not found */
	__u8 protocol;          /* IPPROTO_, for IPv4 and IPv6 */
	__u8 pad[3];
	__u32 writer;           /* shared_writer() */
	char device[16];        /* empty if the packet has no device, or no longer has one */
};

struct drop_sums {
	__u64 drops;
	__u64 bytes;
};

/* An element: key followed by value (agg/sum_set.h). */
struct drop_element {
	struct drop_key key;
	struct drop_sums sums;
};

_Static_assert(sizeof(struct drop_key) == 40, "drop_key has padding");

#endif /* TALLY_NETDROP_H */
