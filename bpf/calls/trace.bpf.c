// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Records each system call when it ends, with its arguments and their targets; or sums without records (--summary). The
 * subject is the calling task.
 *
 * Input is read when the call begins, because another thread may change it before the end, and a successful exec
 * discards it. Programs cannot wait for a page that is not in memory, but the call itself does, so reads that failed
 * are repeated at the end.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "answered.bpf.h"
#include "fetch.bpf.h"
#include "loss.bpf.h"
#include "page_fault.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "callers.bpf.h"
#include "task_state.bpf.h"
#include "trace.h"
#include "writer.bpf.h"

const volatile u64 min_ns = 0;
const volatile bool failed_only = false;
const volatile bool succeeded_only = false;

/* The tracer's child, shown from its exec. 0 if there is no command. */
const volatile u32 command = 0;
bool command_runs = false;

/* A process leaves the scope when it runs another program. */
const volatile bool leaves_at_exec = false;

/* Time at which the gate was opened. */
u64 began_ns = 0;

/* Nonzero if no more calls are recorded, because the last report is in progress. */
u32 closed = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACE_SLOTS + TRACE_COMMANDS);
	__type(key, u32);
	__type(value, struct trace_call);
} calls SEC(".maps");

/* The index in `calls` of a command's entry. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRACE_COMMANDS);
	__type(key, struct trace_command);
	__type(value, u32);
} commands SEC(".maps");

/* --- what both measurements share ------------------------------------------------------------- */

static __always_inline u32 slot_of(u64 number)
{
	u32 n = number < SYSCALL_NUMBERS ? number : SYSCALL_NUMBERS - 1;

	return current_syscall_abi() * SYSCALL_NUMBERS + n;
}

/* True in the tracer's child before its exec of the command. */
static __always_inline bool is_before_command(void)
{
	return command && !command_runs && (u32)(bpf_get_current_pid_tgid() >> 32) == command;
}

/* Returns the call if it is requested, in scope, and not made by the child before its exec; otherwise NULL. */
static __always_inline struct trace_call *call_begins(u32 slot)
{
	struct trace_call *call;

	if (!armed || closed)
		return NULL;
	call = bpf_map_lookup_elem(&calls, &slot);
	if (!call || (is_before_command() && !call->exec))
		return NULL;
	return call->wanted && in_scope(NULL) ? call : NULL;
}

/* For a call that is out of scope: true if it may come into scope before it returns. */
static __always_inline bool may_be_wanted_at_exit(u32 slot)
{
	struct trace_call *call;

	if (!armed || closed || !may_come_into_scope())
		return false;
	call = bpf_map_lookup_elem(&calls, &slot);
	return call && call->wanted;
}

/*
 * Returns the returning call if it is requested and the kernel did not run it; otherwise NULL. The caller has not seen
 * an entry, which would have been marked. is_known: the task has a state. Tasks from before the run have a state,
 * unless it could not be created.
 */
static __always_inline struct trace_call *call_answered(u32 slot, s64 result, bool is_known)
{
	struct trace_call *call = bpf_map_lookup_elem(&calls, &slot);

	if (!call || !call->wanted || (call->forks && !result) || is_before_command() || !may_be_answered())
		return NULL;
	if (!is_known && is_older_than(calling_task(), began_ns) && !(command && command_runs))
		return NULL;
	return in_scope(NULL) ? call : NULL;
}

SEC("tp_btf/sched_process_exec")
int UNPREEMPTED_PROG(command_exec, struct task_struct *t)
{
	if (is_before_command())
		command_runs = true;
	else if (leaves_at_exec)
		scope_process_ends(t);
	return 0;
}

static __always_inline bool is_exec(u32 slot)
{
	struct trace_call *call = bpf_map_lookup_elem(&calls, &slot);

	return call && call->exec;
}

/*
 * True if the call that ends is not the call whose entry was seen. If so, the end of the earlier call and the entry of
 * this one were missed, and are counted (LOSS_RECURSION). rt_sigreturn leaves -1 as the number. A successful exec has
 * become execve, in the new program's table.
 */
