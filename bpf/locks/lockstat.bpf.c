// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Time that tasks wait for kernel locks: lock:contention_begin and contention_end, in the slow paths of all lock types
 * (5.19, commit 16edd9b511a1).
 *
 * The subject is the waiting task. Waits nest: a task that sleeps for a mutex, or is about to, may be interrupted, and
 * the interrupt may spin for another lock. So sleeping waits are kept per task and spinning waits per CPU, each with
 * room for a few, innermost last. The end does not report the kind of wait; it is matched by lock.
 *
 * A mutex wait may begin several times: the task spins while the owner runs, then sleeps, then spins again. This counts
 * as one wait, from the first begin to the end.
 *
 * The duration is tested before any stack is walked, at the end of the wait, which is in the same function as the
 * begin.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "hist.bpf.h"
#include "lock_owner.bpf.h"
#include "lockstat.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"

const volatile u64 min_ns = 0;
const volatile bool with_stacks = false;
const volatile u32 take = STACK_KERNEL | STACK_USER;    /* enum stack_flags */

/* Code ranges of lock functions, and of functions that sleep; empty if the kernel hides addresses. */
const volatile struct lock_text lock_text = {}, sched_text = {};

/* The waits to count: bits by enum lock_type; and bits by enum lock_place or ranges of memory, if any are given. */
const volatile u32 types = ~0U, places = 0, nchosen = 0;
const volatile struct lock_text chosen[CHOSEN_LOCKS] = {};

/* Nonzero after the run has ended: state no longer changes, so that the loader can read it. */
u64 ended_ns = 0;

u64 waits_by_stack = 0;

HIST_MAPS(waits, struct lock_key);

/* Used with stacks; the sums are in ns. */
STACK_COUNTS(counts);

/* --- waits in progress ------------------------------------------------------------------------ */

/* Waits in a task, a softirq, an interrupt, and an NMI. */
#define NESTING 4

struct wait {
	u64 lock;
	u64 since;
	u32 type;
	u32 owner;
	char owner_comm[TASK_COMM_LEN];
};

struct waits_of {
	u64 n;
	struct wait wait[NESTING];
};

TASK_STATE(sleepers, struct waits_of)

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct waits_of);
} spinners SEC(".maps");

/* Returns the latest wait for that lock, and its index in *at, or NULL if there is none. */
static __always_inline struct wait *find_wait(struct waits_of *w, u64 lock, u32 *at)
{
	struct wait *found = NULL;
	u32 n = w->n, i;

#pragma unroll
	for (i = 0; i < NESTING; i++) {
		if (i < n && w->wait[i].lock == lock) {
			found = &w->wait[i];
			*at = i;
		}
	}
	return found;
}

/* Returns room for one more wait. Drops earlier waits if missed ends have left no room. */
static __always_inline struct wait *new_wait(struct waits_of *w)
{
	u64 n = w->n;

	/* As in hist.bpf.h. */
	barrier_var(n);
	if (n >= NESTING) {
		count_lost_many(LOSS_UNMATCHED, NESTING);
		n = 0;
	}
	w->n = n + 1;
	return &w->wait[n];
}

/* --- locks ------------------------------------------------------------------------------------ */

/* include/trace/events/lock.h */
#define LCB_F_SPIN (1U << 0)
#define LCB_F_READ (1U << 1)
#define LCB_F_WRITE (1U << 2)
#define LCB_F_RT (1U << 3)
#define LCB_F_PERCPU (1U << 4)
#define LCB_F_MUTEX (1U << 5)

static __always_inline u32 either(u32 flags, u32 neither, u32 read, u32 write)
{
	return flags & LCB_F_READ ? read : flags & LCB_F_WRITE ? write : neither;
}

static __always_inline u32 type_of(u32 flags)
{
	if (flags & LCB_F_MUTEX)
		return LOCK_MUTEX;
	if (flags & LCB_F_SPIN)
		return either(flags, LOCK_SPINLOCK, LOCK_RWLOCK_READ, LOCK_RWLOCK_WRITE);
	if (flags & LCB_F_RT)
		return either(flags, LOCK_RTMUTEX, LOCK_RT_READ, LOCK_RT_WRITE);
	if (flags & LCB_F_PERCPU)
		return either(flags, LOCK_PERCPU_READ, LOCK_PERCPU_READ, LOCK_PERCPU_WRITE);
	return either(flags, LOCK_SEMAPHORE, LOCK_RWSEM_READ, LOCK_RWSEM_WRITE);
}

static __always_inline bool is_spinning(u32 type)
{
	return type <= LOCK_RWLOCK_WRITE;
}

/*
 * Finds the owner, for locks that record it. The owner may release the lock and exit at any time; the owner is then
 * unknown.
 */
