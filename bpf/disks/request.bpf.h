/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The life of a block request: submission, issue to the driver, possibly a requeue and another issue, completion in one
 * or more parts. Requests are identified by address. The including file defines request_ended(), or REQUEST_AT_ISSUE
 * and request_issued().
 *
 * The subject is the task that submitted the request; any task may issue or complete it. Submissions are seen at
 * block_io_start (since 6.5, commit 5a80bd075f3b), in the submitting task. Before 6.5 they are seen at block_getrq,
 * which has only the bio, so the request is found by its first bio when it is issued. If nothing depends on
 * submissions, they are not hooked, which saves a third of the cost.
 *
 * A request with a flush (block/blk-flush.c) is processed in steps: first a flush request of the queue itself, which
 * all waiters share; then the data, if any, as a normal request. At the end it completes once more, without bytes; that
 * does not count as the end of a request. A flush request is attributed to the last task that submitted a request with
 * a flush.
 */
#ifndef TALLY_REQUEST_BPF_H
#define TALLY_REQUEST_BPF_H

/* The subject is the current task at the submission. */
#define SCOPE_UNTYPED

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "request.h"
#include "scope.bpf.h"
#include "task_key.bpf.h"

const volatile struct request_config request_config = {};
u64 began_ns = 0;                       /* requests are seen from this time; set by the loader */
struct request_run request_run = {};

/* The error when a state was last lost: the reason for a request that ends without a state. */
long request_failure = 0;

/* Requests in progress, by address; with by_bio, also bios that have no request yet. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u64);
	__type(value, struct request_state);
} requests SEC(".maps");

/* The last submitter of a request with a flush, by address of the queue. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, struct request_state);
} flush_askers SEC(".maps");

#ifdef REQUEST_AT_ISSUE
#define AT_MISSED_ISSUE LOSS_UNMATCHED
/* Called at the first issue, even before the gate is open. st is invalid after the function returns. */
static __always_inline void request_issued(const struct request_state *st);
#else
#define AT_MISSED_ISSUE LOSS_INCOMPLETE /* its whole time counts as queue time */
/* Called at the end of a request whose disk and task are in scope. st is invalid after the function returns. */
static __always_inline void request_ended(const struct request_state *st, u64 now);
#endif

static __always_inline bool request_counts(const struct request_state *st)
{
	return st->standing == REQUEST_IN_SCOPE &&
	       (!request_config.disk || st->disk == request_config.disk);
}

/* Time in the queue, and on the device. A request that was never issued spent its whole time in the queue. */
static __always_inline u64 request_queue_ns(const struct request_state *st, u64 now)
{
	return (st->issue_ns ?: now) - st->submit_ns;
}

static __always_inline u64 request_device_ns(const struct request_state *st, u64 now)
{
	return st->issue_ns ? now - st->issue_ns : 0;
}

/* Fills in the parts requested by --by; request_name() adds the name that goes with a pid. */
static __always_inline void request_parts_of(struct request_parts *parts,
					     const struct request_state *st)
{
	if (by & BY_DISK)
		parts->disk = st->disk;
	if (by & BY_OP)
		parts->op = st->op;
	if (by & BY_FLAGS)
		parts->flags = st->flags;
}

static __always_inline void request_name(char name[TASK_COMM_LEN], u64 *name_stamp,
					 const struct request_state *st, u64 now)
{
	if (!task_key_has_name())
		return;
	__builtin_memcpy(name, st->comm, TASK_COMM_LEN);
	*name_stamp = now;
}

/*
 * --- what a request is -------------------------------------------------------------------------
 */

static __always_inline struct gendisk *request_disk(struct request *rq)
{
	struct request___disk *old = (void *)rq;

	/* 5.17 removed rq_disk (commit f3fa33acca9f); queues have their disk since 5.15. */
	if (bpf_core_field_exists(old->rq_disk))
		return old->rq_disk;
	return rq->q->disk;
}

static __always_inline struct request_queue *bio_queue(struct bio *bio)
{
	struct bio___disk *old = (void *)bio;

	if (bpf_core_field_exists(bio->bi_bdev))
		return bio->bi_bdev->bd_disk->queue;
	return old->bi_disk->queue;
}