static __always_inline bool is_other_call(struct pt_regs *regs, u32 slot, u32 number)
{
	s64 ends = (s32)syscall_number(regs);

	return ends >= 0 && ends != (s32)number && !(is_exec(slot) && is_exec(slot_of(ends)));
}

static __always_inline bool is_error(s64 result)
{
	return result < 0 && result >= -MAX_ERRNO;
}

/* True if calls with this result are requested. */
static __always_inline bool is_asked_result(s64 result)
{
	return is_error(result) ? !succeeded_only : !failed_only;
}

/* True if calls without a result are requested. */
static __always_inline bool asks_no_result(void)
{
	return !failed_only && !succeeded_only;
}

/* --- records ---------------------------------------------------------------------------------- */

static const struct trace_state no_state = {};

static __always_inline void emit(struct trace_record *r, u32 state)
{
	u64 used = r->used;

	r->state = state;
	r->cpu = bpf_get_smp_processor_id();
	barrier_var(used);
	if (used <= TRACE_ROOM)
		ring_output(r, offsetof(struct trace_record, data) + used);
}

static __always_inline void fill(struct trace_record *r, struct pt_regs *regs, u64 number, u32 slot,
				 u32 narrow)
{
	u64 id = bpf_get_current_pid_tgid();
	u32 i;

	r->pid = id >> 32;
	r->tid = id;
	r->slot = slot;
	r->number = number;
	r->ip = instruction_pointer(regs);
	r->used = 0;
	r->stack = (struct stack_id){};
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	if (slot < SYSCALL_NUMBERS)
		syscall_arguments(regs, r->value);
	else
		compat_syscall_arguments(regs, r->value);
	for (i = 0; i < TRACE_ARGUMENTS; i++)
		if (narrow >> i & 1)
			r->value[i] = (u32)r->value[i];
	r->value[TRACE_RESULT] = 0;
	r->value[TRACE_ONE] = 1;
}

/* Returns the entry of the call's command, or that of the call if there is none. */
static __always_inline struct trace_call *as_commanded(struct trace_record *r, struct trace_call *call)
{
	struct trace_command key = { .slot = r->slot };
	struct trace_call *of_command;
	u32 *at;

	if (!call->command)
		return call;
	key.command = r->value[(call->command - 1) & (TRACE_VALUES - 1)];
	at = bpf_map_lookup_elem(&commands, &key);
	if (!at)
		return call;
	of_command = bpf_map_lookup_elem(&calls, at);
	return of_command ?: call;
}

SEC("tp_btf/sys_enter")
int UNPREEMPTED_PROG(call_enter, struct pt_regs *regs, long number)
{
	struct trace_state *s = states_find(calling_task());
	u32 slot = slot_of(number);
	struct trace_call *call;

	if (s && armed) {
		s->before = 0;
		s->entered = 1;
	}
	call = call_begins(slot);
	if (!call) {
		if (!s && may_be_wanted_at_exit(slot)) {
			s = states_get(calling_task(), (struct trace_state *)&no_state);
			if (s)
				s->entered = 1;
		}
		return 0;
	}
	s = s ?: states_get(calling_task(), (struct trace_state *)&no_state);
	if (!s) {
		count_lost(LOSS_NO_STORAGE);
		return 0;
	}
	s->entered = 1;
	fill(&s->r, regs, number, slot, call->narrow);
	if (call->frame)
		s->r.value[0] = stack_pointer(regs) + call->frame;
	s->missing = 0;
	fetch_at_begin(s, as_commanded(&s->r, call));
	s->r.start_ns = s->r.time_ns = bpf_ktime_get_ns();
	s->active = !call->no_return;
	if (call->no_return && asks_no_result() && !min_ns) {
		if (take)
			stack_count_flaw(callers_take(ctx, &s->r.stack));
		emit(&s->r, TRACE_NO_RETURN);
	}
	return 0;
}

