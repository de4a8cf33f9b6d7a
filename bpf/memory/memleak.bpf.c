// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory that processes have allocated (malloc() and the like) and not freed, by the stack that
 * asked for it. The subject is the calling thread.
 *
 * Allocators call themselves: calloc() may call malloc(), realloc() may call free(). Only the
 * outermost call of a thread counts. It is known by its stack pointer: calls inside of it have
 * lower ones, and its return has its own. So a call that never returns, because of a longjmp(), is
 * forgotten as soon as the stack is unwound.
 *
 * operator new may be left by an exception, std::bad_alloc, so its pending call stands in nobody's way: what it
 * calls counts for itself, and what it returns counts unless a function inside of it has just returned
 * the same. Its ends are seen by probes on its return instructions: a changed return address would
 * end the program when an exception passes.
 *
 * Memory counts as allocated when the call returns, and as freed when it begins: between the two
 * the address may already be another thread's. What realloc() is given is taken away when it
 * begins, and put back if it fails.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "memleak.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"

const volatile u32 take = STACK_USER;           /* enum stack_flags */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct memleak_key);
	__type(value, struct memleak_live);
} live SEC(".maps");

/* Processes that have made an exec: their self_exec_id. What is of an earlier one has gone. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, u64);
} execs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct memleak_totals);
} totals SEC(".maps");

/* A call of operator new. */
struct new_call {
	u64 sp;                 /* at its entry; 0: none */
	u64 bytes;
	u64 caller;             /* what was on top of the stack: where it returns to */
	u64 function;
	u64 inside;             /* what a function that it has called has allocated last */
};

/* The outermost call that a thread is in. */
struct allocator_call {
	u64 sp;                 /* at its entry; 0: none */
	u64 bytes;
	u64 result;             /* where posix_memalign() puts the address; 0: it is returned */
	u64 old;                /* of realloc(): what it was given, if that is known */
	struct memleak_live was;
	u32 begun_before;       /* of realloc(): what it was given is not known */
	u32 pad;
	struct new_call made;   /* the innermost call of operator new, within none of the above */
	u64 deleted;            /* by the last operator delete, which may pass it on to free() */
	u64 deleted_sp;
};

TASK_STATE(allocator_calls, struct allocator_call)

/* --- allocations and frees ----------------------------------------------------------------------- */

static __always_inline struct memleak_totals *all(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&totals, &zero);
}

static __always_inline void key_of(struct memleak_key *key, u64 address)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();

	key->address = address;
	key->exec = BPF_CORE_READ(t, self_exec_id);
	key->tgid = bpf_get_current_pid_tgid() >> 32;
}

static __always_inline void count_freed(void)
{
	struct memleak_totals *t = all();

	if (t)
		__sync_fetch_and_add(&t->frees, 1);
}

/* An address that is given out again has been freed: by a function that is not watched. */
static __always_inline void keep(const struct memleak_key *key, const struct memleak_live *l, u32 flaw)
{
	long err = bpf_map_update_elem(&live, key, l, BPF_NOEXIST);
	struct memleak_totals *t;

	if ((int)err == -EEXIST) {
		err = bpf_map_update_elem(&live, key, l, BPF_ANY);
		t = all();
		if (t)
			__sync_fetch_and_add(&t->unseen, 1);
	}
	if (err)
		count_failed_update(err);
	else
		stack_count_flaw(flaw);
}

static __noinline int take_stack(void *ctx, struct stack_id *id, u32 flags)
{
	u32 flaw;

	if (!id)
		return 0;
	flaw = stack_take(id, ctx, take | flags);
	if (id->tgid)
		stack_see();
	return flaw;
}

/* flags: enum stack_flags */
static __always_inline void add_allocation(void *ctx, u64 address, u64 bytes, u32 flags)
{
	struct memleak_totals *t = all();
	struct memleak_live l = {};
	struct memleak_key key = {};
	u64 stamp;
	u32 flaw;

	key_of(&key, address);
	task_key_of(&l.task, NULL);
	l.item.bytes = bytes;
	l.item.since_ns = bpf_ktime_get_ns();
	flaw = take_stack(ctx, &l.item.stack, flags);
	task_key_name(l.name, &stamp, NULL, 0);
	if (t) {
		__sync_fetch_and_add(&t->allocs, 1);
		wide_add(&t->bytes, &t->bytes_high, bytes, false, false);
	}
	keep(&key, &l, flaw);
}

/*
 * Since its exec everything of the process was seen: what is freed without having been allocated is what the
 * C library frees once more when a thread ends (glibc's tcache_thread_shutdown()).
 */
static __always_inline bool has_seen_all(const struct memleak_key *key)
{
	u32 tgid = key->tgid;
	u64 *exec = bpf_map_lookup_elem(&execs, &tgid);

	return exec && *exec == key->exec;
}

