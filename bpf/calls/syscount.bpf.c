// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * System calls: the number that returned, the number that failed, and their duration. A call counts when it returns, so
 * counting needs one hook; durations need a second one, and per-task state between the two. The subject is the calling
 * task.
 *
 * Programs on these hooks do not interrupt themselves on one CPU: only tasks make system calls, and where such a
 * program can be preempted (7.0), the kernel skips it for other tasks on that CPU and counts this. So plain adds are
 * exact.
 */
#define SCOPE_CURRENT
#include "compat.bpf.h"
#include "answered.bpf.h"
#include "element.bpf.h"
#include "hist.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "syscount.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"
#include "writer.bpf.h"

const volatile u8 traits[CALLS] = {};           /* enum call_traits */
const volatile u32 sigreturn[SYSCALL_ABIS] = {};        /* number of rt_sigreturn() */
const volatile bool only_failed = false;
const volatile u32 only_errno = 0;              /* 0: any */
const volatile bool tell_failed = true;         /* distinguish failed from successful calls */
const volatile bool only_calls = false;         /* only calls are distinguished: keyed_call_times */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OUTCOME_INDEXES);
	__type(key, u32);
	__type(value, u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__uint(key_size, sizeof(struct syscount_key));  /* or less, as set by the loader */
	__uint(value_size, sizeof(struct syscount_count));
} keyed_counts SEC(".maps");

/* Unused, because results always have keys. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hist_whole);
} times SEC(".maps"), call_times SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct syscount_time_key);
	__type(value, struct hist_segment);
} keyed_times SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct syscount_call_key);
	__type(value, struct hist_segment);
} keyed_call_times SEC(".maps");

/* --- which call, and how it ended ------------------------------------------------------------- */

static __always_inline u32 call_of(struct task_struct *t, u64 number)
{
	u32 abi = is_native_of(t) ? SYSCALL_NATIVE : SYSCALL_COMPAT;

	if (number >= CALL_BEYOND)
		number = CALL_BEYOND;
	return abi << CALL_NUMBER_BITS | (u32)number;
}

/*
 * Returns the call that returns now, from the registers. A return from a signal handler has restored the registers of
 * the interrupted code, with -1 as the number. (The system call -1 itself returns -ENOSYS.) A successful execveat()
 * looks like execve().
 */
static __always_inline u32 call_returning(struct task_struct *t, struct pt_regs *regs, long ret)
{
	long number = syscall_number(regs);

	if (number == -1 && ret != -ENOSYS)
		number = sigreturn[is_native_of(t) ? SYSCALL_NATIVE : SYSCALL_COMPAT];
	return call_of(t, number);
}

static __always_inline bool has_trait(u32 call, u8 trait)
{
	/* 5.10 loses the range of a spilled register, so state the range each time. */
	barrier_var(call);
	return traits[call & (CALLS - 1)] & trait;
}

/* Returns 0 on success. */
static __always_inline u32 errno_of(u32 call, long ret)
{
	if (ret >= 0 || ret < -MAX_ERRNO || has_trait(call, CALL_SIGRETURN))
		return 0;
	return -ret;
}

static __always_inline bool is_wanted(u32 error)
{
	if (only_errno)
		return error == only_errno;
	return error || !only_failed;
}

static __always_inline u32 outcome_of(u32 call, u32 error)
{
	if (!(by & BY_ERRNO))
		error = error && tell_failed;
	return OUTCOME(by & BY_SYSCALL ? call : 0, error);
}

/* --- counting --------------------------------------------------------------------------------- */

static __always_inline int count_in_array(u32 call, u32 error)
{
	u32 index = OUTCOME_INDEX(call, error != 0);
	u64 *n = bpf_map_lookup_elem(&counts, &index);

	if (n)
		*n += 1;
	return 0;
}

