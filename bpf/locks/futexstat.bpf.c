// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Futex waits: their duration and result; or the number of tasks woken by each wake. A call of the futex family counts
 * when it returns; the subject is the calling task. Calls of 32-bit programs are ignored.
 *
 * The call's arguments are kept with its task from the entry, because futex(2) may change the registers. The stack is
 * also taken at the entry: waits that never end are the most interesting ones, and a task that is about to sleep has
 * the time.
 *
 * With --waits, context switches show the waits in which a task sleeps. No program then runs at system calls, where a
 * hook turns on the slow path of every system call on the machine. The registers of the task that leaves its CPU
 * identify the call.
 */
#define SCOPE_UNTYPED
#include "answered.bpf.h"
#include "compat.bpf.h"
#include "futexstat.h"
#include "hist.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"
#include "waiting.bpf.h"

const volatile u64 min_ns = 0;
const volatile bool with_stacks = false;
const volatile u32 take = STACK_USER;           /* enum stack_flags */
const volatile bool of_wakes = false;           /* measure wakes instead of waits */
const volatile bool at_switches = false;        /* --waits */
/* System call numbers, which differ between architectures. */
const volatile u32 nr_futex = 0, nr_restart = 0, nr_sigreturn = 0;

/* Nonzero after the run has ended: state no longer changes, so that the loader can read it. */
u64 ended_ns = 0;

/* Written by the loader when the run begins. */
u64 began_ns = 0;

u64 waits_by_stack = 0;

HIST_MAPS(waits, struct futex_key);

/* Used with stacks; the sums are in ns. */
STACK_COUNTS(counts);

struct futex_call {
	u64 since;              /* 0 if no call is in progress */
	u64 address;
	u64 vector;             /* futex_waitv(): its array */
	struct stack_id stack;
	u32 shared;
	u32 op;
	u32 owner;
	u32 restarts;           /* interrupted; restart_syscall() may continue it */
	u32 flaw;               /* of the stack */
	u32 result;             /* --waits: enum futex_result */
};

/* Value of since with --waits: the task was asleep when the programs were attached. */
#define SINCE_EVER 1

TASK_STATE(futex_calls, struct futex_call)

/* --- calls ------------------------------------------------------------------------------------ */

/* The same numbers on all architectures: 5.16, and three of 6.7. */
#define NR_FUTEX_WAITV 449
#define NR_FUTEX_WAKE 454
#define NR_FUTEX_WAIT 455
#define NR_FUTEX_REQUEUE 456

/* include/uapi/linux/futex.h */
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
#define FUTEX_REQUEUE 3
#define FUTEX_CMP_REQUEUE 4
#define FUTEX_WAKE_OP 5
#define FUTEX_LOCK_PI 6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAKE_BITSET 10
#define FUTEX_WAIT_REQUEUE_PI 11
#define FUTEX_CMP_REQUEUE_PI 12
#define FUTEX_LOCK_PI2 13
#define FUTEX_PRIVATE_FLAG 128
#define FUTEX_CMD_MASK 127
#define FUTEX2_PRIVATE FUTEX_PRIVATE_FLAG
#define FUTEX_TID_MASK 0x3fffffff

struct futex_waitv {
	u64 val;
	u64 uaddr;
	u32 flags;
	u32 reserved;
};

static __always_inline bool is_futex(u64 number)
{
	return number == nr_futex || number == NR_FUTEX_WAITV ||
	       (number >= NR_FUTEX_WAKE && number <= NR_FUTEX_REQUEUE);
}

static __always_inline bool is_wait(u32 op)
{
	const u64 set = 1ULL << FUTEX_WAIT | 1ULL << FUTEX_LOCK_PI | 1ULL << FUTEX_WAIT_BITSET |
			1ULL << FUTEX_WAIT_REQUEUE_PI | 1ULL << FUTEX_LOCK_PI2;

	return op == FUTEX_WAITV || (op < 64 && set >> op & 1);
}

