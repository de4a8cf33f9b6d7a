// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each system call with its arguments and what they point to, one record when it ends; or sums of
 * them without records (--summary). Subject: the task that calls.
 *
 * What a call is given is read when it begins: another thread may change it until the end, and exec
 * leaves nothing of it. Reading cannot wait for a page that is not in memory; the call itself does,
 * so what failed is read again at the end.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "task_state.bpf.h"
#include "trace.h"

#define EFAULT 14
#define MAX_ERRNO 4095

#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000

/* Of strings, with their NUL and one more to tell whether they are cut. */
const volatile u32 string_room = 258;

const volatile u64 min_ns = 0;
const volatile bool failed_only = false;

/* The tracer's child: shown from its exec on. 0: there is no command. */
const volatile u32 command = 0;
bool command_runs = false;

/* When the gate was opened. */
u64 began_ns = 0;

/* No more calls are recorded: the last report is being made. */
u32 closed = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACE_SLOTS);
	__type(key, u32);
	__type(value, struct trace_call);
} calls SEC(".maps");

/* --- what both measurements share ------------------------------------------------------------- */

static __always_inline u32 slot_of(u64 number)
{
	u32 n = number < SYSCALL_NUMBERS ? number : SYSCALL_NUMBERS - 1;

	return current_syscall_abi() * SYSCALL_NUMBERS + n;
}

/* Is this the tracer's child, before it is the command? */
static __always_inline bool is_before_command(void)
{
	return command && !command_runs && (u32)(bpf_get_current_pid_tgid() >> 32) == command;
}

/* The call if it is asked for, in scope, and not what the child does before its exec. */
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

SEC("tp_btf/sched_process_exec")
int BPF_PROG(command_exec, struct task_struct *t)
{
	if (is_before_command())
		command_runs = true;
	return 0;
}

/*
 * Does another call end than the one that was seen to begin? Then the end of that one and the begin
 * of this one were missed, and are counted so (LOSS_RECURSION). rt_sigreturn leaves no number: -1.
 */
static __always_inline bool is_other_call(struct pt_regs *regs, u32 number)
{
	s64 ends = (s32)syscall_number(regs);

	return ends >= 0 && ends != (s32)number;
}

static __always_inline bool is_error(s64 result)
{
	return result < 0 && result >= -MAX_ERRNO;
}

/* --- records ---------------------------------------------------------------------------------- */

struct trace_state {
	struct trace_record r;
	u32 active;             /* in a call whose begin was seen */
	u32 before;             /* in one that began before, or in none yet */
	u32 missing;            /* bits of fetches that could not be read when the call began */
};

TASK_STATE(states, struct trace_state)

static const struct trace_state no_state = {};

/* Room for a chunk with so much data; NULL if there is none. */
static __always_inline struct trace_chunk *chunk_room(struct trace_record *r, u64 data)
{
	u64 off = r->used;

	/* 5.10 knows the range of the very register that is added. */
	barrier_var(off);
	if (off > TRACE_ROOM - sizeof(struct trace_chunk) - data)
		return NULL;
	return (struct trace_chunk *)(r->data + off);
}

static __always_inline void chunk_done(struct trace_record *r, struct trace_chunk *c, u32 arg,
				       u32 flags, u32 bytes, u32 whole)
{
	c->arg = arg;
	c->flags = flags;
	c->bytes = bytes;
	c->whole = whole;
	r->used += sizeof(*c) + ((bytes + 7) & ~7);
}

static __always_inline void chunk_empty(struct trace_record *r, u32 arg, u32 flags)
{
	struct trace_chunk *c = chunk_room(r, 0);

	if (c)
		chunk_done(r, c, arg, flags, 0, 0);
}

/* What is left where a large chunk finds no room. */
#define LITTLE 256

/* The string's size with its NUL, or an error. Kernels differ on empty ones: of some it is 0. */
static __always_inline long read_string(u8 *to, u32 size, u64 from)
{
	long n = bpf_probe_read_user_str(to, size, (void *)from);

	if (n)
		return n;
	*to = 0;
	return 1;
}

