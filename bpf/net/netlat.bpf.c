// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Time that packets take on their way out, and on their way in.
 *
 * Out: in the queue of a device (qdisc), and in the device. A packet is identified by its address, until it is freed or
 * arrives again, as on devices without a wire (loopback, veth). A packet that is segmented before it reaches the driver
 * is freed at that point, and its segments have no time in the queue.
 *
 * In: from the driver's hand-over until the protocols receive the packet, and from there until it is first read. Some
 * frees are invisible (packets merged by GRO or in the queue of a TCP socket, bulk frees): an address may be reused
 * unnoticed. So the state of each packet starts anew when it is handed over. A packet that is read without having been
 * handed over (a clone, a segment) is counted as unmatched, and is not mistaken for an older packet with its address,
 * because its data is elsewhere. A packet that was merged into another one is never read by itself, and has no such
 * time.
 */
#include "alone.bpf.h"
#include "compat.bpf.h"
#include "element.bpf.h"
#include "hist.bpf.h"
#include "netlat.h"
#include "preempt.bpf.h"
#include "task_key.bpf.h"

_Static_assert(NETLAT_STAGES <= ALONE_KINDS, "a kind for each stage");

HIST_MAPS(times, struct netlat_key);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, u64);
	__type(value, struct netlat_packet);
} packets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct netlat_poll_key);
	__type(value, struct netlat_poll_sums);
} polls SEC(".maps");

/* LRU: evicts the least recently used packets, which were freed unseen or are read very late. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct netlat_arrival);
} arrivals SEC(".maps");

/*
 * Tasks free and read packets, and other packets may interrupt them. The stage is always in the key, so interruptions
 * at other stages do no harm.
 */
static __always_inline void add(const char device[16], u32 stage, u64 ns)
{
	struct netlat_key key = {};

	if (!armed || !alone_begin_of(stage))
		return;
	if (by & BY_CPU)
		key.task.cpu = bpf_get_smp_processor_id();
	key.parts.stage = stage;
	if (by & BY_DEVICE)
		__builtin_memcpy(key.parts.device, device, sizeof(key.parts.device));
	hist_add_key(&keyed_times, &key.slot, ns);
	alone_end_of(stage);
}

static __always_inline void keep(void *map, u64 skb, const void *p)
{
	long err = bpf_map_update_elem(map, &skb, p, BPF_ANY);

	if (err)
		count_failed_update(err);
}

/* --- out -------------------------------------------------------------------------------------- */