/* Used if the entry was not seen: the registers still contain the arguments. */
static __always_inline void fill_at_end(struct trace_state *s, struct pt_regs *regs, u32 slot, struct trace_call *call)
{
	fill(&s->r, regs, syscall_number(regs), slot, call->narrow);
	s->given = ~0U;
	s->r.start_ns = 0;
	s->missing = ~0U;
}

/* Returns true for a call that began before the trace, after filling in its record. */
static __always_inline bool call_began_before(struct trace_state *s, struct pt_regs *regs)
{
	u32 slot = slot_of(syscall_number(regs));
	struct trace_call *call = bpf_map_lookup_elem(&calls, &slot);

	if (!s->before)
		return false;
	s->before = 0;
	if (!call || !call->wanted || !scope_now(NULL))
		return false;
	fill_at_end(s, regs, slot, call);
	return true;
}

/*
 * Handles a call without an entry. A number of -1 means that a tracer has removed the number, or that this is
 * rt_sigreturn; the two can be distinguished only for a known task, since all of its entries are seen.
 */
static __always_inline int answered_exit(void *ctx, struct trace_state *s, struct pt_regs *regs, s64 result)
{
	u64 number = syscall_number(regs);
	u32 slot = slot_of(number);
	struct trace_call *call;

	if (!s && (s32)number < 0)
		return 0;
	call = call_answered(slot, result, s);
	if (!call || !is_asked_result(result))
		return 0;
	count_answered();
	if (min_ns)
		return 0;
	s = s ?: states_get(calling_task(), (struct trace_state *)&no_state);
	if (!s) {
		count_lost(LOSS_NO_STORAGE);
		return 0;
	}
	fill_at_end(s, regs, slot, call);
	s->r.time_ns = bpf_ktime_get_ns();
	s->r.value[TRACE_RESULT] = result;
	fetch_at_end(s, as_commanded(&s->r, call));
	if (take)
		stack_count_flaw(callers_take(ctx, &s->r.stack));
	emit(&s->r, TRACE_ANSWERED);
	return 0;
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(call_exit, struct pt_regs *regs, long result)
{
	struct trace_state *s = states_find(calling_task());
	struct trace_call *call;
	u64 now;
	u32 slot;

	if (!armed || closed)
		return 0;
	if (!s || !(s->active || s->before || s->entered))
		return answered_exit(ctx, s, regs, result);
	s->entered = 0;
	now = bpf_ktime_get_ns();
	if (s->active ? is_other_call(regs, s->r.slot, s->r.number) : !call_began_before(s, regs)) {
		s->active = 0;
		return 0;
	}
	s->active = 0;
	/* Failed execs of the child, along PATH, are also not calls of the command. */
	if (is_before_command() || !is_asked_result(result))
		return 0;
	if (now - (s->r.start_ns ?: began_ns) < min_ns)
		return 0;
	slot = s->r.slot;
	call = bpf_map_lookup_elem(&calls, &slot);
	if (!call)
		return 0;
	if (!s->r.start_ns)
		count_begun_before();
	s->r.time_ns = now;
	s->r.value[TRACE_RESULT] = result;
	fetch_at_end(s, as_commanded(&s->r, call));
	if (take)
		stack_count_flaw(callers_take(ctx, &s->r.stack));
	emit(&s->r, TRACE_RETURNED);
	return 0;
}

/* Handles a task that ends in a call: it was killed, or another thread ended the whole process. */
SEC("tp_btf/sched_process_exit")
int UNPREEMPTED_PROG(task_exit, struct task_struct *t)
{
	struct trace_state *s = states_find(calling_task());

	if (!s || !armed || closed || !s->active)
		return 0;
	s->active = 0;
	s->r.time_ns = bpf_ktime_get_ns();
	if (asks_no_result() && s->r.time_ns - s->r.start_ns >= min_ns)
		emit(&s->r, TRACE_ENDED);
	return 0;
}

/* Existing tasks may be in a call when the trace starts. */
SEC("iter/task")
int seed_states(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct trace_state *s;

	if (!t || t->flags & PF_KTHREAD || (command && (u32)t->tgid == command) ||
	    !scope_for_life(t))
		return 0;
	s = states_get(t, (struct trace_state *)&no_state);
	if (s)
		s->before = 1;
	return 0;
}

/* Sends calls that are still in progress. Runs only after recording has ended, because it writes to their records. */
SEC("iter/task")
int show_running(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct trace_state *s;

	if (!t)
		return 0;
	s = states_find(t);
	if (!s || !(s->active || s->before) || !asks_no_result())
		return 0;
	/* The CPU on which the call began is unknown. */
	if (!s->active && (scope.has_cpus || !scope_now(t)))
		return 0;
	s->r.time_ns = bpf_ktime_get_ns();
	if (s->r.time_ns - (s->active ? s->r.start_ns : began_ns) < min_ns)
		return 0;
	if (s->active) {
		emit(&s->r, TRACE_RUNNING);
		return 0;
	}
	s->r.pid = t->tgid;
	s->r.tid = t->pid;
	s->r.used = 0;
	s->r.start_ns = 0;
	s->r.slot = task_syscall_abi(t) * SYSCALL_NUMBERS;
	bpf_probe_read_kernel(s->r.comm, sizeof(s->r.comm), t->comm);
	emit(&s->r, TRACE_SINCE_BEFORE);
	return 0;
}

/* --- page faults ------------------------------------------------------------------------------ */

const volatile bool summary = false;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);         /* indexed by FAULT_IN_KERNEL */
	__type(key, u32);
	__type(value, u64);
} faults SEC(".maps");

