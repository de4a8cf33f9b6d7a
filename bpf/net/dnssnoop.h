/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records that dnssnoop's programs send: one for each query, and one for each reply. */
#ifndef TALLY_DNSSNOOP_H
#define TALLY_DNSSNOOP_H

#include "task_key.h"

/* RFC 1035: a name takes at most 255 bytes, its type and class 4 more. */
#define DNS_QUESTION_MOST 259

/* A reply has the flow of its query. */
struct dns_flow {
	__u8 client[16]; /* AF_INET uses 4 bytes */
	__u8 server[16];
	__u16 client_port, server_port;
	__u16 family;
	__u16 id;    /* of the query, in the header of DNS */
	__u32 netns; /* inode number of the client's network namespace */
	__u32 pad;
};

struct dns_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	struct dns_flow flow;
	__u32 pid; /* of the sender; 0: unknown, or a reply */
	__u32 tid;
	__u8 comm[16];
	__u32 cpu;
	__u16 flags; /* of the header */
	__u16 answers;
	__u16 is_reply;
	__u16 length; /* bytes of question; 0 in replies */
};

struct dns_query {
	struct dns_record record;	  /* first */
	struct task_key task;		  /* of --by; zeros if the sender is unknown */
	__u8 question[DNS_QUESTION_MOST]; /* as in the packet: labels, type, class */
	__u8 pad[5];
};

_Static_assert(sizeof(struct dns_flow) == 48, "dns_flow has padding");
_Static_assert(sizeof(struct dns_record) == 96, "dns_record has padding");
_Static_assert(sizeof(struct dns_query) == 408, "dns_query has padding");

#endif /* TALLY_DNSSNOOP_H */
