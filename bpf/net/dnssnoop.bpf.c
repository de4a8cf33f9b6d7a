// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * DNS queries and replies over UDP, as packets at the client's end. The loader finds the query of each reply.
 *
 * A query is seen when its socket's packet is queued at the first device (net_dev_queue), usually in the task that
 * sends it. A host that forwards packets of others queues them, too, but has received them before: skb_iif. Stacked
 * devices (VLAN, bonding, macvlan) queue a packet again, maybe in another network namespace; the loader takes a
 * repetition within a millisecond for the same packet.
 *
 * A reply is seen when a device receives it (netif_receive_skb). Packets that a host forwards to its containers are
 * seen again in their namespace, but those of macvlan, ipvlan and VLAN devices are not.
 *
 * The data of a packet may be outside its linear part. Only the headers of a reply are needed, which drivers put there;
 * a query that a socket sends is linear as a whole.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"

#include "dnssnoop.h"
#include "interrupt.bpf.h"
#include "loss.bpf.h"
#include "packet.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "socket.bpf.h"
#include "task_key.bpf.h"

const volatile u32 server_port = 53;
const volatile bool picks_tasks = false; /* queries of unknown tasks are out of scope */

/* RFC 1035, 4.1.1 */
#define DNS_HEADER 12
#define DNS_IS_REPLY 0x8000

/* The VLAN tag before the IP header: 2 bytes, and the type of the packet. Kernel ABI: include/uapi/linux/if_ether.h */
#define ETH_P_8021Q 0x8100
#define ETH_P_8021AD 0x88a8
#define VLAN_TAG 4

struct udp_header {
	__be16 source, dest, length, check;
};

struct dns_header {
	__be16 id, flags, questions, answers;
	__be16 unused[2];
};

/* A UDP packet to or from the port of DNS. */
struct dns_packet {
	struct dns_flow flow;
	struct dns_header header;
	const unsigned char *question;
	u32 length; /* of the linear data from question on */
};

/* A query has the namespace of its socket, because the device may be in another one. */
static __always_inline u32 netns_of(const struct sk_buff *skb, bool is_reply)
{
	if (is_reply)
		return BPF_CORE_READ(skb, dev, nd_net.net, ns.inum);
	return BPF_CORE_READ(skb, sk, __sk_common.skc_net.net, ns.inum);
}

/* Most packets end here: neither UDP, nor of that port. ip: the IP header. */
static __always_inline bool read_ports(struct dns_packet *p, u16 ethertype, const unsigned char *ip, bool is_reply,
				       u32 *behind)
{
	struct udp_header udp;
	u8 protocol = 0;

	if (ethertype == ETH_P_IP)
		*behind = behind_ipv4(ip, &protocol);
	else if (ethertype == ETH_P_IPV6)
		*behind = behind_ipv6(ip, &protocol);
	else
		return false;
	if (!*behind || protocol != IPPROTO_UDP || bpf_probe_read_kernel(&udp, sizeof(udp), ip + *behind))
		return false;
	if (swapped(is_reply ? udp.source : udp.dest) != server_port)
		return false;
	p->flow.server_port = server_port;
	p->flow.client_port = swapped(is_reply ? udp.dest : udp.source);
	p->flow.family = ethertype == ETH_P_IP ? AF_INET : AF_INET6;
	return true;
}

static __always_inline void read_addresses(struct dns_packet *p, const unsigned char *ip, bool is_reply)
{
	u8 *source = is_reply ? p->flow.server : p->flow.client, *dest = is_reply ? p->flow.client : p->flow.server;

	if (p->flow.family == AF_INET) {
		bpf_probe_read_kernel(source, 4, ip + 12);
		bpf_probe_read_kernel(dest, 4, ip + 16);
	} else {
		bpf_probe_read_kernel(source, 16, ip + 8);
		bpf_probe_read_kernel(dest, 16, ip + 24);
	}
}

