// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A snapshot of all threads. One pass over all tasks writes a record for each thread in scope (snap.h) without
 * disturbing the threads: nothing is stopped, and no task's lock is taken. A thread that is switched in while it is
 * examined is shown as on a CPU, and everything read about it is discarded.
 *
 * Begin of a sleep: a sleeping thread was last charged for its run time when it was switched out. So the time of that
 * charge (exec_start, by a clock that excludes interrupts and stolen time) is the begin of its sleep.
 */
#include "compat.bpf.h"
#include "descriptor.bpf.h"
#include "lock_owner.bpf.h"
#include "loss.bpf.h"
#include "scope.bpf.h"
#include "snap.h"
#include "unwind_maps.bpf.h"

/* include/linux/sched.h */
#define TASK_REPORT 0x007f
#define TASK_RTLOCK_WAIT 0x1000         /* 5.16: sleeps for a spinlock of a real-time kernel */
#define TASK_FROZEN 0x8000              /* 6.1 */

/* Records include the frames of kernel stacks. */
const volatile bool with_stacks = false;

/* Records include the data that the loader needs to walk user stacks. */
const volatile bool with_user_stacks = false;

/* Records include what shows which thread waits for which, and frames; threads out of scope have records, too. */
const volatile bool with_waits = false;

/* Indexes of the arguments of each call that are descriptors, plus 1. Set by the loader. */
const volatile u8 descriptors[TRACE_SLOTS][TRACE_FDS] = {};

/*
 * CLOCK_MONOTONIC minus the scheduler's clock. The scheduler's clock stands still between updates, so the smallest
 * difference is the best one. Before a pass the loader sets this to the largest number and causes an update.
 */
s64 snap_clock_ahead = 0;

static struct snap_record room;

static __always_inline u32 highest_bit(u32 bits)
{
	u32 n = 0, i;

#pragma unroll
	for (i = 0; i < 7; i++)
		if (bits >> i & 1)
			n = i + 1;
	return n;
}

/* Not static: libbpf does not know the offset of a static variable, and the kernel then rejects the object's BTF. */
const u8 letters[8] = { 'R', 'S', 'D', 'T', 't', 'X', 'Z', 'P' };

/* Like fs/proc/array.c, but the same on all kernels: from 6.1 to 6.11 that code shows a frozen task as running. */
static __always_inline char state_of(struct task_struct *t)
{
	u32 state = task_run_state(t);

	if ((state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) == (TASK_UNINTERRUPTIBLE | TASK_NOLOAD))
		return 'I';
	if (state & (TASK_RTLOCK_WAIT | TASK_FROZEN))
		return 'D';
	return letters[highest_bit((state | t->exit_state) & TASK_REPORT)];
}

/* --- since when ------------------------------------------------------------------------------- */

static __always_inline struct rq *run_queue_of(struct task_struct *t)
{
	if (!bpf_core_field_exists(t->se.cfs_rq))
		return NULL;
	return BPF_CORE_READ(t, se.cfs_rq, rq);
}

/*
 * Compares the two clocks on this CPU. Reads the scheduler's clock first: a delay between the reads makes it look
 * older.
 */
static __always_inline void compare_clocks(void)
{
	struct rq *rq = run_queue_of((struct task_struct *)bpf_get_current_task());
	u64 clock;
	s64 ahead;

	if (!rq)
		return;
	clock = BPF_CORE_READ(rq, clock);
	ahead = bpf_ktime_get_ns() - clock;
	if (ahead < snap_clock_ahead)
		snap_clock_ahead = ahead;
}

/* Time of interrupts and stolen time on that CPU so far, which the clock of exec_start excludes. */
static __always_inline u64 left_out(struct task_struct *t)
{
	struct rq *rq = run_queue_of(t);
	u64 task_clock = rq ? BPF_CORE_READ(rq, clock_task) : 0, clock = rq ? BPF_CORE_READ(rq, clock) : 0;

	return clock > task_clock ? clock - task_clock : 0;
}

/*
 * The task was switched in at last_arrival, and its run time since then is known, except for interrupts. In other
 * scheduling classes the run time is unknown, and the result is out of bounds; the lower bound is then used.
 */