/* Each returns 0 or -EFAULT, and then has left nothing. */
static __noinline int fetch_string(struct trace_record *r, u64 from, u32 arg)
{
	struct trace_chunk *c = chunk_room(r, string_room);
	u64 size = string_room;
	u32 flags = 0;
	long n;

	if (!c) {
		c = chunk_room(r, LITTLE);
		size = LITTLE;
		flags = TRACE_CHUNK_NO_ROOM;
	}
	if (!c) {
		chunk_empty(r, arg, TRACE_CHUNK_CUT | TRACE_CHUNK_NO_ROOM);
		return 0;
	}
	n = read_string(c->data, size, from);
	if (n < 0)
		return -EFAULT;
	/* The last byte but one is only there to tell whether there is more. */
	if ((u64)n >= size)
		chunk_done(r, c, arg, flags | TRACE_CHUNK_CUT, size - 2, 0);
	else
		chunk_done(r, c, arg, 0, n - 1, 0);
	return 0;
}

static __noinline int fetch_bytes(struct trace_record *r, struct trace_fetch *f, u64 from)
{
	u64 length = r->value[f->length & (TRACE_VALUES - 1)], most = 4096, whole, n;
	u32 arg = f->arg, flags = 0, pointed = 0;
	struct trace_chunk *c;

	if (f->pointed) {
		if (bpf_probe_read_user(&pointed, sizeof(pointed), (void *)length))
			return -EFAULT;
		length = pointed;
	}
	whole = length > (1U << 31) / 256 ? 1U << 31 : length * f->size;
	n = whole < f->most ? whole : f->most;
	c = chunk_room(r, 4096);
	if (!c) {
		c = chunk_room(r, LITTLE);
		most = LITTLE;
	}
	if (!c) {
		chunk_empty(r, arg, TRACE_CHUNK_CUT | TRACE_CHUNK_NO_ROOM);
		return 0;
	}
	if (n > most) {
		n = most;
		flags = TRACE_CHUNK_NO_ROOM;
	}
	barrier_var(n);
	if (n > most)
		return 0;
	if (bpf_probe_read_user(c->data, n, (void *)from))
		return -EFAULT;
	chunk_done(r, c, arg, n < whole ? flags | TRACE_CHUNK_CUT : 0, n, whole);
	return 0;
}

#define STRINGS 24
#define STRINGS_ROOM 3072

static __always_inline u64 read_pointer(struct trace_record *r, u64 from, u32 i, long *err)
{
	u64 pointer = 0;
	u32 size = r->slot < SYSCALL_NUMBERS ? 8 : 4;

	*err = bpf_probe_read_user(&pointer, size, (void *)(from + i * size));
	return pointer;
}

static __noinline int fetch_strings(struct trace_record *r, u64 from, u32 arg)
{
	struct trace_chunk *c = chunk_room(r, STRINGS_ROOM);
	u32 i, cut = 0;
	u64 pos, pointer = 0;
	long n, err;

	if (!c) {
		chunk_empty(r, arg, TRACE_CHUNK_CUT | TRACE_CHUNK_NO_ROOM);
		return 0;
	}
	c->bytes = 0;
	for (i = 0; i < STRINGS; i++) {
		pointer = read_pointer(r, from, i, &err);
		if (err)
			return -EFAULT;
		if (!pointer)
			break;
		/* From memory each time: all the verifier then knows of it is what is tested here. */
		pos = c->bytes;
		barrier_var(pos);
		if (pos > STRINGS_ROOM - LITTLE)
			break;
		n = read_string(c->data + pos, LITTLE, pointer);
		if (n < 0)
			return -EFAULT;
		if (n == LITTLE)
			cut |= 1U << i;
		c->bytes = pos + n;
	}
	chunk_done(r, c, arg, pointer ? TRACE_CHUNK_CUT : 0, c->bytes, cut);
	return 0;
}

static __noinline int fetch_one(struct trace_record *r, struct trace_fetch *f)
{
	u64 from = r->value[f->arg & (TRACE_VALUES - 1)];

	if (!from)
		return 0;
	return f->kind == FETCH_STRING ? fetch_string(r, from, f->arg) : fetch_bytes(r, f, from);
}

