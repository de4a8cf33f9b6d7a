// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reports each block request that took at least the minimum time, when it ends. */
#include "compat.bpf.h"
#include "biosnoop.h"
#include "request.bpf.h"
#include "ring.bpf.h"

const volatile u64 min_ns = 0;

static __always_inline void request_ended(const struct request_state *st, u64 now)
{
	struct biosnoop_record *r;

	if (now - st->submit_ns < min_ns)
		return;
	r = ring_reserve(struct biosnoop_record);
	if (!r)
		return;
	r->time_ns = now;
	r->queue_ns = request_queue_ns(st, now);
	r->device_ns = request_device_ns(st, now);
	r->sector = st->sector;
	r->bytes = st->bytes;
	r->disk = st->disk;
	r->pid = st->pid;
	r->tid = st->tid;
	r->cpu = st->cpu;
	r->error = st->error;
	r->op = st->op;
	r->flags = st->flags;
	__builtin_memcpy(r->comm, st->comm, sizeof(r->comm));
	ring_submit(r);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