#define FLAG_IF(flag, bit)                                                                         \
	(cmd_flags & (1U << bpf_core_enum_value(enum req_flag_bits, bit)) ? (flag) : 0)

static __always_inline u8 request_flags(u32 cmd_flags)
{
	return FLAG_IF(REQUEST_SYNC, __REQ_SYNC) | FLAG_IF(REQUEST_META, __REQ_META) |
	       FLAG_IF(REQUEST_PRIO, __REQ_PRIO) | FLAG_IF(REQUEST_FUA, __REQ_FUA) |
	       FLAG_IF(REQUEST_PREFLUSH, __REQ_PREFLUSH) |
	       FLAG_IF(REQUEST_READAHEAD, __REQ_RAHEAD) |
	       FLAG_IF(REQUEST_BACKGROUND, __REQ_BACKGROUND) |
	       FLAG_IF(REQUEST_NOWAIT, __REQ_NOWAIT);
}

/* Some flags are cleared on the way to the driver (PREFLUSH), so keep those that were seen first. */
static __always_inline void describe(struct request_state *st, struct request *rq)
{
	struct gendisk *disk = request_disk(rq);

	st->disk = disk ? (u32)disk->major << 20 | disk->first_minor : 0;
	st->op = rq->cmd_flags & REQUEST_OP_MASK;
	st->flags |= request_flags(rq->cmd_flags);
	st->bytes = st->done + rq->__data_len;
	if (!st->done)
		st->sector = rq->__sector;
}

/*
 * A kernel thread submits writeback on behalf of the task that dirtied the pages. The bio refers to that task's cgroup,
 * if the requested hierarchy is the one that the block layer uses.
 */
static __always_inline void owner_cgroup(struct task_key *key, struct bio *bio)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct cgroup *mine, *owner;

	if (!bio || !bpf_core_field_exists(bio->bi_blkg) ||
	    !(BPF_CORE_READ(t, flags) & PF_KTHREAD))
		return;
	mine = scope_cgroup(NULL);
	owner = BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup);
	if (mine && owner && BPF_CORE_READ(owner, root) == BPF_CORE_READ(mine, root))
		key->cgroup = BPF_CORE_READ(owner, kn, id);
}

/* Fills in the current task as the submitter; bio may be NULL. */
static __always_inline void identify(struct request_state *st, struct bio *bio)
{
	u64 id = bpf_get_current_pid_tgid(), stamp;

	st->submit_ns = bpf_ktime_get_ns();
	st->pid = id >> 32;
	st->tid = id;
	st->cpu = bpf_get_smp_processor_id();
	st->standing = scope_for_life(NULL) && scope_now(NULL) ? REQUEST_IN_SCOPE :
								 REQUEST_OUT_OF_SCOPE;
	if (task_key_has_name())
		task_key_name(st->comm, &stamp, NULL, 0);
	else
		bpf_get_current_comm(st->comm, sizeof(st->comm));
	task_key_of(&st->task, NULL);
	if (by & BY_CGROUP)
		owner_cgroup(&st->task, bio);
}

/*
 * Counts the loss of an earlier request with the same address. An address is reused only after its request has ended:
 * if the state shows that the request is still with the driver, its end was missed. Guests of PVM run no program at a
 * completion that interrupts a thread of process 1: docs/accuracy.md.
 */
static __always_inline void leftover(const struct request_state *st)
{
#ifndef REQUEST_AT_ISSUE
	if (st->issue_ns && request_counts(st))
		count_lost(LOSS_NO_END);
#endif
}

/* Stores st, replacing the state of an earlier request. */
static __always_inline long keep(u64 key, const struct request_state *st)
{
	long err = bpf_map_update_elem(&requests, &key, st, BPF_NOEXIST);
	struct request_state *before;

	if ((int)err == -EEXIST) {
		before = bpf_map_lookup_elem(&requests, &key);
		if (before)
			leftover(before);
		err = bpf_map_update_elem(&requests, &key, st, BPF_ANY);
	}
	if (err)
		request_failure = err;
	return err;
}

/*
 * --- submission --------------------------------------------------------------------------------
 */

