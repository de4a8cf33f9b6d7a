/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of DNS queries by name, type, server, result and task. */
#ifndef TALLY_NET_DNS_SUMS_H
#define TALLY_NET_DNS_SUMS_H

#include "agg/sum_set.h"
#include "base/table.h"
#include "cli/task_key.h"
#include "net/dns_queries.h"

/* The parts of --by, in addition to those of tasks. */
enum dns_part {
	BY_DNS_NAME = BY_OWN(0),
	BY_DNS_TYPE = BY_OWN(1),
	BY_DNS_SERVER = BY_OWN(2),
	BY_DNS_RESULT = BY_OWN(3),
};

/* Parts that are not requested are zero. */
struct dns_key {
	struct task_key task;
	__u8 server[16];
	__u16 server_port;
	__u16 family;
	__u16 result;	/* 1 + the response code; 0: no reply */
	__u16 length;	/* of name */
	__u8 name[256]; /* labels as in the packet, in lower case; empty if malformed */
	__u16 type;
	__u16 has_type;
	__u32 pad;
};

struct dns_sums {
	__u64 queries;
	__u64 no_reply;
	__u64 nxdomain, servfail, other_errors;
	__u64 truncated;
	__u64 tries;
	__u64 ns; /* since the first try; for queries without a reply, the time waited */
	struct interval_maximum longest[MAXIMUM_SLOTS];
	__u64 name_stamp;
	char name[SUM_NAME_LEN];
};

struct dns_element {
	struct dns_key key;
	struct dns_sums sums;
};

/* The sums of an interval. Initialise to all zeros, except by and most. */
struct dns_totals {
	u32 by;
	u32 most; /* keys */
	struct dns_element *element;
	size_t n;
	struct table index;
	u64 lost; /* queries for which there was no room */
};

/* Returns 0 or -ENOMEM. */
int dns_totals__add(struct dns_totals *t, const struct dns_outcome *o);

/* Moves the elements to *set, whose layout must be set. Returns 0 or -ENOMEM. */
int dns_totals__take(struct dns_totals *t, struct sum_set *set);
void dns_totals__free(struct dns_totals *t);

#endif /* TALLY_NET_DNS_SUMS_H */