static __always_inline bool is_wake(u32 op)
{
	const u64 set = 1ULL << FUTEX_WAKE | 1ULL << FUTEX_REQUEUE | 1ULL << FUTEX_CMP_REQUEUE |
			1ULL << FUTEX_WAKE_OP | 1ULL << FUTEX_WAKE_BITSET |
			1ULL << FUTEX_CMP_REQUEUE_PI;

	return op < 64 && set >> op & 1;
}

/* One futex of an array: the one that woke the call, or before that the first. */
static __always_inline void read_vector(struct futex_call *c, u64 index)
{
	struct futex_waitv v = {};

	if (bpf_probe_read_user(&v, sizeof(v), (void *)(c->vector + index * sizeof(v)))) {
		count_lost(LOSS_INCOMPLETE);
		return;
	}
	c->address = v.uaddr;
	c->shared = !(v.flags & FUTEX2_PRIVATE);
}

/*
 * Finds the owner's tid, which is the value of a PI futex. For other futexes the kernel knows no owner; a glibc mutex
 * stores its owner two words after the futex, whose waiters expect the value 2 (nptl/lowlevellock.h).
 */
static __always_inline u32 find_owner(const struct futex_call *c, u64 expected)
{
	u32 word[3] = {};

	if (bpf_probe_read_user(word, sizeof(word), (void *)c->address))
		return 0;
	if (c->op == FUTEX_LOCK_PI || c->op == FUTEX_LOCK_PI2)
		return word[0] & FUTEX_TID_MASK;
	return (u32)expected == 2 && c->op != FUTEX_WAITV && word[0] == 2 ? word[2] : 0;
}

/* Determines a call's futex and operation. */
static __always_inline void decode(struct futex_call *c, u64 number, const u64 arg[6])
{
	c->address = arg[0];
	if (number == nr_futex) {
		c->op = arg[1] & FUTEX_CMD_MASK;
		c->shared = !(arg[1] & FUTEX_PRIVATE_FLAG);
	} else if (number == NR_FUTEX_WAKE) {
		c->op = FUTEX_WAKE_BITSET;
		c->shared = !(arg[3] & FUTEX2_PRIVATE);
	} else if (number == NR_FUTEX_WAIT) {
		c->op = FUTEX_WAIT_BITSET;
		c->shared = !(arg[3] & FUTEX2_PRIVATE);
	} else {
		c->op = number == NR_FUTEX_WAITV ? FUTEX_WAITV : FUTEX_CMP_REQUEUE;
		c->vector = arg[0];
		read_vector(c, 0);
	}
}

static __noinline int take_stack(void *ctx, struct stack_id *id)
{
	u32 flaw = stack_take(id, ctx, take);

	if (id->tgid)
		stack_see();
	return flaw;
}

/* Only with --waits does a program check whether a task waits. */
static __always_inline void set_since(struct task_struct *t, struct futex_call *c, u64 since)
{
	if (at_switches)
		waiting_since(t, &c->since, since);
	else
		c->since = since;
}

/* Called when the current task, t, is in the call. */
static __always_inline void begin(void *ctx, struct task_struct *t, u64 number, const u64 arg[6])
{
	struct futex_call call = {}, *c;

	decode(&call, number, arg);
	if (of_wakes ? !is_wake(call.op) : !is_wait(call.op))
		return;
	c = futex_calls_get(t, NULL);
	if (!c) {
		count_lost(LOSS_NO_STORAGE);
		return;
	}
	if (by & BY_OWNER && !of_wakes)
		call.owner = find_owner(&call, number == nr_futex || number == NR_FUTEX_WAIT ?
					arg[number == nr_futex ? 2 : 1] : 0);
	if (at_switches && c->since > SINCE_EVER)
		count_lost(LOSS_MISSED);        /* its switch-in was missed */
	call.since = c->since;
	*c = call;
	if (with_stacks)
		c->flaw = take_stack(ctx, &c->stack);
	set_since(t, c, bpf_ktime_get_ns());
}