static __always_inline void asleep_since(struct snap_thread *s, struct task_struct *t)
{
	u64 charged = t->se.exec_start, arrived = 0, left, latest;

	if (bpf_core_field_exists(t->sched_info.last_arrival))
		arrived = t->sched_info.last_arrival;
	left = arrived + (t->se.sum_exec_runtime - t->se.prev_sum_exec_runtime);
	/* A move to another CPU clears exec_start. */
	latest = charged ? charged + left_out(t) : left;
	s->since = charged > arrived ? charged : arrived;
	if (arrived && left > s->since && left <= latest)
		s->since = left;
	s->doubt_ns = latest > s->since ? latest - s->since : 0;
}

static __always_inline void in_state_since(struct snap_thread *s, struct task_struct *t)
{
	s->doubt_ns = 0;
	s->since = 0;
	if (s->place != SNAP_ON_CPU && s->state != 'R') {
		asleep_since(s, t);
		return;
	}
	if (!bpf_core_field_exists(t->sched_info.last_arrival))
		return;
	s->since = s->place == SNAP_ON_CPU ? t->sched_info.last_arrival : t->sched_info.last_queued;
}

/* --- the call --------------------------------------------------------------------------------- */

static __always_inline void call_of_task(struct snap_thread *s, struct task_struct *t)
{
	struct pt_regs *regs = task_user_regs(t);
	u32 n, i;

	s->place = SNAP_KERNEL_THREAD;
	if (t->flags & PF_KTHREAD || !regs_are_users(regs))
		return;
	if (with_user_stacks && !regs_of_task(&s->regs, regs))
		s->regs.ip = 0;
	if (with_user_stacks)
		s->pthread = thread_pointer(t);
	s->place = SNAP_OUTSIDE;
	s->number = syscall_of(regs);
	if ((s32)s->number < 0)
		return;
	s->place = SNAP_IN_CALL;
	n = s->number < SYSCALL_NUMBERS ? s->number : SYSCALL_NUMBERS - 1;
	if (task_syscall_abi(t) == SYSCALL_NATIVE) {
		s->slot = n;
#pragma unroll
		for (i = 0; i < TRACE_ARGUMENTS; i++)
			s->value[i] = syscall_argument(regs, i);
		return;
	}
	s->slot = SYSCALL_NUMBERS + n;
#pragma unroll
	for (i = 0; i < TRACE_ARGUMENTS; i++)
		s->value[i] = compat_syscall_argument(regs, i);
}

/* Names the file of a descriptor, if it is open. */
static __noinline int add_descriptor(struct task_struct *t, u32 fd, u32 arg)
{
	u64 at = room.thread.used;
	struct trace_chunk *c;
	struct file_name *n;
	struct file *f;

	f = file_of_task(t, fd);
	barrier_var(at);
	if (!f || at > SNAP_ROOM - sizeof(*c) - sizeof(*n))
		return 0;
	c = (struct trace_chunk *)(room.data + at);
	n = (struct file_name *)c->data;
	name_descriptor(n, t, f);
	c->id = TRACE_ID(arg, PART_FD);
	c->flags = 0;
	c->bytes = offsetof(struct file_name, names) + n->size;
	c->element = fd;
	room.thread.used = at + sizeof(*c) + ((c->bytes + 7) & ~7);
	return 0;
}

static __always_inline void add_descriptors(struct task_struct *t)
{
	u64 slot = room.thread.slot;
	u32 i, arg;

	barrier_var(slot);
	if (slot >= TRACE_SLOTS)
		return;
#pragma unroll
	for (i = 0; i < TRACE_FDS; i++) {
		arg = descriptors[slot][i];
		if (arg)
			add_descriptor(t, room.thread.value[(arg - 1) & (TRACE_VALUES - 1)], arg - 1);
	}
}

/* --- who it belongs to ------------------------------------------------------------------------ */

/* The number of a task in its pid namespace at that level; 0 if it has none there. */
static __always_inline u32 number_at(struct task_struct *t, u32 level)
{
	struct pid *pid = BPF_CORE_READ(t, thread_pid);
	struct upid upid = {};

	if (!pid || BPF_CORE_READ(pid, level) < level || bpf_core_read(&upid, sizeof(upid), &pid->numbers[level]))
		return 0;
	return upid.nr;
}

/* include/linux/hung_task.h: kinds in the low bits of task_struct.blocker */
#define BLOCKER_TYPE_MUTEX 0x00UL
#define BLOCKER_TYPE_SEM 0x01UL
#define BLOCKER_TYPE_RWSEM_READER 0x02UL
#define BLOCKER_TYPE_RWSEM_WRITER 0x03UL
#define BLOCKER_TYPE_MASK 0x03UL