/* --- arguments of 64-bit and of 32-bit functions -------------------------------------------------- */

static __always_inline bool is_32_bit(struct pt_regs *regs)
{
#ifdef HAVE_USER_WALK
	return (u16)((const struct saved_regs *)regs)->cs == CS_USER_32;
#else
	return false;
#endif
}

/* Where 32-bit functions find theirs: on the stack, behind the return address. */
static __noinline u64 stacked_argument(u64 sp, u32 n)
{
	u32 value = 0;

	if (bpf_probe_read_user(&value, sizeof(value), (void *)(sp + 4 * (n + 1))))
		count_lost(LOSS_READ_FAULT);
	return value;
}

static __always_inline u64 allocator_argument(struct pt_regs *regs, u32 n)
{
	if (is_32_bit(regs))
		return stacked_argument(stack_pointer(regs), n);
	return call_argument(regs, n);
}

static __always_inline u64 return_pops(struct pt_regs *regs)
{
	return is_32_bit(regs) ? 4 : RETURN_POPS;
}

/* Where a call is: read once, for the verifier takes registers only from where the context is itself. */
struct place {
	u64 sp, function, pops;
};

static __always_inline struct place place_of(struct pt_regs *regs)
{
	struct place p = { stack_pointer(regs), instruction_pointer(regs), return_pops(regs) };

	barrier_var(p.sp);
	barrier_var(p.function);
	barrier_var(p.pops);
	return p;
}

/* --- operator new ------------------------------------------------------------------------------- */

/* What is on top of the stack when a function begins, and just before it returns. */
static __noinline u64 return_address(u64 sp, u64 size)
{
	u64 address = 0;

	if (bpf_probe_read_user(&address, size == 4 ? 4 : 8, (void *)sp))
		count_lost(LOSS_READ_FAULT);
	return address;
}

/*
 * Another allocation function begins, or something is freed. Within the pending call, its return address
 * is where it was; where it ends by jumping to the other function, that one takes its place. Else it has
 * been left.
 */
static __always_inline void look_after_new(struct allocator_call *c, const struct place *p)
{
	struct new_call *made = &c->made;
	bool is_there;

	if (!made->sp)
		return;
	is_there = p->sp <= made->sp && return_address(made->sp, p->pops) == made->caller;
	if (is_there && p->sp < made->sp)
		return;
	if (!is_there || p->function == made->function)
		count_lost(LOSS_UNWOUND);
	made->sp = 0;
}

/* --- calls --------------------------------------------------------------------------------------- */

/* False: another call is under way, which this one is a part of. */
static __always_inline bool is_outermost(const struct allocator_call *c, u64 sp)
{
	return !c || !c->sp || sp >= c->sp;
}

/* The state of a call that begins and counts; NULL: none. */
static __always_inline struct allocator_call *begin(struct pt_regs *regs, u64 bytes)
{
	struct place p = place_of(regs);
	struct allocator_call *c;

	if (!armed || !in_scope(NULL))
		return NULL;
	c = allocator_calls_get(calling_task(), NULL);
	if (!c) {
		count_lost(LOSS_UNMATCHED);
		return NULL;
	}
	if (!is_outermost(c, p.sp))
		return NULL;
	look_after_new(c, &p);
	c->sp = p.sp;
	c->bytes = bytes;
	c->result = 0;
	c->old = 0;
	c->begun_before = 0;
	return c;
}

