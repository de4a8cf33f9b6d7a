/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of io_uring. io_uring_submit_sqe or io_uring_submit_req is passed by each request that was prepared without
 * an error, in the task that submits; io_uring_req_failed by the others. Any task may complete a request. The kernel
 * reuses the memory of requests at once, so the address identifies a request only until its completion. Before 5.18
 * completions name only the ring and the user_data that the program chose, which may be the same for several requests.
 *
 * A tool has the program it needs of each pair, as SEC("?tp_btf/..."), and uring__prepare() loads these.
 */
#ifndef TALLY_URING_BPF_H
#define TALLY_URING_BPF_H

#include "compat.bpf.h"
#include "uring.h"

/* Kernel ABI: include/uapi/linux/io_uring.h */
#define IORING_CQE_F_MORE (1U << 1)
#define IORING_CQE_F_NOTIF (1U << 3)

const volatile struct uring_layout layout = {};

/* The verifier rejects computed offsets, so the compiler must not merge the loads. */
static __always_inline u64 uring_argument(u64 *ctx, u32 n)
{
	u64 value = 0;

	if (n == 0)
		value = ctx[0];
	barrier_var(value);
	if (n == 1)
		value = ctx[1];
	barrier_var(value);
	if (n == 2)
		value = ctx[2];
	barrier_var(value);
	if (n == 3)
		value = ctx[3];
	barrier_var(value);
	if (n == 4)
		value = ctx[4];
	barrier_var(value);
	return value;
}

static __always_inline void uring_id_of(struct uring_id *id, const struct io_kiocb *request)
{
	const struct io_kiocb___data *old = (const void *)request;

	if (layout.completed == URING_WITHOUT_REQUEST && bpf_core_field_exists(old->user_data)) {
		id->ring = (u64)BPF_CORE_READ(request, ctx);
		id->id = BPF_CORE_READ(old, user_data);
	} else {
		id->ring = 0;
		id->id = (u64)request;
	}
}

/* include/uapi/linux/io_uring.h */
struct uring_completion {
	u64 user_data;
	s32 res;
	u32 flags;
};

/* Reads the arguments of io_uring_complete. A further completion of a multishot request has no request: id->id is 0. */
static __always_inline void uring_completion_of(struct uring_completion *c, struct uring_id *id, u64 *ctx)
{
	id->ring = layout.completed == URING_WITHOUT_REQUEST ? uring_argument(ctx, 0) : 0;
	id->id = uring_argument(ctx, 1);
	if (layout.completed == URING_WITH_CQE) {
		bpf_probe_read_kernel(c, sizeof(*c), (void *)uring_argument(ctx, 2));
	} else {
		c->res = uring_argument(ctx, layout.completed == URING_WITH_REQUEST ? 3 : 2);
		c->flags = uring_argument(ctx, layout.completed == URING_WITH_REQUEST ? 4 : 3);
	}
}

#endif /* TALLY_URING_BPF_H */