static __always_inline void find_owner(struct wait *w)
{
	struct task_struct *t = NULL;

	if (w->type == LOCK_MUTEX)
		t = mutex_owner(w->lock);
	else if (w->type == LOCK_RWSEM_READ || w->type == LOCK_RWSEM_WRITE)
		t = rwsem_writer(w->lock);
	if (!t)
		return;
	w->owner = BPF_CORE_READ(t, pid);
	if (w->owner)
		bpf_probe_read_kernel(w->owner_comm, sizeof(w->owner_comm), t->comm);
}

/*
 * The locks of all run queues, found through the tasks on them. Programs must not take locks for which the task may be
 * waiting, and a lookup takes none.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, u8);
} run_queues SEC(".maps");

SEC("iter/task")
int find_run_queues(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct rq *rq = NULL;
	u8 yes = 1;
	u64 lock;

	if (!t || !bpf_core_field_exists(rq->__lock) ||
	    !bpf_core_field_exists(((struct sched_entity *)0)->cfs_rq))
		return 0;
	rq = BPF_CORE_READ(t, se.cfs_rq, rq);
	lock = (u64)rq + bpf_core_field_offset(struct rq, __lock);
	if (rq)
		bpf_map_update_elem(&run_queues, &lock, &yes, BPF_ANY);
	return 0;
}

static __always_inline u32 place_of(struct task_struct *t, const struct wait *w)
{
	u64 mm, sighand, lock = w->lock;

	if (w->type == LOCK_RWSEM_READ || w->type == LOCK_RWSEM_WRITE) {
		mm = (u64)BPF_CORE_READ(t, mm);
		return mm && lock == mm + bpf_core_field_offset(struct mm_struct, mmap_lock) ?
		       LOCK_MMAP : LOCK_ELSEWHERE;
	}
	if (w->type != LOCK_SPINLOCK)
		return LOCK_ELSEWHERE;
	sighand = (u64)BPF_CORE_READ(t, sighand);
	if (sighand && lock == sighand + bpf_core_field_offset(struct sighand_struct, siglock))
		return LOCK_SIGLOCK;
	return bpf_map_lookup_elem(&run_queues, &lock) ? LOCK_RUN_QUEUE : LOCK_ELSEWHERE;
}

/* True if the wait is one of those selected. t is the waiting task. */
static __always_inline bool is_chosen(struct task_struct *t, const struct wait *w)
{
	u32 i;

	if (!(types >> w->type & 1))
		return false;
	if (!places && !nchosen)
		return true;
	for (i = 0; i < CHOSEN_LOCKS && i < nchosen; i++)
		if (w->lock >= chosen[i].start && w->lock < chosen[i].end)
			return true;
	return places && places >> place_of(t, w) & 1;
}

/* --- callers ---------------------------------------------------------------------------------- */

/* Walking only a few frames is cheaper, and usually sufficient. */
#define CALLER_NEAR 11
#define CALLER_DEPTH 24

static __always_inline bool is_in(u64 ip, const volatile struct lock_text *text)
{
	return ip >= text->start && ip < text->end;
}

/*
 * Returns the first function outside the lock code, or 0 if it was not found. Frames before the lock code are the
 * tracer's. Sleeping locks are part of the sleeping code, and their waiters are not; sleeping code may itself wait for
 * spinning locks.
 */
static __always_inline u64 outside_locks(const u64 *frame, long size, bool spinning)
{
	bool inside = false, here;
	u32 i;

#pragma unroll
	for (i = 0; i < CALLER_DEPTH; i++) {
		if ((long)((i + 1) * sizeof(u64)) > size)
			break;
		here = is_in(frame[i], &lock_text) || (!spinning && is_in(frame[i], &sched_text));
		if (inside && !here)
			return frame[i];
		inside |= here;
	}
	return 0;
}

static __noinline u64 find_caller(void *ctx, u32 spinning)
{
	u64 frame[CALLER_DEPTH], caller;
	long size = bpf_get_stack(ctx, frame, CALLER_NEAR * sizeof(u64), 0);

	caller = outside_locks(frame, size, spinning);
	if (caller || size < (long)(CALLER_NEAR * sizeof(u64)))
		return caller;
	size = bpf_get_stack(ctx, frame, sizeof(frame), 0);
	return outside_locks(frame, size, spinning);
}

/* For a sleeping task, where the kernel's walk skips sleeping functions (in_sched_functions()). */
static __noinline u64 find_caller_of(struct task_struct *t)
{
	u64 caller = 0;
	long size = bpf_get_task_stack(t, &caller, sizeof(caller), 0);

	return size == sizeof(caller) ? caller : 0;
}

/* --- completed waits -------------------------------------------------------------------------- */

static __always_inline void fill_parts(struct lock_parts *p, const struct wait *w,
				       struct task_struct *t, u32 end)
{
	if (by & BY_LOCK) {
		p->lock = w->lock;
		p->place = place_of(t, w);
	}
	if (by & BY_TYPE)
		p->type = w->type;
	if (by & BY_END || end == LOCK_WAITING)
		p->end = end;
	if (by & BY_OWNER) {
		p->owner = w->owner;
		__builtin_memcpy(p->owner_comm, w->owner_comm, sizeof(p->owner_comm));
	}
}