/* malloc(size), valloc(size) */
SEC("uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_malloc, struct pt_regs *, regs)
{
	begin(regs, allocator_argument(regs, 0));
	return 0;
}

SEC("uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_calloc, struct pt_regs *, regs)
{
	begin(regs, allocator_argument(regs, 0) * allocator_argument(regs, 1));
	return 0;
}

/* aligned_alloc(alignment, size), memalign() */
SEC("uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_memalign, struct pt_regs *, regs)
{
	begin(regs, allocator_argument(regs, 1));
	return 0;
}

SEC("uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_posix_memalign, struct pt_regs *, regs)
{
	struct allocator_call *c = begin(regs, allocator_argument(regs, 2));

	if (c)
		c->result = allocator_argument(regs, 0);
	return 0;
}

static __always_inline int begin_realloc(struct pt_regs *regs, u64 bytes)
{
	struct allocator_call *c = begin(regs, bytes);
	struct memleak_key key = {};
	struct memleak_live *l;
	u64 address = allocator_argument(regs, 0);

	if (!c || !address)
		return 0;
	key_of(&key, address);
	l = bpf_map_lookup_elem(&live, &key);
	if (!l) {
		c->begun_before = !has_seen_all(&key);
		return 0;
	}
	c->was = *l;
	c->old = address;
	bpf_map_delete_elem(&live, &key);
	return 0;
}

SEC("uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_realloc, struct pt_regs *, regs)
{
	return begin_realloc(regs, allocator_argument(regs, 1));
}

SEC("uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_reallocarray, struct pt_regs *, regs)
{
	return begin_realloc(regs, allocator_argument(regs, 1) * allocator_argument(regs, 2));
}

/* What realloc() was given has been freed, unless it failed. */
static __always_inline void end_realloc(const struct allocator_call *c, bool failed)
{
	struct memleak_key key = {};

	if (!failed && c->begun_before)
		count_begun_before();
	if (!c->old)
		return;
	if (!failed) {
		count_freed();
		return;
	}
	key_of(&key, c->old);
	keep(&key, &c->was, 0);
}

/* Of all of the above. realloc(p, 0) is free(p) where it returns NULL. */
SEC("uretprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_return, struct pt_regs *, regs)
{
	struct allocator_call *c = allocator_calls_find(calling_task());
	u64 address = return_value(regs);

	if (!c || !c->sp || stack_pointer(regs) != c->sp + return_pops(regs))
		return 0;
	c->sp = 0;
	if (c->result) {
		if (address)
			return 0;
		if (bpf_probe_read_user(&address, is_32_bit(regs) ? 4 : 8, (void *)c->result)) {
			count_lost(LOSS_READ_FAULT);
			return 0;
		}
	}
	end_realloc(c, !address && c->bytes);
	c->made.inside = address;
	if (address)
		add_allocation(regs, address, c->bytes, 0);
	return 0;
}

SEC("uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_new, struct pt_regs *, regs)
{
	struct place p = place_of(regs);
	struct new_call made = { .sp = p.sp, .function = p.function };
	struct allocator_call *c;
	u64 bytes = allocator_argument(regs, 0);

	if (!armed || !in_scope(NULL))
		return 0;
	c = allocator_calls_get(calling_task(), NULL);
	if (!c) {
		count_lost(LOSS_UNMATCHED);
		return 0;
	}
	if (!is_outermost(c, p.sp))
		return 0;
	made.bytes = bytes;
	made.caller = return_address(p.sp, p.pops);
	c->sp = 0;
	look_after_new(c, &p);
	c->made = made;
	return 0;
}

/* On an instruction by which it returns, which may be of a function that others jump to as well. */
SEC("uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_new_exit, struct pt_regs *, regs)
{
	struct allocator_call *c = allocator_calls_find(calling_task());
	u64 address = return_value(regs);
	struct place p = place_of(regs);

	if (!c || !c->made.sp || p.sp != c->made.sp || !is_outermost(c, p.sp) ||
	    return_address(p.sp, p.pops) != c->made.caller)
		return 0;
	c->sp = 0;
	c->made.sp = 0;
	if (address && address != c->made.inside)
		add_allocation(regs, address, c->made.bytes, STACK_AT_EXIT);
	return 0;
}

/* Operator delete has freed it already, and now calls or jumps to free(). */
static __always_inline bool was_deleted(struct allocator_call *c, u64 sp, u64 address)
{
	if (!c || c->deleted != address || sp > c->deleted_sp)
		return false;
	c->deleted = 0;
	return true;
}

/* Whoever frees it, in scope or not. */
static __always_inline void end_life(struct allocator_call *c, const struct place *p, u64 address)
{
	struct memleak_key key = {};

	if (!address || !is_outermost(c, p->sp))
		return;
	if (c)
		look_after_new(c, p);
	key_of(&key, address);
	if (!bpf_map_delete_elem(&live, &key))
		count_freed();
	else if (!was_deleted(c, p->sp, address) && !has_seen_all(&key) && scope_for_life(NULL) &&
		 scope_now(NULL))
		count_begun_before();
}

SEC("uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_free, struct pt_regs *, regs)
{
	u64 address = allocator_argument(regs, 0);
	struct place p = place_of(regs);

	if (armed)
		end_life(allocator_calls_find(calling_task()), &p, address);
	return 0;
}

SEC("uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_delete, struct pt_regs *, regs)
{
	u64 address = allocator_argument(regs, 0);
	struct place p = place_of(regs);
	struct allocator_call *c;

	if (!armed || !address)
		return 0;
	c = scope_for_life(NULL) ? allocator_calls_get(calling_task(), NULL) :
				   allocator_calls_find(calling_task());
	end_life(c, &p, address);
	if (c) {
		c->deleted = address;
		c->deleted_sp = p.sp;
	}
	return 0;
}

SEC("tp_btf/sched_process_exec")
int UNPREEMPTED_PROG(on_exec, struct task_struct *t)
{
	u64 exec = t->self_exec_id;
	u32 tgid = t->tgid;
	long err;

	if (!scope_for_life(t))
		return 0;
	err = bpf_map_update_elem(&execs, &tgid, &exec, BPF_ANY);
	if (err)
		count_failed_update(err);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
