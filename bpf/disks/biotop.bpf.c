// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums of block requests: number, size and duration, by submitter. */
#include "compat.bpf.h"
#include "biotop.h"
#include "request.bpf.h"
#include "writer.bpf.h"

/* The number of the current interval; set by the loader. */
u64 interval = 1;

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

static __always_inline void keep_slowest(struct biotop_slowest *s, u64 number, u64 ns)
{
	if (s->interval == number && s->ns >= ns)
		return;
	s->interval = number;
	s->ns = ns;
}

static __always_inline void request_ended(const struct request_state *st, u64 now)
{
	u64 number = *(volatile u64 *)&interval, total_ns = now - st->submit_ns;
	struct biotop_sums *s = sums_of(st);

	if (!s)
		return;
	s->requests++;
	s->bytes += st->bytes;
	s->queue_ns += request_queue_ns(st, now);
	s->device_ns += request_device_ns(st, now);
	s->errors += st->error != 0;
	s->requeues += st->requeues;
	/* The verifier of 5.10 cannot handle a variable index into an array of two. */
	if (number & 1)
		keep_slowest(&s->slowest[1], number, total_ns);
	else
		keep_slowest(&s->slowest[0], number, total_ns);
	request_name(s->name, &s->name_stamp, st, now);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