static __always_inline void show_fault(u64 address, struct pt_regs *regs, u64 error, u32 in_kernel)
{
	u64 space[__builtin_offsetof(struct trace_record, data) / sizeof(u64)] = {};
	struct trace_record *r = (struct trace_record *)space;
	u64 id = bpf_get_current_pid_tgid();

	r->time_ns = bpf_ktime_get_ns();
	r->pid = id >> 32;
	r->tid = id;
	r->cpu = bpf_get_smp_processor_id();
	r->state = TRACE_FAULT;
	r->value[FAULT_ADDRESS] = address;
	r->value[FAULT_IP] = instruction_pointer(regs);
	r->value[FAULT_ERROR] = error;
	r->value[FAULT_IN_KERNEL] = in_kernel;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	ring_output(r, sizeof(space));
}

static __always_inline int page_fault(u64 address, struct pt_regs *regs, u64 error, u32 in_kernel)
{
	u64 *n;

	if (!armed || closed || is_before_command() || is_only_a_try() || !in_scope(NULL))
		return 0;
	if (!summary) {
		show_fault(address, regs, error, in_kernel);
		return 0;
	}
	n = bpf_map_lookup_elem(&faults, &in_kernel);
	if (n)
		*n += 1;
	return 0;
}

SEC("tp_btf/page_fault_user")
int UNPREEMPTED_PROG(fault_user, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	return page_fault(address, regs, error, 0);
}

SEC("tp_btf/page_fault_kernel")
int UNPREEMPTED_PROG(fault_kernel, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	return page_fault(address, regs, error, 1);
}

/* --- sums ------------------------------------------------------------------------------------- */

struct call_start {
	u64 start_ns;           /* 0 if in no requested call */
	u32 slot, number;
	u64 entered;            /* in a call that is out of scope */
};

TASK_STATE(starts, struct call_start)

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2 * TRACE_SLOTS);
	__type(key, u32);
	__type(value, struct trace_sum);
} sums SEC(".maps");

/* Subtracted from the time of each call. */
const volatile u64 overhead_ns = 0;

/* The number of the current iteration over all tasks; set by the loader. */
u64 visit = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACE_SLOTS);
	__type(key, u32);
	__type(value, struct trace_running);
} running SEC(".maps");

