/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DNS queries that wait for their replies. A reply belongs to the query with its flow: client, server, id and network
 * namespace.
 *
 * Devices of containers such as macvlan, ipvlan and VLAN get packets from a device of the host, and the kernel then
 * shows the reply only in the host's namespace. Such a reply is taken if none is seen in the namespace of the query
 * within DNS_ELSEWHERE_NS. If the host forwards packets, it shows the reply first in its own namespace, and may drop
 * it.
 *
 * Functions of type int return 0, -ENOMEM, or the error of show().
 */
#ifndef TALLY_NET_DNS_QUERIES_H
#define TALLY_NET_DNS_QUERIES_H

#include <sys/queue.h>

#include "base/clock.h"
#include "base/types.h"

#include "bpf/net/dnssnoop.h"

/* Further queries are lost. */
#define DNS_QUERIES_MOST 65536

#define DNS_ELSEWHERE_NS (100 * NSEC_PER_MSEC)

/* Parts of the flags in a header (RFC 1035, 4.1.1). */
#define DNS_RESULT_MASK 0xf
#define DNS_TRUNCATED 0x200

/* The end of a query. */
struct dns_outcome {
	const struct dns_query *query; /* its first try */
	u64 time_ns;		       /* of the reply, or when it was given up */
	u64 took_ns;		       /* since the first try */
	u32 tries;
	bool is_answered;
	__u16 flags, answers; /* of the reply */
};

struct dns_waiting;

TAILQ_HEAD(dns_waiting_list, dns_waiting);

/* Initialise to all zeros, except the first members. */
struct dns_queries {
	u64 patience_ns; /* a query without a reply is given up after this time since its last try */
	int (*show)(void *context, const struct dns_outcome *o);
	void *context;
	void *root;			   /* of tsearch(3) */
	struct dns_waiting_list list;	   /* by time of the last try */
	struct dns_waiting_list elsewhere; /* with a reply in another namespace, by its time */
	bool is_ready;
	size_t n;
	u64 lost; /* queries for which there was no room */
};

/*
 * Takes a query. A repetition of the same question is another try; within a millisecond it is the same packet on
 * another device. Another question with the same flow ends the earlier one.
 */
int dns_queries__query(struct dns_queries *q, const struct dns_query *query);

/*
 * Takes a reply, and shows its query if they have the same namespace. Ignores replies to other queries, such as earlier
 * ones.
 */
int dns_queries__reply(struct dns_queries *q, const struct dns_record *reply);

/* Shows and removes queries that have waited for too long. now: CLOCK_MONOTONIC; all earlier records are known. */
int dns_queries__expire(struct dns_queries *q, u64 now);

/* Shows and removes queries with a reply in another namespace, because no more records will come. */
int dns_queries__settle(struct dns_queries *q);

void dns_queries__free(struct dns_queries *q);

#endif /* TALLY_NET_DNS_QUERIES_H */
