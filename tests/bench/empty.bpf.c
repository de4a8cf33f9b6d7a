// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Programs that do nothing, on the hooks that tools and their peers use: what being there costs. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

SEC("tp_btf/sched_switch")
int empty_switch(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int empty_migrate(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_wakeup")
int empty_wakeup(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_waking")
int empty_waking(void *ctx)
{
	return 0;
}

SEC("tp_btf/irq_work_exit")
int empty_irq_work(void *ctx)
{
	return 0;
}

SEC("raw_tp/vm_unmapped_area")
int empty_mapping(void *ctx)
{
	return 0;
}

SEC("raw_tp/contention_begin")
int empty_contention_begin(void *ctx)
{
	return 0;
}

SEC("raw_tp/contention_end")
int empty_contention_end(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int empty_wakeup_new(void *ctx)
{
	return 0;
}

/* Likewise by the two ways to count: raw tracepoint, and the tracepoint's perf event. */
SEC("raw_tp/sched_switch")
int empty_raw_switch(void *ctx)
{
	return 0;
}

SEC("tp/sched/sched_switch")
int empty_perf_switch(void *ctx)
{
	return 0;
}

SEC("raw_tp/sys_enter")
int empty_raw_enter(void *ctx)
{
	return 0;
}

SEC("raw_tp/sys_exit")
int empty_raw_exit(void *ctx)
{
	return 0;
}

SEC("tp/raw_syscalls/sys_enter")
int empty_perf_enter(void *ctx)
{
	return 0;
}

SEC("tp_btf/block_io_start")
int empty_block_start(void *ctx)
{
	return 0;
}

SEC("tp_btf/block_rq_insert")
int empty_block_insert(void *ctx)
{
	return 0;
}

SEC("tp_btf/block_rq_issue")
int empty_block_issue(void *ctx)
{
	return 0;
}

SEC("tp_btf/block_rq_complete")
int empty_block_complete(void *ctx)
{
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int empty_block_requeue(void *ctx)
{
	return 0;
}

SEC("tp_btf/block_rq_merge")
int empty_block_merge(void *ctx)
{
	return 0;
}

SEC("tp_btf/net_dev_queue")
int empty_send(void *ctx)
{
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int empty_receive(void *ctx)
{
	return 0;
}

SEC("tp_btf/inet_sock_set_state")
int empty_state(void *ctx)
{
	return 0;
}

SEC("tp_btf/sys_exit")
int empty_typed_exit(void *ctx)
{
	return 0;
}

SEC("tp_btf/io_uring_complete")
int empty_completion(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
