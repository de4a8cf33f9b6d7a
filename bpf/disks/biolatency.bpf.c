// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Histograms of the duration of block requests, or of their size (bitesize). */
#include "hist.bpf.h"
#include "request.bpf.h"

const volatile u32 value_of = REQUEST_DEVICE_TIME;      /* enum request_value */

HIST_MAPS(values, struct request_hist_key);

static __always_inline u64 value(const struct request_state *st, u64 now)
{
	switch (value_of) {
	case REQUEST_QUEUE_TIME:
		return request_queue_ns(st, now);
	case REQUEST_DEVICE_TIME:
		return request_device_ns(st, now);
	case REQUEST_SIZE:
		return st->bytes;
	default:
		return now - st->submit_ns;
	}
}

static __always_inline void request_ended(const struct request_state *st, u64 now)
{
	struct request_hist_key key = {};
	struct hist_segment *h;

	/* A flush has no size. */
	if (value_of == REQUEST_SIZE && !st->bytes)
		return;
	if (!by) {
		hist_add(&values, value(st, now));
		return;
	}
	key.task = st->task;
	request_parts_of(&key.parts, st);
	h = hist_add_key(&keyed_values, &key.slot, value(st, now));
	if (h)
		request_name(h->name, &h->name_stamp, st, now);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