/* Not in the loop of the others: with a loop of its own in it the verifier takes long. */
static __always_inline int fetch_argv(struct trace_record *r, struct trace_call *call)
{
	u64 from = r->value[call->argv & (TRACE_VALUES - 1)];

	return from ? fetch_strings(r, from, call->argv) : 0;
}

#define ARGV_MISSING (1U << TRACE_FETCHES)

static __always_inline void fetch_at_begin(struct trace_state *s, struct trace_call *call)
{
	u32 i;

	for (i = 0; i < TRACE_FETCHES && i < call->fetches; i++)
		if (!call->fetch[i].out && fetch_one(&s->r, &call->fetch[i]))
			s->missing |= 1U << i;
	if (call->argv && fetch_argv(&s->r, call))
		s->missing |= ARGV_MISSING;
}

/* What the call could not read itself is not lost. */
static __always_inline void fetch_failed(struct trace_record *r, u32 arg)
{
	chunk_empty(r, arg, TRACE_CHUNK_FAULT);
	if ((s64)r->value[TRACE_RESULT] != -EFAULT)
		count_lost(LOSS_READ_FAULT);
}

static __always_inline void fetch_at_end(struct trace_state *s, struct trace_call *call)
{
	bool failed = (s64)s->r.value[TRACE_RESULT] < 0;
	u32 i;

	for (i = 0; i < TRACE_FETCHES && i < call->fetches; i++) {
		if (call->fetch[i].out ? failed : !(s->missing & (1U << i)))
			continue;
		if (fetch_one(&s->r, &call->fetch[i]))
			fetch_failed(&s->r, call->fetch[i].arg);
	}
	/* After an exec that did not fail there is nothing left of them. */
	if (call->argv && s->missing & ARGV_MISSING && (!failed || fetch_argv(&s->r, call)))
		fetch_failed(&s->r, call->argv);
}

static __always_inline void emit(struct trace_record *r, u32 state)
{
	u64 used = r->used;

	r->state = state;
	r->cpu = bpf_get_smp_processor_id();
	barrier_var(used);
	if (used <= TRACE_ROOM)
		ring_output(r, offsetof(struct trace_record, data) + used);
}

static __always_inline void fill(struct trace_record *r, struct pt_regs *regs, u64 number, u32 slot)
{
	u64 id = bpf_get_current_pid_tgid();

	r->pid = id >> 32;
	r->tid = id;
	r->slot = slot;
	r->number = number;
	r->used = 0;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	if (slot < SYSCALL_NUMBERS)
		syscall_arguments(regs, r->value);
	else
		compat_syscall_arguments(regs, r->value);
	r->value[TRACE_RESULT] = 0;
	r->value[TRACE_ONE] = 1;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_enter, struct pt_regs *regs, long number)
{
	struct trace_state *s = states_find(calling_task());
	u32 slot = slot_of(number);
	struct trace_call *call;

	if (s && armed)
		s->before = 0;
	call = call_begins(slot);
	if (!call)
		return 0;
	s = s ?: states_get(calling_task(), (struct trace_state *)&no_state);
	if (!s) {
		count_lost(LOSS_NO_MEMORY);
		return 0;
	}
	fill(&s->r, regs, number, slot);
	s->missing = 0;
	fetch_at_begin(s, call);
	s->r.start_ns = s->r.time_ns = bpf_ktime_get_ns();
	s->active = !call->no_return;
	if (call->no_return && !failed_only && !min_ns)
		emit(&s->r, TRACE_NO_RETURN);
	return 0;
}