/* Whether the packet is a query or a reply. Counts one whose header is not in the linear part. */
static __always_inline bool read_dns(struct dns_packet *p, const struct sk_buff *skb, u16 ethertype,
				     const unsigned char *ip, bool is_reply)
{
	u64 end = (u64)skb->data + skb->len - skb->data_len, begin;
	u32 behind = 0;

	if (!read_ports(p, ethertype, ip, is_reply, &behind))
		return false;
	begin = (u64)ip + behind + sizeof(struct udp_header) + DNS_HEADER;
	if (begin > end) {
		if (skb->data_len)
			count_lost(LOSS_READ_FAULT);
		return false;
	}
	if (bpf_probe_read_kernel(&p->header, sizeof(p->header), (void *)(begin - DNS_HEADER)) ||
	    !(swapped(p->header.flags) & DNS_IS_REPLY) != !is_reply)
		return false;
	p->question = (void *)begin;
	p->length = end - begin;
	p->flow.id = swapped(p->header.id);
	p->flow.netns = netns_of(skb, is_reply);
	read_addresses(p, ip, is_reply);
	return true;
}

static __always_inline void fill(struct dns_record *r, const struct dns_packet *p)
{
	r->time_ns = bpf_ktime_get_ns();
	r->cpu = bpf_get_smp_processor_id();
	r->flow = p->flow;
	r->flags = swapped(p->header.flags);
	r->answers = swapped(p->header.answers);
}

static __noinline u32 read_question(u8 *to, u64 length, const void *from)
{
	barrier_var(length);
	if (!to || length > DNS_QUESTION_MOST || bpf_probe_read_kernel(to, length, from))
		return 0;
	return length;
}

/* A packet that waited for the address of its router is sent in a softirq, in any task. */
static __always_inline bool is_sender_known(void)
{
	return !(preempt_count_now() & (IN_SOFTIRQ | IN_HARDIRQ));
}

SEC("tp_btf/net_dev_queue")
int UNPREEMPTED_PROG(on_query, struct sk_buff *skb)
{
	struct dns_packet p = {};
	struct dns_query *q;
	bool is_known;
	u32 length;

	if (!armed || !skb->sk || skb->skb_iif || !skb->network_header || skb->network_header == 0xffff ||
	    !read_dns(&p, skb, swapped(skb->protocol), skb->head + skb->network_header, false))
		return 0;
	is_known = is_sender_known();
	if (is_known ? !in_scope(NULL) : picks_tasks)
		return 0;
	q = ring_reserve(struct dns_query);
	if (!q)
		return 0;
	fill(&q->record, &p);
	length = p.length > DNS_QUESTION_MOST ? DNS_QUESTION_MOST : p.length;
	q->record.length = read_question(q->question, length, p.question);
	if (is_known) {
		q->record.pid = bpf_get_current_pid_tgid() >> 32;
		q->record.tid = bpf_get_current_pid_tgid();
		bpf_get_current_comm(q->record.comm, sizeof(q->record.comm));
		task_key_of(&q->task, NULL);
	}
	ring_submit(q);
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int UNPREEMPTED_PROG(on_reply, struct sk_buff *skb)
{
	u16 ethertype = swapped(skb->protocol), inner;
	const unsigned char *ip = skb->data;
	struct dns_packet p = {};
	struct dns_record *r;

	if (!armed)
		return 0;
	if (ethertype == ETH_P_8021Q || ethertype == ETH_P_8021AD) {
		if (bpf_probe_read_kernel(&inner, sizeof(inner), ip + VLAN_TAG - sizeof(inner)))
			return 0;
		ethertype = swapped(inner);
		ip += VLAN_TAG;
	}
	if (!read_dns(&p, skb, ethertype, ip, true))
		return 0;
	r = ring_reserve(struct dns_record);
	if (!r)
		return 0;
	fill(r, &p);
	r->is_reply = true;
	ring_submit(r);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