SEC("tp_btf/sys_enter")
int UNPREEMPTED_PROG(sum_enter, struct pt_regs *regs, long number)
{
	u32 slot = slot_of(number);
	struct trace_call *call = call_begins(slot);
	struct call_start *s;

	if (!call && may_be_wanted_at_exit(slot)) {
		s = starts_get(calling_task(), NULL);
		if (s)
			s->entered = 1;
		return 0;
	}
	if (!call || call->no_return)
		return 0;
	s = starts_get(calling_task(), NULL);
	if (!s) {
		count_lost(LOSS_NO_STORAGE);
		return 0;
	}
	s->slot = slot;
	s->number = number;
	s->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* Adds ns * ns in 128 bits. This is exact for any time; the variance is later a small difference of such sums. */
static __always_inline void add_square(u64 sum[2], u64 ns)
{
	u64 low = (u32)ns, high = ns >> 32, middle = low * high;
	u64 square = low * low, carry;

	/* ns * ns = high^2 * 2^64 + 2 * middle * 2^32 + low^2 */
	carry = high * high + (middle >> 31);
	middle <<= 33;
	square += middle;
	carry += square < middle;
	sum[0] += square;
	sum[1] += carry + (sum[0] < square);
}

static __always_inline void add_call(struct trace_sum *sum, u64 ns, bool failed)
{
	sum->count++;
	sum->errors += failed;
	sum->ns += ns;
	add_square(sum->squares, ns);
	if (~ns > sum->min_inv)
		sum->min_inv = ~ns;
	if (ns > sum->max_ns)
		sum->max_ns = ns;
}

/*
 * Called if the call that ends is the first requested one seen of its task. If the task is older than the run, the call
 * began before the run.
 */
static __always_inline void sum_unseen(struct pt_regs *regs)
{
	u32 slot = slot_of(syscall_number(regs));
	struct trace_call *call;

	if (!armed || !scope_for_life(NULL))
		return;
	call = bpf_map_lookup_elem(&calls, &slot);
	if (!call || !call->wanted || is_before_command() || !scope_now(NULL) ||
	    !is_older_than(calling_task(), began_ns))
		return;
	starts_get(calling_task(), NULL);       /* so that it is counted only once */
	count_begun_before();
}

/* Handles a call without an entry, which is counted but not in the sums. */
static __always_inline int sum_answered(struct call_start *s, struct pt_regs *regs, s64 result)
{
	u64 number = syscall_number(regs);

	if (s && s->entered)
		s->entered = 0;
	else if ((s32)number >= 0 && call_answered(slot_of(number), result, s) && is_asked_result(result) && !min_ns)
		count_answered();
	return 0;
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(sum_exit, struct pt_regs *regs, long result)
{
	struct call_start *s = starts_find(calling_task());
	struct trace_sum *sum;
	u64 ns;
	u32 slot;

	if (closed)
		return 0;
	if (!s)
		sum_unseen(regs);
	if (!s || !s->start_ns)
		return armed ? sum_answered(s, regs, result) : 0;
	ns = bpf_ktime_get_ns() - s->start_ns;
	slot = 2 * s->slot + (*(volatile u32 *)&writer_generation & 1);
	s->start_ns = 0;
	if (is_other_call(regs, s->slot, s->number))
		return 0;
	if (is_before_command() || ns < min_ns || !is_asked_result(result))
		return 0;
	sum = bpf_map_lookup_elem(&sums, &slot);
	if (sum)
		add_call(sum, ns > overhead_ns ? ns - overhead_ns : 0, is_error(result));
	return 0;
}

SEC("iter/task")
int sum_running(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct trace_running *r;
	struct call_start *s;
	u64 start, ns;
	u32 slot;

	if (!t)
		return 0;
	s = starts_find(t);
	if (!s)
		return 0;
	start = s->start_ns;
	slot = s->slot;
	/* 0 if the call has ended. Exiting tasks are in no call. */
	if (!start || (t->flags & PF_EXITING))
		return 0;
	r = bpf_map_lookup_elem(&running, &slot);
	ns = bpf_ktime_get_ns() - start;
	if (!r || ns < min_ns || !asks_no_result())
		return 0;
	if (r->visit != visit) {
		r->visit = visit;
		r->count = r->ns = r->max_ns = 0;
	}
	r->count++;
	r->ns += ns;
	if (ns > r->max_ns)
		r->max_ns = ns;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