/* A call that began before the trace: its registers still hold the arguments. */
static __always_inline bool call_began_before(struct trace_state *s, struct pt_regs *regs)
{
	u32 slot = slot_of(syscall_number(regs));
	struct trace_call *call = bpf_map_lookup_elem(&calls, &slot);

	if (!s->before)
		return false;
	s->before = 0;
	if (!call || !call->wanted || !scope_now(NULL))
		return false;
	fill(&s->r, regs, syscall_number(regs), slot);
	s->r.start_ns = 0;
	s->missing = ~0U;
	return true;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_exit, struct pt_regs *regs, long result)
{
	struct trace_state *s = states_find(calling_task());
	struct trace_call *call;
	u64 now;
	u32 slot;

	if (!s || !armed || closed)
		return 0;
	now = bpf_ktime_get_ns();
	if (s->active ? is_other_call(regs, s->r.number) : !call_began_before(s, regs)) {
		s->active = 0;
		return 0;
	}
	s->active = 0;
	/* An exec that looked for the command where it is not is none of its calls either. */
	if (is_before_command() || (failed_only && !is_error(result)))
		return 0;
	if (now - (s->r.start_ns ?: began_ns) < min_ns)
		return 0;
	slot = s->r.slot;
	call = bpf_map_lookup_elem(&calls, &slot);
	if (!call)
		return 0;
	s->r.time_ns = now;
	s->r.value[TRACE_RESULT] = result;
	fetch_at_end(s, call);
	emit(&s->r, TRACE_RETURNED);
	return 0;
}

/* A task that ends within a call: killed, or another of its threads ended them all. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exit, struct task_struct *t)
{
	struct trace_state *s = states_find(calling_task());

	if (!s || !armed || closed || !s->active)
		return 0;
	s->active = 0;
	s->r.time_ns = bpf_ktime_get_ns();
	if (!failed_only && s->r.time_ns - s->r.start_ns >= min_ns)
		emit(&s->r, TRACE_ENDED);
	return 0;
}

/* Tasks that are there already when we start may be in a call. */
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

/* Calls that still run. Only once no more are recorded: their records are written to. */
SEC("iter/task")
int show_running(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct trace_state *s;

	if (!t)
		return 0;
	s = states_find(t);
	if (!s || !(s->active || s->before) || failed_only)
		return 0;
	/* Which CPU a call began on was not seen. */
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

/* --- sums ------------------------------------------------------------------------------------- */

struct call_start {
	u64 start_ns;           /* 0: in no call */
	u32 slot, number;
};

TASK_STATE(starts, struct call_start)

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TRACE_SLOTS);
	__type(key, u32);
	__type(value, struct trace_sum);
} sums SEC(".maps");

/* The number of the interval that goes on; written by the loader. */
u64 interval = 1;

/* The number of the visit that goes on; written by the loader. */
u64 visit = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACE_SLOTS);
	__type(key, u32);
	__type(value, struct trace_running);
} running SEC(".maps");

SEC("tp_btf/sys_enter")
int BPF_PROG(sum_enter, struct pt_regs *regs, long number)
{
	u32 slot = slot_of(number);
	struct trace_call *call = call_begins(slot);
	struct call_start *s;

	if (!call || call->no_return)
		return 0;
	s = starts_get(calling_task(), NULL);
	if (!s) {
		count_lost(LOSS_NO_MEMORY);
		return 0;
	}
	s->slot = slot;
	s->number = number;
	s->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* 128 bits of ns * ns: exact for any time, and what is to be divided later is a small difference.
 */
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
	u64 number = interval;
	struct trace_extremes *e = &sum->extremes[number & 1];

	sum->count++;
	sum->errors += failed;
	sum->ns += ns;
	add_square(sum->squares, ns);
	if (e->interval != number) {
		e->min_ns = e->max_ns = ns;
		e->interval = number;
	}
	if (ns < e->min_ns)
		e->min_ns = ns;
	if (ns > e->max_ns)
		e->max_ns = ns;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sum_exit, struct pt_regs *regs, long result)
{
	struct call_start *s = starts_find(calling_task());
	struct trace_sum *sum;
	u64 ns;
	u32 slot;

	if (!s || !s->start_ns || closed)
		return 0;
	ns = bpf_ktime_get_ns() - s->start_ns;
	slot = s->slot;
	s->start_ns = 0;
	if (is_other_call(regs, s->number))
		return 0;
	if (is_before_command() || ns < min_ns || (failed_only && !is_error(result)))
		return 0;
	sum = bpf_map_lookup_elem(&sums, &slot);
	if (sum)
		add_call(sum, ns, is_error(result));
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
	/* Ended calls leave a 0; those of tasks that have ended are none. */
	if (!start || (t->flags & PF_EXITING))
		return 0;
	r = bpf_map_lookup_elem(&running, &slot);
	ns = bpf_ktime_get_ns() - start;
	if (!r || ns < min_ns || failed_only)
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