SEC("tp_btf/net_dev_queue")
int UNPREEMPTED_PROG(on_queue, struct sk_buff *skb)
{
	struct netlat_packet p = { .queued_ns = bpf_ktime_get_ns() };

	keep(&packets, (u64)skb, &p);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int UNPREEMPTED_PROG(on_start, const struct sk_buff *skb, const struct net_device *dev)
{
	u64 key = (u64)skb, now = bpf_ktime_get_ns();
	struct netlat_packet *known = bpf_map_lookup_elem(&packets, &key);
	struct netlat_packet p = { .sent_ns = now };

	bpf_probe_read_kernel(p.device, sizeof(p.device), dev->name);
	if (known && known->queued_ns && !known->sent_ns)
		add(p.device, NETLAT_QDISC, now - known->queued_ns);
	keep(&packets, key, &p);
	return 0;
}

/*
 * Handles a packet that was freed or has arrived. A packet that was never sent was dropped in the queue or segmented.
 */
static __always_inline void leave(u64 skb, u64 now)
{
	struct netlat_packet *p = bpf_map_lookup_elem(&packets, &skb);

	if (!p)
		return;
	if (p->sent_ns)
		add(p->device, NETLAT_DEVICE, now - p->sent_ns);
	bpf_map_delete_elem(&packets, &skb);
}

static __always_inline int forget(u64 skb)
{
	leave(skb, bpf_ktime_get_ns());
	bpf_map_delete_elem(&arrivals, &skb);
	return 0;
}

SEC("tp_btf/consume_skb")
int UNPREEMPTED_PROG(on_consume, struct sk_buff *skb)
{
	return forget((u64)skb);
}

SEC("tp_btf/kfree_skb")
int UNPREEMPTED_PROG(on_free, struct sk_buff *skb)
{
	return forget((u64)skb);
}

/* --- in --------------------------------------------------------------------------------------- */

/* Called on all paths by which drivers hand packets to the kernel; bridges and tunnels hand packets over again. */
static __always_inline int hand_over(u64 skb)
{
	struct netlat_arrival a = { .handed_ns = bpf_ktime_get_ns() };

	leave(skb, a.handed_ns);
	keep(&arrivals, skb, &a);
	return 0;
}

SEC("tp_btf/netif_rx")
int UNPREEMPTED_PROG(on_rx, struct sk_buff *skb)
{
	return hand_over((u64)skb);
}

SEC("tp_btf/netif_receive_skb_entry")
int UNPREEMPTED_PROG(on_receive_entry, const struct sk_buff *skb)
{
	return hand_over((u64)skb);
}

SEC("tp_btf/netif_receive_skb_list_entry")
int UNPREEMPTED_PROG(on_list_entry, const struct sk_buff *skb)
{
	return hand_over((u64)skb);
}

SEC("tp_btf/napi_gro_receive_entry")
int UNPREEMPTED_PROG(on_gro_entry, const struct sk_buff *skb)
{
	return hand_over((u64)skb);
}

SEC("tp_btf/napi_gro_frags_entry")
int UNPREEMPTED_PROG(on_frags_entry, const struct sk_buff *skb)
{
	return hand_over((u64)skb);
}

/* In __netif_receive_skb_core(): after GRO and the CPU's backlog, before the protocols. */
SEC("tp_btf/netif_receive_skb")
int UNPREEMPTED_PROG(on_receive, struct sk_buff *skb)
{
	u64 key = (u64)skb, now = bpf_ktime_get_ns();
	struct netlat_arrival *known = bpf_map_lookup_elem(&arrivals, &key);
	struct netlat_arrival a = { .taken_ns = now, .head = (u64)skb->head };
	const struct net_device *dev = skb->dev;

	bpf_probe_read_kernel(a.device, sizeof(a.device), dev->name);
	if (known && !known->taken_ns)
		add(a.device, NETLAT_BACKLOG, now - known->handed_ns);
	else
		count_lost(LOSS_UNMATCHED);
	keep(&arrivals, key, &a);
	return 0;
}

/*
 * A packet may be read several times: in parts, or only peeked at (MSG_PEEK). The first read counts. Packets that came
 * through no device (skb_iif is 0) are messages of UNIX sockets and the like.
 */
static __always_inline int read(u64 skb, int iif, u64 head)
{
	struct netlat_arrival *known, a = { .head = head, .is_read = true };
	u64 now = bpf_ktime_get_ns();

	if (!iif)
		return 0;
	known = bpf_map_lookup_elem(&arrivals, &skb);
	if (known && known->head == head && known->is_read)
		return 0;
	if (known && known->head == head && known->taken_ns)
		add(known->device, NETLAT_SOCKET, now - known->taken_ns);
	else
		count_lost(LOSS_UNMATCHED);
	keep(&arrivals, skb, &a);
	return 0;
}

SEC("tp_btf/skb_copy_datagram_iovec")
int UNPREEMPTED_PROG(on_copy, const struct sk_buff *skb)
{
	return read((u64)skb, skb->skb_iif, (u64)skb->head);
}

/*
 * UDP copies most datagrams without reaching that tracepoint (copy_linear_skb()), and since 6.18 frees them invisibly.
 * This function dequeues them and never sleeps.
 */
SEC("kretprobe/__skb_try_recv_from_queue")
int on_dequeue(struct pt_regs *regs)
{
	struct sk_buff *skb = (void *)return_value(regs);

	if (!skb)
		return 0;
	return read((u64)skb, BPF_CORE_READ(skb, skb_iif), (u64)BPF_CORE_READ(skb, head));
}

/* --- polls (--napi) --------------------------------------------------------------------------- */

static __always_inline struct netlat_poll_sums *polls_of(const struct netlat_poll_key *key)
{
	struct netlat_poll_sums zero = {};

	return element_of(&polls, key, &zero);
}

SEC("tp_btf/napi_poll")
int UNPREEMPTED_PROG(on_poll, struct napi_struct *napi, int work, int budget)
{
	const struct net_device *dev = napi->dev;
	struct netlat_poll_key key = { .writer = shared_writer() };
	struct netlat_poll_sums *s;

	if (!armed)
		return 0;
	if (by & BY_CPU)
		key.cpu = bpf_get_smp_processor_id();
	if (by & BY_DEVICE && dev)
		bpf_probe_read_kernel(key.device, sizeof(key.device), dev->name);
	s = polls_of(&key);
	if (!s)
		return 0;
	__sync_fetch_and_add(&s->polls, 1);
	__sync_fetch_and_add(&s->packets, work);
	if (work >= budget)
		__sync_fetch_and_add(&s->full, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
