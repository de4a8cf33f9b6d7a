/* SPDX-License-Identifier: BSD-2-Clause */
/* Headers of netlink messages (netlink(7)), as strace(1) writes them. */
#ifndef TALLY_SYSCALL_NETLINK_H
#define TALLY_SYSCALL_NETLINK_H

#include <stdio.h>

#include "base/types.h"

#include "bpf/calls/trace.h"

/* Values in place of a protocol such as NETLINK_ROUTE. */
enum {
	NOT_NETLINK = -1,               /* not known to be netlink messages */
	NETLINK_UNKNOWN = -2,           /* netlink messages of an unknown protocol */
};

/*
 * Returns the protocol of a call's messages: that of the socket in its first argument, or NETLINK_UNKNOWN if only the
 * family of the address identifies netlink. size: see syscall_arguments__put(). address: may be NULL.
 */
int netlink__protocol(const struct trace_record *r, size_t size, const struct trace_chunk *address);

/*
 * Puts the headers in a buffer of `whole` bytes, of which the first n were read, with "..." for the rest of each
 * message: "[{nlmsg_len=20, nlmsg_type=RTM_GETLINK, ...}, ...]". Sets *lacking to the number of bytes of the last
 * message that follow in the next buffer; UINT64_MAX: unknown. Returns false and puts nothing if no header was read,
 * or for NOT_NETLINK.
 */
bool netlink__put(FILE *f, int protocol, const u8 *data, size_t n, u64 whole, u64 *lacking);

#endif /* TALLY_SYSCALL_NETLINK_H */
