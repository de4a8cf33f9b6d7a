// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Packets that the kernel dropped: freed by kfree_skb(), not by consume_skb(), which is for packets that have arrived.
 * Counted by reason, location, protocol, port and device, or by stack.
 */
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "netdrop.h"
#include "packet.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "socket.bpf.h"
#include "stack.bpf.h"
#include "sums.bpf.h"
#include "task_key.bpf.h"
#include "writer.bpf.h"

/*
 * The tracepoint passes the reason since 5.17 (commit c504e5c2f964). In later kernels one of the reasons means that the
 * packet was not dropped.
 */
const volatile bool have_reason = false;
const volatile u32 consumed = ~0U;
const volatile bool with_stacks = false;
const volatile u32 nreasons = 0;        /* for stacks; the name at nreasons represents all others */

#define IPPROTO_DCCP 33
#define IPPROTO_SCTP 132
#define IPPROTO_UDPLITE 136

SUMS(struct drop_key, struct drop_sums)

STACK_COUNTS(counts);

static __always_inline bool has_ports(u8 protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP ||
	       protocol == IPPROTO_DCCP || protocol == IPPROTO_UDPLITE;
}

/* Reads the kind of packet from the headers that are present. */
static __always_inline void read_packet(struct drop_key *key, struct sk_buff *skb)
{
	const unsigned char *p = skb->head + skb->network_header;
	u16 ports[2] = {};
	u32 behind = 0;

	key->ethertype = swapped(skb->protocol);
	if (!skb->network_header || skb->network_header == 0xffff)
		return;
	if (key->ethertype == ETH_P_IP)
		behind = behind_ipv4(p, &key->protocol);
	else if (key->ethertype == ETH_P_IPV6)
		behind = behind_ipv6(p, &key->protocol);
	if (behind && has_ports(key->protocol) &&
	    !bpf_probe_read_kernel(ports, sizeof(ports), p + behind))
		key->port = swapped(ports[1]);
}

/*
 * In a socket's queue, other data takes the place of the device (dev_scratch, rbnode). Only a device has a name that
 * points back to it.
 */
static __always_inline void read_device(struct drop_key *key, const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev, *named = NULL;
	const struct netdev_name_node *node = NULL;

	if (bpf_probe_read_kernel(&node, sizeof(node), &dev->name_node) ||
	    bpf_probe_read_kernel(&named, sizeof(named), &node->dev) || named != dev)
		return;
	bpf_probe_read_kernel(key->device, sizeof(key->device), dev->name);
}

/* Tasks and interrupts on any CPU may drop packets at the same time, so sums are added to atomically. */
static __always_inline void add(struct sk_buff *skb, u64 location, u32 reason)
{
	struct drop_key key = { .writer = shared_writer() };
	struct drop_sums *s;

	if (by & (BY_PROTOCOL | BY_PORT))
		read_packet(&key, skb);
	if (!(by & BY_PROTOCOL)) {
		key.ethertype = 0;
		key.protocol = 0;
	}
	if (!(by & BY_PORT))
		key.port = 0;
	if (by & BY_DEVICE)
		read_device(&key, skb);
	if (by & BY_LOCATION)
		key.location = location;
	if (by & BY_REASON)
		key.reason = reason;
	s = sums_of(&key);
	if (!s)
		return;
	__sync_fetch_and_add(&s->drops, 1);
	__sync_fetch_and_add(&s->bytes, skb->len);
}

SEC("tp_btf/kfree_skb")
int UNPREEMPTED_PROG(on_drop, struct sk_buff *skb, void *location)
{
	u32 reason = have_reason ? (u32)ctx[2] : 0;
	struct stack_key key = {};

	if (!armed || reason == consumed)
		return 0;
	if (!with_stacks) {
		add(skb, (u64)location, reason);
		return 0;
	}
	key.task.event = reason < nreasons ? reason : nreasons;
	stack_add(&counts, &key, ctx, STACK_KERNEL, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