/*
 * After a signal without a handler, a wait with a timeout continues as another call; after a handler it does not
 * continue.
 */
static __always_inline void restart(u64 number)
{
	struct futex_call *c = futex_calls_find(calling_task());

	if (!c || !c->restarts)
		return;
	c->restarts = 0;
	if (number == nr_restart)
		c->since = bpf_ktime_get_ns();
}

SEC("tp_btf/sys_enter")
int UNPREEMPTED_PROG(on_enter, struct pt_regs *regs, long number)
{
	u64 arg[6];

	if (!is_futex(number) && number != nr_restart && number != nr_sigreturn)
		return 0;
	if (ended_ns || !in_native_syscall() || !scope_for_life(NULL))
		return 0;
	if (!is_futex(number)) {
		restart(number);
		return 0;
	}
	syscall_arguments(regs, arg);
	begin(ctx, calling_task(), number, arg);
	return 0;
}

/* --- what has been waited for ----------------------------------------------------------------- */

/* include/uapi/asm-generic/errno.h, include/linux/errno.h */
#define EINTR 4
#define EAGAIN 11
#define ETIMEDOUT 110
#define ERESTARTSYS 512
#define ERESTART_RESTARTBLOCK 516

static __always_inline u32 result_of(long ret)
{
	if (ret >= 0)
		return FUTEX_WOKEN;
	if (ret == -ETIMEDOUT)
		return FUTEX_TIMED_OUT;
	if (ret == -EAGAIN)
		return FUTEX_CHANGED;
	if (ret == -EINTR || (ret <= -ERESTARTSYS && ret >= -ERESTART_RESTARTBLOCK))
		return FUTEX_SIGNALLED;
	return FUTEX_FAILED;
}

/* t is the calling task; NULL is the current task. */
static __always_inline void add_value(const struct futex_call *c, struct task_struct *t, u32 result,
				      u64 value)
{
	struct futex_key key = {};
	struct hist_segment *h;

	if (by & BY_FUTEX) {
		key.parts.address = c->address;
		key.parts.tgid = scope_tgid(t);
		key.parts.shared = c->shared;
	}
	if (by & BY_OP)
		key.parts.op = c->op;
	if (by & BY_RESULT || result == FUTEX_WAITING)
		key.parts.result = result;
	if (by & BY_OWNER)
		key.parts.owner = c->owner;
	task_key_of(&key.task, t);
	h = hist_add_key(&keyed_waits, &key.slot, value);
	if (h)
		task_key_name(h->name, &h->name_stamp, t, bpf_ktime_get_ns());
}

static __always_inline void add_stack(const struct futex_call *c, struct task_struct *t, u32 result,
				      u64 ns)
{
	struct stack_key key = { .stack = c->stack };

	task_key_of(&key.task, t);
	key.task.event = result;
	stack_add_taken(&counts, &key, c->flaw, t, ns);
	__sync_fetch_and_add(&waits_by_stack, 1);
}

/* t is the task that waited; NULL is the current task. */
static __always_inline void add_wait(const struct futex_call *c, struct task_struct *t, u32 result, u64 ns)
{
	if (ns < min_ns)
		count_filtered();
	else if (with_stacks)
		add_stack(c, t, result, ns);
	else
		add_value(c, t, result, ns);
}

static __noinline int end_wait(struct futex_call *c, long ret, u64 ns)
{
	if (c->op == FUTEX_WAITV && ret > 0)
		read_vector(c, ret);
	add_wait(c, NULL, result_of(ret), ns);
	if (by & BY_FUTEX && !with_stacks)
		stack_see();
	return 0;
}

static __noinline int end_wake(struct futex_call *c, long ret)
{
	if (ret < 0)
		return 0;
	add_value(c, NULL, FUTEX_WOKEN, ret);
	if (by & BY_FUTEX)
		stack_see();
	return 0;
}