static __always_inline void submitted(u64 key, struct request_state *st, struct request_queue *q)
{
	u64 asked = (u64)q;
	long err = 0;

	if (st->flags & (REQUEST_PREFLUSH | REQUEST_FUA))
		err = bpf_map_update_elem(&flush_askers, &asked, st, BPF_ANY);
	/* More disks than the map can hold: the flush's submitter will be unknown. */
	if (err && armed)
		count_lost(LOSS_INCOMPLETE);
	keep(key, st);
}

SEC("tp_btf/block_io_start")
int UNPREEMPTED_PROG(on_start, struct request *rq)
{
	struct request_state st = {};

	identify(&st, rq->bio);
	describe(&st, rq);
	submitted((u64)rq, &st, rq->q);
	return 0;
}

/*
 * The argument after the queue, on kernels that have a queue argument: until 5.10 (commits a54895fa057c, which is in
 * later 5.10 releases, and e8a676d61c07).
 */
static __always_inline void *behind_queue(u64 *ctx, bool queue_first)
{
	if (queue_first)
		return (void *)*(volatile u64 *)&ctx[1];
	return (void *)ctx[0];
}

static __always_inline struct request *request_of(u64 *ctx)
{
	return behind_queue(ctx, request_config.queue_first);
}

SEC("tp_btf/block_getrq")
int UNPREEMPTED_PROG(on_getrq)
{
	struct bio *bio = behind_queue(ctx, request_config.queue_before_bio);
	struct request_state st = {};

	identify(&st, bio);
	st.flags = request_flags(bio->bi_opf);
	submitted((u64)bio, &st, bio_queue(bio));
	return 0;
}

/* The request was merged into another one and produces no more events. */
SEC("tp_btf/block_rq_merge")
int UNPREEMPTED_PROG(on_merge)
{
	struct request *rq = request_of(ctx);
	u64 key = request_config.by_bio ? (u64)rq->bio : (u64)rq;

	bpf_map_delete_elem(&requests, &key);
	return 0;
}

/*
 * --- issue -------------------------------------------------------------------------------------
 */

/* Maximum number of bios that may have been merged in front of the first one. */
#define FRONT_MERGES 4

/* With by_bio: finds the submission by the request's original first bio; bios merged in front have no submission. */
static __always_inline struct request_state *claim(struct request *rq)
{
	u64 key = (u64)rq, submission;
	struct bio *bio = rq->bio;
	struct request_state *st;
	int i;

#pragma unroll
	for (i = 0; i < FRONT_MERGES; i++) {
		submission = (u64)bio;
		st = bio ? bpf_map_lookup_elem(&requests, &submission) : NULL;
		if (!bio || st)
			break;
		bio = bio->bi_next;
	}
	if (!bio || !st)
		return NULL;
	keep(key, st);
	bpf_map_delete_elem(&requests, &submission);
	return bpf_map_lookup_elem(&requests, &key);
}

static __always_inline bool is_of_driver(u8 op)
{
	return op >= REQUEST_DRIVER_FIRST && op <= REQUEST_DRIVER_LAST;
}

/*
 * Creates the state of a request whose submission was not seen: a flush request of a queue; a command, which its
 * submitter issues itself; otherwise a request from before the run, or one missed for an unknown reason.
 */
static __always_inline struct request_state *adopt(struct request *rq)
{
	u64 key = (u64)rq, q = (u64)rq->q, began = rq->start_time_ns;
	u8 op = rq->cmd_flags & REQUEST_OP_MASK;
	struct request_state st = {}, *asker;

	asker = op == REQUEST_FLUSH ? bpf_map_lookup_elem(&flush_askers, &q) : NULL;
	if (asker)
		st = *asker;
	else
		identify(&st, rq->bio);
	if (asker)
		st.submit_ns = bpf_ktime_get_ns();
	if (began && began < st.submit_ns)
		st.submit_ns = began;
	if (!asker && !is_of_driver(op)) {
		if (op == REQUEST_FLUSH || began < began_ns)
			st.standing = REQUEST_BEFORE;
		else
			count_lost(LOSS_NO_STATE);
	}
	st.flags = 0;
	keep(key, &st);
	return bpf_map_lookup_elem(&requests, &key);
}

/*
 * Starts the request here if neither its submitter nor its submission time matter. Returns false if it began earlier
 * and was requeued. A state that was issued and not requeued is a leftover whose end was missed.
 */