static __always_inline void read_lock(struct snap_lock_wait *w, u64 blocker)
{
	w->lock = blocker & ~BLOCKER_TYPE_MASK;
	w->owner = w->memory = 0;
	switch (blocker & BLOCKER_TYPE_MASK) {
	case BLOCKER_TYPE_MUTEX:
		w->kind = SNAP_KERNEL_MUTEX;
		w->owner = (u64)mutex_owner(w->lock);
		return;
	case BLOCKER_TYPE_SEM:
		w->kind = SNAP_SEMAPHORE;
		return;
	case BLOCKER_TYPE_RWSEM_READER:
		w->kind = SNAP_RWSEM_READ;
		break;
	default:
		w->kind = SNAP_RWSEM_WRITE;
		break;
	}
	w->owner = (u64)rwsem_writer(w->lock);
	w->memory = w->lock - bpf_core_field_offset(struct mm_struct, mmap_lock);
}

/*
 * The lock for which the task sleeps: since 6.16 for mutexes and semaphores, since 6.17 for rw_semaphores, with
 * CONFIG_DETECT_HUNG_TASK_BLOCKER. The task waited for the lock before and after the owner was read.
 */
static __always_inline void find_lock(struct snap_lock_wait *w, struct task_struct *t)
{
	u64 blocker;

	w->kind = SNAP_NO_LOCK;
	if (!bpf_core_field_exists(t->blocker))
		return;
	blocker = BPF_CORE_READ(t, blocker);
	if (!blocker)
		return;
	read_lock(w, blocker);
	if (BPF_CORE_READ(t, blocker) != blocker)
		w->kind = SNAP_NO_LOCK;
}

static __noinline int relate(struct task_struct *t)
{
	struct task_struct *reader = (struct task_struct *)bpf_get_current_task();
	struct snap_relations *r = &room.thread.relations;

	r->began = BPF_CORE_READ(t, start_time);
	r->switches = BPF_CORE_READ(t, nvcsw) + BPF_CORE_READ(t, nivcsw);
	r->memory = (u64)BPF_CORE_READ(t, mm);
	r->task = (u64)t;
	r->clear_tid = (u64)BPF_CORE_READ(t, clear_child_tid);
	r->parent = BPF_CORE_READ(t, real_parent, tgid);
	r->tracer = BPF_CORE_READ(t, ptrace) ? BPF_CORE_READ(t, parent, tgid) : 0;
	r->own_tid = number_at(t, BPF_CORE_READ(t, thread_pid, level));
	r->seen_pid = number_at(BPF_CORE_READ(t, group_leader), BPF_CORE_READ(reader, thread_pid, level));
	if (!(BPF_CORE_READ(t, flags) & PF_KTHREAD) && BPF_CORE_READ(t, vfork_done))
		room.thread.flags |= SNAP_VFORKED;
	find_lock(&r->lock, t);
	return 0;
}

/* --- the pass --------------------------------------------------------------------------------- */

static __always_inline void stack_of_task(struct snap_thread *s, struct task_struct *t)
{
	u64 *frames = (u64 *)room.data;
	/* The kernel omits scheduler functions from such a walk, because it is meant to show where a task waits. */
	long bytes = bpf_get_task_stack(t, frames, SNAP_FRAMES * sizeof(*frames), 0);
	u64 n = bytes > 0 ? (u64)bytes / sizeof(*frames) : 0;

	barrier_var(n);
	if (!n || n > SNAP_FRAMES)
		return;
	s->waits_in = frames[0];
	s->entry = frames[n - 1];
	if (!with_stacks && !with_waits)
		return;
	s->frames = n;
	s->used = n * sizeof(*frames);
}

static __always_inline u64 switches_of(struct task_struct *t)
{
	return t->nvcsw + t->nivcsw;
}

static __always_inline void identify(struct task_key *key, struct task_struct *t)
{
	key->pid = t->tgid;
	key->tid = t->pid;
	key->uid = scope_uid(t);
	key->cpu = task_cpu(t);
	key->pidns = task_pidns(t);
	key->cgroup = scope_cgroup_id(t);
	bpf_probe_read_kernel(key->comm, sizeof(key->comm), t->comm);
}