/* For futex(2): true if the call is of the kind that is counted. */
static __always_inline bool is_counted(const struct pt_regs *regs)
{
	u64 arg[6];

	syscall_arguments(regs, arg);
	return of_wakes ? is_wake(arg[1] & FUTEX_CMD_MASK) : is_wait(arg[1] & FUTEX_CMD_MASK);
}

/* Called when a call of futex(2) ends whose entry was not seen. */
static __always_inline void end_without_entry(const struct pt_regs *regs, bool is_first)
{
	if (!is_counted(regs) || !in_scope_now(NULL))
		return;
	/* Wakes do not block. */
	if (of_wakes || !is_first || !is_older_than(calling_task(), began_ns)) {
		if (may_be_answered())
			count_answered();
		return;
	}
	count_begun_before();
	/* Marks the task: no later call of it can have begun before the run. */
	if (!futex_calls_get(calling_task(), NULL))
		count_lost(LOSS_NO_STORAGE);
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(on_exit, struct pt_regs *regs, long ret)
{
	u64 number = syscall_number(regs), since;
	struct futex_call *c;

	if (!is_futex(number) && number != nr_restart)
		return 0;
	if (ended_ns || !in_native_syscall() || !in_scope_for_life(NULL))
		return 0;
	c = futex_calls_find(calling_task());
	if (!c || !c->since) {
		if (number == nr_futex)
			end_without_entry(regs, !c);
		return 0;
	}
	since = c->since;
	c->since = 0;
	c->restarts = ret == -ERESTART_RESTARTBLOCK;
	if (!armed || !in_scope_now(NULL))
		return 0;
	if (of_wakes)
		end_wake(c, ret);
	else
		end_wait(c, ret, bpf_ktime_get_ns() - since);
	return 0;
}

/* --- waits by context switches (--waits) ---------------------------------------------------------- */

/* include/linux/sched.h: set by a waker, which may be faster than the task that leaves its CPU. */
#define TASK_WAKING 0x0200

/* include/linux/sched/jobctl.h: a stop or a trap is pending, which wakes a task like a signal does. */
#define JOBCTL_PENDING (1UL << 17 | 1UL << 19 | 1UL << 20 | 1UL << 23)

/* True while this CPU runs the function of a high-resolution timer. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} in_timer SEC(".maps");

static __always_inline void set_in_timer(u64 is_in)
{
	u32 zero = 0;
	u64 *in = bpf_map_lookup_elem(&in_timer, &zero);

	if (in)
		*in = is_in;
}

SEC("tp_btf/hrtimer_expire_entry")
int on_timer_entry(void *ctx)
{
	set_in_timer(true);
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int on_timer_exit(void *ctx)
{
	set_in_timer(false);
	return 0;
}

/*
 * True under the conditions for which the kernel sets TIF_SIGPENDING (recalc_sigpending_tsk()). The number of that flag
 * differs between kernels.
 */
static __always_inline bool is_signalled(struct task_struct *t)
{
	u64 pending = t->pending.signal.sig[0] | t->signal->shared_pending.signal.sig[0];

	return t->jobctl & JOBCTL_PENDING || pending & ~t->blocked.sig[0];
}

/* True if a wait of t continues: the restarted call has other registers, but the kernel keeps its futex. */
static __always_inline bool continues(const struct futex_call *c, struct task_struct *t)
{
	return c && c->address && c->address == (u64)BPF_CORE_READ(t, restart_block.futex.uaddr);
}

/* Called when the current task, t, goes to sleep. Most tasks are in other calls, so the number is checked first. */
static __always_inline void begin_sleep(void *ctx, struct task_struct *t)
{
	u32 number = current_syscall_number();
	struct pt_regs *regs;
	struct futex_call *c;
	u64 arg[6] = {};
	int i;

	if ((!is_futex(number) && number != nr_restart) || !in_native_syscall())
		return;
	if (number == nr_restart) {
		c = futex_calls_find(t);
		if (!continues(c, t))
			return;
		c->result = FUTEX_WOKEN;
		set_since(t, c, bpf_ktime_get_ns());
		return;
	}
	if (!in_scope_for_life(t))
		return;
	regs = current_user_regs();
#pragma unroll
	for (i = 0; i < 4; i++)
		arg[i] = syscall_argument(regs, i);
	begin(ctx, t, number, arg);
	if (by & BY_FUTEX && !with_stacks)
		stack_see();
}

/* True if a task that is not on a CPU is in a futex call, or in a call that continues one. */
static __always_inline bool is_in_futex(struct task_struct *t)
{
	u32 number = task_syscall_number(t);

	return is_futex(number) || number == nr_restart;
}

/*
 * Called when t is about to become the current task. The number of its call is checked before the state is looked up.
 * If the end of a sleep was missed, the next sleep in another call does not end it.
 */
static __always_inline void end_sleep(struct task_struct *t)
{
	struct futex_call *c = is_in_futex(t) ? futex_calls_find(t) : NULL;
	u64 since, now;

	if (!c || !c->since)
		return;
	since = c->since;
	set_since(t, c, 0);
	if (!armed || !in_scope_now(t))
		return;
	if (since == SINCE_EVER) {
		count_begun_before();
		return;
	}
	now = bpf_ktime_get_ns();
	add_wait(c, t, c->result, now > since ? now - since : 0);
}

/* A sleep for another reason, such as for a page of the futex, is not interruptible. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	if (ended_ns)
		return 0;
	if (!preempt && task_run_state(prev) & (TASK_INTERRUPTIBLE | TASK_WAKING) &&
	    !(prev->flags & (PF_KTHREAD | PF_EXITING)))
		begin_sleep(ctx, prev);
	if (waiting_may_be(next))
		end_sleep(next);
	return 0;
}

/*
 * Runs in the waker's context: the timer's function, the sender of the signal, or another task. Runs once for each
 * sleep.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *t)
{
	struct futex_call *c;
	u32 zero = 0;
	u64 *in;

	if (ended_ns)
		return 0;
	c = waiting_may_be(t) ? futex_calls_find(t) : NULL;
	if (!c || !c->since)
		return 0;
	in = bpf_map_lookup_elem(&in_timer, &zero);
	if (is_signalled(t))
		c->result = FUTEX_SIGNALLED;
	else if (in && *in)
		c->result = FUTEX_TIMED_OUT;
	return 0;
}

/* Marks tasks that are already asleep when the programs are attached. */
SEC("iter/task")
int seed_sleeping(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct futex_call *c;

	if (!t || t->flags & (PF_KTHREAD | PF_EXITING) || !(task_run_state(t) & TASK_INTERRUPTIBLE))
		return 0;
	if (!is_futex(task_syscall_number(t)) || task_syscall_abi(t) != SYSCALL_NATIVE)
		return 0;
	if (!scope_for_life(t))
		return 0;
	c = futex_calls_get(t, NULL);
	if (c && !c->since)
		set_since(t, c, SINCE_EVER);
	return 0;
}

/* --- waits that go on at the end -------------------------------------------------------------- */

SEC("iter/task")
int show_waiting(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct futex_call *c;
	u64 ns;

	if (!t || of_wakes || !scope_for_life(t) || !scope_now(t))
		return 0;
	if (at_switches && !is_in_futex(t))
		return 0;
	c = futex_calls_find(t);
	if (!c || c->since <= SINCE_EVER || c->since > ended_ns)
		return 0;
	ns = ended_ns - c->since;
	if (ns < min_ns)
		return 0;
	if (with_stacks)
		add_stack(c, t, FUTEX_WAITING, ns);
	else
		add_value(c, t, FUTEX_WAITING, ns);
	return 0;
}

/* Marks stacks held by calls that are not yet counted (stack_store__begin_turn()). */
SEC("iter/task")
int show_held(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct futex_call *c;
	struct stack_id held;

	if (!t)
		return 0;
	c = futex_calls_find(t);
	if (!c)
		return 0;
	held = c->stack;
	if (held.hash)
		bpf_seq_write(ctx->meta->seq, &held, sizeof(held));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