static __always_inline int count_keyed(struct task_struct *t, u32 call, u32 error)
{
	struct syscount_key key = { .writer = this_writer() };
	struct syscount_count *c, fresh = {};

	key.outcome = outcome_of(call, error);
	task_key_of(&key.task, t);
	c = element_of(&keyed_counts, &key, &fresh);
	if (!c)
		return 0;
	c->count++;
	task_key_name_by_ticks(c->name, &c->name_stamp, t);
	return 0;
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(count_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *t = calling_task();
	u32 call, error;

	if (!armed)
		return 0;
	call = call_returning(t, regs, ret);
	if (!has_trait(call, CALL_ASKED) || (!ret && has_trait(call, CALL_FORKS)))
		return 0;
	if (!in_scope(t))
		return 0;
	error = errno_of(call, ret);
	if (!is_wanted(error))
		return 0;
	return by == BY_SYSCALL ? count_in_array(call, error) : count_keyed(t, call, error);
}

/* --- times ------------------------------------------------------------------------------------ */

#define CALL_SEEN (1U << 31)    /* every call that the task begins will be seen */
#define CALL_OLDER (1U << 30)   /* this call began before the programs were attached */

/* Time at which the programs were attached; 0 if there is no task iterator. */
u64 began_ns = 0;

struct call_state {
	u64 since;              /* 0 if in no requested call */
	u32 call;               /* that call, with the bits above */
	u32 pad;
};

TASK_STATE(call_states, struct call_state)

/* True if the end of the call may be in scope. A command's execve() begins before the command is in scope. */
static __always_inline bool may_be_in_scope(struct task_struct *t)
{
	return scope_for_life(t) || (scope.command && scope_tgid(t) == scope.command);
}

SEC("tp_btf/sys_enter")
int UNPREEMPTED_PROG(time_enter, struct pt_regs *regs, long number)
{
	struct task_struct *t = calling_task();
	u32 call = call_of(t, number);
	struct call_state *st;

	if (!has_trait(call, CALL_ASKED) || !may_be_in_scope(t))
		return 0;
	st = call_states_get(t, NULL);
	if (!st)
		return 0;       /* counted when it returns */
	st->call = call | CALL_SEEN;
	st->since = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int add_keyed_time(struct task_struct *t, u32 outcome, u64 now,
					  u64 elapsed_ns)
{
	struct syscount_time_key key = { .outcome = outcome };
	struct hist_segment *h;

	task_key_of(&key.task, t);
	h = hist_add_key(&keyed_times, &key.slot, elapsed_ns);
	if (h)
		task_key_name(h->name, &h->name_stamp, t, now);
	return 0;
}

static __always_inline int add_time(struct task_struct *t, u32 call, u32 error, u64 now,
				    u64 elapsed_ns)
{
	struct syscount_call_key key = { .outcome = outcome_of(call, error) };

	if (!only_calls)
		return add_keyed_time(t, key.outcome, now, elapsed_ns);
	hist_add_key(&keyed_call_times, &key.slot, elapsed_ns);
	return 0;
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(time_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *t = calling_task();
	struct call_state *st;
	u64 since, now;
	u32 call, error, seen;

	if (!may_be_in_scope(t)) {
		count_filtered();
		return 0;
	}
	st = call_states_get(t, NULL);
	since = st ? st->since : 0;
	seen = st ? st->call : 0;
	call = since ? seen : call_returning(t, regs, ret);
	call &= CALLS - 1;
	if (st) {
		st->since = 0;
		st->call = CALL_SEEN;
	}
	error = errno_of(call, ret);
	if (!armed || !has_trait(call, CALL_ASKED) || (!ret && has_trait(call, CALL_FORKS)))
		return 0;
	if (!is_wanted(error))
		return 0;
	if ((scope.command && !in_scope_for_life(t)) || !in_scope_now(t))
		return 0;
	/*
	 * A call that ends without an entry, in a task whose calls are seen, was answered by seccomp or a tracer: its
	 * time is unknown and counts as 0. Otherwise it was running on a CPU when the programs were attached.
	 */
	if (!since && !seen && is_older_than(t, began_ns)) {
		since = began_ns;
		seen = CALL_OLDER;
	} else if (!since && may_be_answered()) {
		count_answered();
	} else if (!since && !seen) {
		count_lost(LOSS_UNMATCHED);
		return 0;
	}
	if (seen & CALL_OLDER)
		count_begun_before();
	now = bpf_ktime_get_ns();
	return add_time(t, call, error, now, since ? now - since : 0);
}

/* --- calls in progress ------------------------------------------------------------------------ */

#define PF_IO_WORKER 0x00000010
#define PF_USER_WORKER 0x00004000       /* 6.4 */

static __always_inline bool makes_calls(struct task_struct *t)
{
	return t && !(t->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER));
}

/*
 * Records calls that are in progress at the start, in tasks that are not on a CPU. Their registers contain the call's
 * number, or a negative number if an interrupt brought the task into the kernel. Does not overwrite state that the
 * hooks have already written.
 */
SEC("iter/task")
int seed_calls(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct call_state init = {};
	long number;
	u32 call;

	if (!began_ns)
		began_ns = bpf_ktime_get_ns();
	if (!makes_calls(t) || t->on_cpu || !scope_for_life(t))
		return 0;
	number = task_syscall_number(t);
	call = number < CALL_BEYOND ? number : CALL_BEYOND;
	if (task_syscall_abi(t) == SYSCALL_COMPAT)
		call |= SYSCALL_NUMBERS;
	init.call = CALL_SEEN;
	if (number >= 0 && has_trait(call, CALL_ASKED)) {
		init.call |= call | CALL_OLDER;
		init.since = bpf_ktime_get_ns();
	}
	call_states_get(t, &init);
	return 0;
}

/* Writes one struct syscount_running for each call in progress. */
SEC("iter/task")
int show_running(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct syscount_running r = {};
	struct call_state *st;
	u64 since, stamp;

	if (!makes_calls(t) || !scope_for_life(t) || !scope_now(t))
		return 0;
	st = call_states_get(t, NULL);
	since = st ? st->since : 0;
	if (!since)
		return 0;
	r.outcome = outcome_of(st->call & (CALLS - 1), 0);
	r.elapsed_ns = bpf_ktime_get_ns() - since;
	task_key_of(&r.task, t);
	task_key_name(r.name, &stamp, t, 0);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
