// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums of block requests: number, size and duration, by submitter. */
#include "compat.bpf.h"
#include "biotop.h"
#include "maximum.bpf.h"
#include "request.bpf.h"
#include "sums.bpf.h"
#include "writer.bpf.h"

SUMS(struct biotop_key, struct biotop_sums)

static __always_inline void request_ended(const struct request_state *st, u64 now)
{
	struct biotop_key key = { .task = st->task, .writer = this_writer() };
	struct biotop_sums *s;

	request_parts_of(&key.parts, st);
	s = sums_of(&key);
	if (!s)
		return;
	s->requests++;
	s->bytes += st->bytes;
	s->queue_ns += request_queue_ns(st, now);
	s->device_ns += request_device_ns(st, now);
	s->errors += st->error != 0;
	s->requeues += st->requeues;
	maximum_keep(s->slowest, now - st->submit_ns);
	request_name(s->name, &s->name_stamp, st, now);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
