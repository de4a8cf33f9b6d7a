// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums of block requests: number, size and duration, by submitter. */
#include "compat.bpf.h"
#include "biotop.h"
#include "maximum.bpf.h"
#include "request.bpf.h"
#include "writer.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct biotop_key);
	__type(value, struct biotop_sums);
} sums SEC(".maps");

/* The initial value of a new element. */
const struct biotop_sums no_sums = {};

static __always_inline struct biotop_sums *sums_of(const struct request_state *st)
{
	struct biotop_key key = { .task = st->task, .writer = this_writer() };
	struct biotop_sums *s;
	long err;

	request_parts_of(&key.parts, st);
	s = bpf_map_lookup_elem(&sums, &key);
	if (s)
		return s;
	err = bpf_map_update_elem(&sums, &key, &no_sums, BPF_NOEXIST);
	s = bpf_map_lookup_elem(&sums, &key);
	if (!s)
		count_failed_update(err);
	return s;
}

static __always_inline void request_ended(const struct request_state *st, u64 now)
{
	struct biotop_sums *s = sums_of(st);

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
