// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/netlink.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "calls/syscall/names.h"
#include "calls/syscall/text.h"

int netlink__protocol(const struct trace_record *r, size_t size, const struct trace_chunk *address)
{
	const struct trace_chunk *c = trace_chunk__find(r, size, TRACE_ID(0, PART_NETLINK));
	sa_family_t family = AF_UNSPEC;
	u32 protocol;

	if (c && c->bytes >= sizeof(protocol)) {
		memcpy(&protocol, c->data, sizeof(protocol));
		/* Kernel uevents are text without headers. */
		return protocol == NETLINK_KOBJECT_UEVENT ? NOT_NETLINK : (int)(protocol & 0xffff);
	}
	if (address && address->bytes >= sizeof(family))
		memcpy(&family, address->data, sizeof(family));
	return family == AF_NETLINK ? NETLINK_UNKNOWN : NOT_NETLINK;
}

/* Flags of a protocol reuse the same bits for different kinds of messages. */
static const struct value_names *flags_of(int protocol, u32 type)
{
	/* The lower two bits of a type: create, delete, query, change. */
	static const struct value_names *const of_route[] = {
		&netlink_change_flags, &netlink_deletion_flags, &netlink_query_flags, &netlink_flags,
	};

	if (type == NLMSG_ERROR)
		return &netlink_error_flags;
	if (protocol != NETLINK_ROUTE || type < NLMSG_MIN_TYPE)
		return &netlink_flags;
	return type == RTM_DELACTION ? &netlink_query_flags : of_route[type & 3];
}

static void put_header(FILE *f, int protocol, const struct nlmsghdr *h)
{
	fprintf(f, "{nlmsg_len=%u, nlmsg_type=", h->nlmsg_len);
	value_names__put(f, protocol == NETLINK_ROUTE ? &netlink_route_messages : &netlink_messages, h->nlmsg_type);
	fputs(", nlmsg_flags=", f);
	value_names__put(f, flags_of(protocol, h->nlmsg_type), h->nlmsg_flags);
	fprintf(f, ", nlmsg_seq=%u, nlmsg_pid=%d}", h->nlmsg_seq, (int)h->nlmsg_pid);
}

/* Puts a message that has at most `left` bytes. */
static void put_message(FILE *f, int protocol, const struct nlmsghdr *h, u64 left)
{
	bool is_longer = left > sizeof(*h) && h->nlmsg_len != sizeof(*h);

	fputs(is_longer ? "[" : "", f);
	put_header(f, protocol, h);
	fputs(is_longer ? ", ...]" : "", f);
}

/* Bytes from this message to the next one. A message shorter than its own header is the last one. */
static u64 distance(const struct nlmsghdr *h)
{
	return h->nlmsg_len < sizeof(*h) ? UINT64_MAX : ((u64)h->nlmsg_len + 3) & ~3ULL;
}

bool netlink__put(FILE *f, int protocol, const u8 *data, size_t n, u64 whole, u64 *lacking)
{
	struct nlmsghdr h;
	bool many;
	u64 at = 0;

	*lacking = UINT64_MAX;
	if (n > whole)
		n = whole;
	if (protocol == NOT_NETLINK || n < sizeof(h))
		return false;
	memcpy(&h, data, sizeof(h));
	many = distance(&h) < whole;
	fputs(many ? "[" : "", f);
	for (;;) {
		put_message(f, protocol, &h, whole - at);
		if (distance(&h) >= whole - at)
			break;
		at += distance(&h);
		fputs(", ", f);
		if (at + sizeof(h) > n) {
			/* Some bytes were not read, or are too few for a header. */
			if (n < whole)
				fputs("...", f);
			else
				quoted__put(f, data + at, n - at);
			break;
		}
		memcpy(&h, data + at, sizeof(h));
	}
	fputs(many ? "]" : "", f);
	if (at + sizeof(h) <= n && h.nlmsg_len >= sizeof(h))
		*lacking = distance(&h) - (whole - at);
	return true;
}
