// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * io_uring requests, from their submission to their completion, by operation.
 *
 * The subject is the task that submits: the caller of io_uring_enter(2), or the ring's polling thread (SQPOLL), which
 * belongs to the process since 5.12. Any task may complete a request.
 *
 * A multishot request (accept, recv, poll) has further completions before the last one; these have no request. A
 * zero-copy send has two: the result, and later a notification (IORING_CQE_F_NOTIF), which is left out.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"

#include "hist.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "task_key.bpf.h"
#include "uring.bpf.h"
#include "uringstat.h"

struct uring_counts counts = {};

/* Set once a request had no room: not all that are unknown began before the run. */
u32 was_full = 0;

/* Whether the current task is in scope. Only submissions count those that are not. */
static __always_inline bool is_ours(void)
{
	return scope_for_life(NULL) && scope_now(NULL);
}

/* Requests always have keys, so the unkeyed map stays empty. */
HIST_MAPS(times, struct uring_key);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, struct uring_id);
	__type(value, struct uring_request);
} requests SEC(".maps");

static __always_inline int begin(const struct io_kiocb *request, u32 op)
{
	struct uring_request r = {};
	struct uring_id id;
	u64 unused;
	long err;

	if (!armed || !in_scope(NULL))
		return 0;
	uring_id_of(&id, request);
	r.op = op;
	task_key_of(&r.task, NULL);
	task_key_name(r.comm, &unused, NULL, 0);
	r.start_ns = bpf_ktime_get_ns();
	err = bpf_map_update_elem(&requests, &id, &r, BPF_NOEXIST);
	if (!err)
		return 0;
	if ((int)err != -EEXIST) {
		was_full = 1;
		count_failed_update(err);
		return 0;
	}
	if (layout.completed == URING_WITHOUT_REQUEST)
		count_lost(LOSS_NO_END);
	else
		__sync_fetch_and_add(&counts.silent, 1);
	bpf_map_update_elem(&requests, &id, &r, BPF_ANY);
	return 0;
}

SEC("?tp_btf/io_uring_submit_req")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_submit, u64 *, ctx)
{
	const struct io_kiocb *request = (const struct io_kiocb *)ctx[0];

	return begin(request, BPF_CORE_READ(request, opcode));
}

SEC("?tp_btf/io_uring_submit_sqe")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_submit_entry, u64 *, ctx)
{
	const struct io_kiocb *request = (const struct io_kiocb *)uring_argument(ctx, layout.submitted);

	return begin(request, BPF_CORE_READ(request, opcode));
}

/*
 * A request that cannot be prepared: its completion follows, with the error. The operation comes from the entry in the
 * ring (its first byte), because the request has that of a nop if the kernel does not know the operation.
 */
SEC("?tp_btf/io_uring_req_failed")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_refused, u64 *, ctx)
{
	u8 op = 0;

	bpf_probe_read_kernel(&op, sizeof(op), (const void *)ctx[0]);
	return begin((const struct io_kiocb *)uring_argument(ctx, layout.refused), op);
}

static __always_inline struct uring_request *request_of(const struct io_kiocb *request)
{
	struct uring_id id;

	if (!armed)
		return NULL;
	uring_id_of(&id, request);
	return bpf_map_lookup_elem(&requests, &id);
}

SEC("?tp_btf/io_uring_poll_arm")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_poll, u64 *, ctx)
{
	struct uring_request *r = request_of((const struct io_kiocb *)uring_argument(ctx, layout.polled));

	if (r && r->via == URING_DIRECT)
		r->via = URING_POLL;
	return 0;
}

SEC("?tp_btf/io_uring_queue_async_work")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_queue, u64 *, ctx)
{
	struct uring_request *r = request_of((const struct io_kiocb *)uring_argument(ctx, layout.queued));

	if (r)
		r->via = URING_WORKER;
	return 0;
}

SEC("?tp_btf/io_uring_cqe_overflow")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_overflow, u64 *, ctx)
{
	if (armed && is_ours())
		__sync_fetch_and_add(&counts.overflows, 1);
	return 0;
}

static __always_inline void add_time(const struct uring_request *r, s32 result, u64 now)
{
	struct uring_key key = { .task = r->task };
	struct hist_segment *h;

	if (by & BY_URING_OP)
		key.own.op = r->op;
	if (by & BY_URING_VIA)
		key.own.via = r->via;
	if (by & BY_URING_RESULT && result < 0)
		key.own.error = -result;
	h = hist_add_key(&keyed_times, &key.slot, now - r->start_ns);
	if (!h || !task_key_has_name())
		return;
	__builtin_memcpy(h->name, r->comm, sizeof(h->name));
	h->name_stamp = now;
}

static __always_inline void count_further(void)
{
	if (is_ours())
		__sync_fetch_and_add(&counts.further, 1);
}

/*
 * The request began before the run. Before 5.18, it may also be one of several with the same user_data, or one that
 * could not be prepared.
 */
static __always_inline void count_unknown(void)
{
	if (was_full || !is_ours())
		return;
	if (layout.completed == URING_WITHOUT_REQUEST)
		__sync_fetch_and_add(&counts.unknown, 1);
	else
		count_begun_before();
}

static __always_inline void end(const struct uring_id *id, s32 result)
{
	struct uring_request *found = bpf_map_lookup_elem(&requests, id), r;

	if (!found) {
		count_unknown();
		return;
	}
	r = *found;
	/* The program may use the id again as soon as it sees the completion. */
	bpf_map_delete_elem(&requests, id);
	add_time(&r, result, bpf_ktime_get_ns());
}

SEC("?tp_btf/io_uring_complete")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_complete, u64 *, ctx)
{
	struct uring_completion entry = {};
	struct uring_id id = {};

	if (!armed)
		return 0;
	uring_completion_of(&entry, &id, ctx);
	if (entry.flags & IORING_CQE_F_NOTIF)
		return 0;
	if (!id.id && layout.completed != URING_WITHOUT_REQUEST)
		count_further();
	else if (entry.flags & IORING_CQE_F_MORE && layout.completed == URING_WITHOUT_REQUEST)
		count_further();
	else
		end(&id, entry.res);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