static __always_inline bool begins_at_issue(struct request *rq)
{
	struct request_state st = { .standing = REQUEST_IN_SCOPE }, *before;
	u64 key = (u64)rq;
	long err;

	describe(&st, rq);
	st.submit_ns = st.issue_ns = bpf_ktime_get_ns();
	err = bpf_map_update_elem(&requests, &key, &st, BPF_NOEXIST);
	if ((int)err == -EEXIST) {
		before = bpf_map_lookup_elem(&requests, &key);
		if (before && !before->issue_ns)
			return false;
		if (before)
			leftover(before);
		err = bpf_map_update_elem(&requests, &key, &st, BPF_ANY);
	}
	if (err)
		request_failure = err;
#ifdef REQUEST_AT_ISSUE
	else
		request_issued(&st);
#endif
	return true;
}

SEC("tp_btf/block_rq_issue")
int UNPREEMPTED_PROG(on_issue)
{
	struct request *rq = request_of(ctx);
	struct request_state *st;
	u64 key = (u64)rq;

	if (request_config.at_issue && begins_at_issue(rq))
		return 0;
	st = bpf_map_lookup_elem(&requests, &key);
	/* A state that was issued and not requeued is a leftover whose end was missed. */
	if (st && st->issue_ns)
		st = NULL;
	if (request_config.by_bio && !st)
		st = claim(rq);
	if (!st)
		st = adopt(rq);
	if (!st)
		return 0;
	describe(st, rq);
#ifdef REQUEST_AT_ISSUE
	if (!st->issue_ns && !st->requeues)
		request_issued(st);
#endif
	st->issue_ns = bpf_ktime_get_ns();
	return 0;
}

/* The driver could not take the request, or will retry it, so it is queued again. */
SEC("tp_btf/block_rq_requeue")
int UNPREEMPTED_PROG(on_requeue)
{
	u64 key = (u64)request_of(ctx);
	struct request_state *st = bpf_map_lookup_elem(&requests, &key);

	if (!st)
		return 0;
	st->issue_ns = 0;
	if (st->requeues < 255)
		st->requeues++;
	return 0;
}

/*
 * --- completion --------------------------------------------------------------------------------
 */

/* A completion without bytes ends a flush sequence; with by_bio its submission is still in the map. */
static __always_inline void ended_unseen(struct request *rq, u32 bytes)
{
	u64 submission = (u64)rq->bio, began = rq->start_time_ns;

	if (request_config.by_bio)
		bpf_map_delete_elem(&requests, &submission);
	if (!bytes || !armed)
		return;
	if (began && began < began_ns)
		__sync_fetch_and_add(&request_run.before, 1);
	else if (request_failure)
		count_failed_update(request_failure);
	else
		count_lost(LOSS_UNMATCHED);
}

/* True if the driver completed the request although no program ran at its issue. */
static __always_inline bool issue_was_missed(const struct request_state *st)
{
	return !st->issue_ns && !st->requeues && !st->error && request_counts(st);
}

static __always_inline void ended(struct request_state *st)
{
	if (issue_was_missed(st))
		count_lost(AT_MISSED_ISSUE);
#ifndef REQUEST_AT_ISSUE
	if (!armed)
		return;
	if (st->standing == REQUEST_BEFORE)
		__sync_fetch_and_add(&request_run.before, 1);
	else if (!request_counts(st))
		count_filtered();
	else
		request_ended(st, bpf_ktime_get_ns());
#endif
}

SEC("tp_btf/block_rq_complete")
int UNPREEMPTED_PROG(on_complete, struct request *rq, int error, unsigned int bytes)
{
	u32 left = rq->__data_len;
	struct request_state *st;
	u64 key = (u64)rq;

	st = bpf_map_lookup_elem(&requests, &key);
	if (!st) {
		if (bytes >= left)
			ended_unseen(rq, bytes);
		return 0;
	}
	if (error)
		st->error = error;
	if (bytes < left) {
		st->done += bytes;
		return 0;
	}
	/* A request that consisted of a flush only is never issued; the flush request counts instead. */
	if (st->issue_ns || st->bytes)
		ended(st);
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

#endif /* TALLY_REQUEST_BPF_H */