static __always_inline void add_key(struct lock_key *key, struct task_struct *t, u64 ns, u64 now)
{
	struct hist_segment *h;

	task_key_of(&key->task, t);
	h = hist_add_key(&keyed_waits, &key->slot, ns);
	if (h)
		task_key_name(h->name, &h->name_stamp, t, now);
}

static __noinline int add_wait(void *ctx, struct wait *w, u32 end, u64 now)
{
	struct lock_key key = {};

	if (!by) {
		hist_add(&waits, now - w->since);
		return 0;
	}
	fill_parts(&key.parts, w, (struct task_struct *)bpf_get_current_task(), end);
	if (by & BY_CALLER)
		key.parts.caller = find_caller(ctx, is_spinning(w->type));
	add_key(&key, NULL, now - w->since, now);
	return 0;
}

static __noinline int add_stack(void *ctx, u32 type, u64 ns)
{
	struct stack_key key = {};

	task_key_of(&key.task, NULL);
	key.task.event = type;
	stack_add(&counts, &key, ctx, take, ns);
	__sync_fetch_and_add(&waits_by_stack, 1);
	return 0;
}

/* --- hooks ------------------------------------------------------------------------------------ */

static __always_inline struct waits_of *spinners_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&spinners, &zero);
}

SEC("tp_btf/contention_begin")
int UNPREEMPTED_PROG(on_begin, void *lock, u32 flags)
{
	u32 type = type_of(flags), at = 0;
	struct waits_of *all;
	struct wait *w;

	if (ended_ns || !scope_for_life(NULL))
		return 0;
	if (is_spinning(type))
		all = spinners_here();
	else
		all = sleepers_get(bpf_get_current_task_btf(), NULL);
	if (!all) {
		count_lost(LOSS_NO_STORAGE);
		return 0;
	}
	w = find_wait(all, (u64)lock, &at);
	if (w && type == LOCK_MUTEX)
		return 0;
	if (!w)
		w = new_wait(all);
	w->lock = (u64)lock;
	w->type = type;
	w->owner = 0;
	__builtin_memset(w->owner_comm, 0, sizeof(w->owner_comm));
	if (by & BY_OWNER)
		find_owner(w);
	w->since = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void end_wait(void *ctx, struct wait *w, int ret)
{
	u64 now = bpf_ktime_get_ns();

	if (!armed)
		return;
	if (now - w->since < min_ns ||
	    !is_chosen((struct task_struct *)bpf_get_current_task(), w))
		count_filtered();
	else if (!in_scope_now(NULL))
		return;
	else if (with_stacks)
		add_stack(ctx, w->type, now - w->since);
	else
		add_wait(ctx, w, ret ? LOCK_GIVEN_UP : LOCK_ACQUIRED, now);
}

SEC("tp_btf/contention_end")
int UNPREEMPTED_PROG(on_end, void *lock, int ret)
{
	struct waits_of *all = spinners_here();
	struct wait *w;
	u32 at = 0;

	if (ended_ns || !in_scope_for_life(NULL) || !all)
		return 0;
	w = find_wait(all, (u64)lock, &at);
	if (!w) {
		all = sleepers_find(bpf_get_current_task_btf());
		if (!all) {
			count_begun_before();
			return 0;
		}
		w = find_wait(all, (u64)lock, &at);
	}
	if (!w) {
		count_lost(LOSS_UNMATCHED);
		return 0;
	}
	end_wait(ctx, w, ret);
	/* Not earlier: an interrupt would reuse the entry of this wait. */
	all->n = at;
	return 0;
}

/* --- waits in progress at the end ------------------------------------------------------------- */

static __noinline int show_wait(struct task_struct *t, struct wait *w)
{
	struct lock_key key = {};

	fill_parts(&key.parts, w, t, LOCK_WAITING);
	if (by & BY_CALLER)
		key.parts.caller = find_caller_of(t);
	add_key(&key, t, ended_ns - w->since, ended_ns);
	return 0;
}

static __noinline int show_stack(struct task_struct *t, struct wait *w)
{
	struct stack_key key = {};
	u32 flaw = 0;

	task_key_of(&key.task, t);
	key.task.event = LOCK_TYPES + w->type;
	if (take & STACK_KERNEL)
		flaw = stack_take_task(&key.stack, t);
	stack_add_taken(&counts, &key, flaw, t, ended_ns - w->since);
	__sync_fetch_and_add(&waits_by_stack, 1);
	return 0;
}

SEC("iter/task")
int show_waiting(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct waits_of *all;
	struct wait *w;
	u32 i;

	if (!t || !scope_for_life(t) || !scope_now(t))
		return 0;
	all = sleepers_find(t);
	if (!all)
		return 0;
	for (i = 0; i < NESTING; i++) {
		w = &all->wait[i];
		if (i >= all->n || w->since > ended_ns || ended_ns - w->since < min_ns || !is_chosen(t, w))
			continue;
		if (with_stacks)
			show_stack(t, w);
		else
			show_wait(t, w);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