static __always_inline void be_on_cpu(struct snap_thread *s)
{
	s->place = SNAP_ON_CPU;
	s->used = s->frames = 0;
	s->waits_in = s->entry = 0;
	s->regs.ip = 0;
}

static __always_inline void look_at(struct snap_thread *s, struct task_struct *t)
{
	u64 switches = switches_of(t);

	s->used = s->frames = 0;
	s->waits_in = s->entry = 0;
	s->regs.ip = 0;
	s->state = state_of(t);
	if (is_on_cpu(t)) {
		be_on_cpu(s);
	} else if (t->exit_state) {
		s->place = SNAP_ENDED;
	} else {
		call_of_task(s, t);
		stack_of_task(s, t);
		if (s->place == SNAP_IN_CALL)
			add_descriptors(t);
	}
	in_state_since(s, t);
	if (s->place == SNAP_ON_CPU || s->place == SNAP_ENDED)
		return;
	if (!is_on_cpu(t) && switches_of(t) == switches && !t->exit_state)
		return;
	be_on_cpu(s);
	s->state = state_of(t);
	in_state_since(s, t);
}

static __always_inline bool is_in_scope(struct task_struct *t)
{
	return scope_for_life(t) && (!scope.has_cpus || scope_has_cpu(task_cpu(t))) && scope_has_task_now(t);
}

SEC("iter/task")
int snap(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	u64 size;

	compare_clocks();
	if (!t)
		return 0;
	room.thread.flags = is_in_scope(t) ? 0 : SNAP_OUT_OF_SCOPE;
	if (room.thread.flags && !with_waits)
		return 0;
	room.thread.at_ns = bpf_ktime_get_ns();
	if (with_waits || with_stacks || with_user_stacks)
		relate(t);
	identify(&room.thread.task, t);
	look_at(&room.thread, t);
	size = room.thread.used;
	barrier_var(size);
	if (size <= SNAP_ROOM)
		bpf_seq_write(ctx->meta->seq, &room, sizeof(room.thread) + size);
	return 0;
}

/* --- the other ends of sockets ---------------------------------------------------------------- */

static __always_inline void read_end(struct snap_end *e, u16 family, const void *ip, u32 port)
{
	e->port = port;
	if (family == AF_INET6) {
		bpf_probe_read_kernel(e->ip, sizeof(e->ip), ip);
		return;
	}
	e->ip[10] = e->ip[11] = 0xff;
	bpf_probe_read_kernel(&e->ip[12], 4, ip);
}

static __always_inline void read_tcp_ends(struct snap_socket *s, struct sock *sk)
{
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	const void *local = &sk->__sk_common.skc_rcv_saddr, *remote = &sk->__sk_common.skc_daddr;

	if (family == AF_INET6) {
		if (!bpf_core_field_exists(sk->__sk_common.skc_v6_daddr))
			return;
		local = &sk->__sk_common.skc_v6_rcv_saddr;
		remote = &sk->__sk_common.skc_v6_daddr;
	}
	s->is_tcp = true;
	if (bpf_core_field_exists(sk->__sk_common.skc_net.net))
		s->netns = (u64)BPF_CORE_READ(sk, __sk_common.skc_net.net);
	read_end(&s->local, family, local, BPF_CORE_READ(sk, __sk_common.skc_num));
	read_end(&s->remote, family, remote, swapped(BPF_CORE_READ(sk, __sk_common.skc_dport)));
}

SEC("iter/task_file")
int show_socket(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	struct snap_socket s = {};
	struct sock *sk, *peer;
	u16 family;

	if (!ctx->task || !file)
		return 0;
	sk = socket_of_file(file);
	if (!sk)
		return 0;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	s.inode = BPF_CORE_READ(file, f_inode, i_ino);
	s.type = BPF_CORE_READ(sk, sk_type);
	if (family == AF_UNIX) {
		peer = BPF_CORE_READ((struct unix_sock *)sk, peer);
		if (!peer)
			return 0;
		s.peer = BPF_CORE_READ(peer, sk_socket, file, f_inode, i_ino);
	} else if ((family == AF_INET || family == AF_INET6) && BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP) {
		read_tcp_ends(&s, sk);
	}
	if (s.peer || s.remote.port)
		bpf_seq_write(ctx->meta->seq, &s, sizeof(s));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
