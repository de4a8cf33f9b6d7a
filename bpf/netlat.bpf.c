// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How long packets are on their way out: in the queue in front of a device (qdisc), and in the
 * device. A packet is known by its address, and forgotten when it is freed or comes in again, as
 * with devices that have no wire (loopback, veth). One that is cut into segments in front of the
 * driver is freed then, and the segments have no time in the queue.
 */
#include "alone.bpf.h"
#include "compat.bpf.h"
#include "hist.bpf.h"
#include "netlat.h"
#include "task_key.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hist_whole);
} times SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct netlat_key);
	__type(value, struct hist_segment);
} keyed_times SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, u64);
	__type(value, struct netlat_packet);
} packets SEC(".maps");

/* What is read from a tun device is freed by a task, which other packets may interrupt. */
static __always_inline void add(const struct netlat_packet *p, u32 stage, u64 ns)
{
	struct netlat_key key = {};

	if (!armed || !alone_begin())
		return;
	if (by & BY_CPU)
		key.task.cpu = bpf_get_smp_processor_id();
	if (by & BY_STAGE)
		key.parts.stage = stage;
	if (by & BY_DEVICE)
		__builtin_memcpy(key.parts.device, p->device, sizeof(key.parts.device));
	hist_add_key(&keyed_times, &key.slot, ns);
	alone_end();
}

static __always_inline void keep(u64 skb, const struct netlat_packet *p)
{
	long err = bpf_map_update_elem(&packets, &skb, p, BPF_ANY);

	if (err)
		count_failed_update(err);
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(on_queue, struct sk_buff *skb)
{
	struct netlat_packet p = { .queued_ns = bpf_ktime_get_ns() };

	keep((u64)skb, &p);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(on_start, const struct sk_buff *skb, const struct net_device *dev)
{
	u64 key = (u64)skb, now = bpf_ktime_get_ns();
	struct netlat_packet *known = bpf_map_lookup_elem(&packets, &key);
	struct netlat_packet p = { .sent_ns = now };

	bpf_probe_read_kernel(p.device, sizeof(p.device), dev->name);
	if (known && known->queued_ns && !known->sent_ns)
		add(&p, NETLAT_QDISC, now - known->queued_ns);
	keep(key, &p);
	return 0;
}

/* Freed, or come in. What was never sent is gone with the queue, or was cut apart. */
static __always_inline int leave(const struct sk_buff *skb)
{
	u64 key = (u64)skb;
	struct netlat_packet *p = bpf_map_lookup_elem(&packets, &key);

	if (!p)
		return 0;
	if (p->sent_ns)
		add(p, NETLAT_DEVICE, bpf_ktime_get_ns() - p->sent_ns);
	bpf_map_delete_elem(&packets, &key);
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(on_receive, struct sk_buff *skb)
{
	return leave(skb);
}

SEC("tp_btf/consume_skb")
int BPF_PROG(on_consume, struct sk_buff *skb)
{
	return leave(skb);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(on_free, struct sk_buff *skb)
{
	return leave(skb);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
