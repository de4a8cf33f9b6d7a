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
 * Memory counts as allocated when the call returns, and as freed when it begins: between the two
 * the address may already be another thread's. What realloc() is given is taken away when it
 * begins, and put back if it fails.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "memleak.h"
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

/* The outermost call that a thread is in. */
struct allocator_call {
	u64 sp;                 /* at its entry; 0: none */
	u64 bytes;
	u64 result;             /* where posix_memalign() puts the address; 0: it is returned */
	u64 old;                /* of realloc(): what it was given, if that is known */
	struct memleak_live was;
	u32 begun_before;       /* of realloc(): what it was given is not known */
	u32 pad;
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
static __always_inline void keep(const struct memleak_key *key, const struct memleak_live *l)
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
}

static __noinline int take_stack(void *ctx, struct stack_id *id)
{
	if (!id)
		return 0;
	stack_take(id, ctx, take);
	if (id->tgid)
		stack_see();
	return 0;
}

static __always_inline void add_allocation(void *ctx, u64 address, u64 bytes)
{
	struct memleak_totals *t = all();
	struct memleak_live l = {};
	struct memleak_key key = {};
	u64 stamp;

	key_of(&key, address);
	task_key_of(&l.task, NULL);
	l.item.bytes = bytes;
	l.item.since_ns = bpf_ktime_get_ns();
	take_stack(ctx, &l.item.stack);
	task_key_name(l.name, &stamp, NULL, 0);
	if (t) {
		__sync_fetch_and_add(&t->allocs, 1);
		__sync_fetch_and_add(&t->bytes, bytes);
	}
	keep(&key, &l);
}

/* --- calls --------------------------------------------------------------------------------------- */

/* False: another call is under way, which this one is a part of. */
static __always_inline bool is_outermost(const struct allocator_call *c, struct pt_regs *regs)
{
	return !c || !c->sp || stack_pointer(regs) >= c->sp;
}

/* The state of a call that begins and counts; NULL: none. */
static __always_inline struct allocator_call *begin(struct pt_regs *regs, u64 bytes)
{
	struct allocator_call *c;

	if (!armed || !in_scope(NULL))
		return NULL;
	c = allocator_calls_get(calling_task(), NULL);
	if (!c) {
		count_lost(LOSS_UNMATCHED);
		return NULL;
	}
	if (!is_outermost(c, regs))
		return NULL;
	c->sp = stack_pointer(regs);
	c->bytes = bytes;
	c->result = 0;
	c->old = 0;
	c->begun_before = 0;
	return c;
}

/* malloc(size), valloc(size), operator new */
SEC("uprobe")
int on_malloc(struct pt_regs *regs)
{
	begin(regs, call_argument(regs, 0));
	return 0;
}

SEC("uprobe")
int on_calloc(struct pt_regs *regs)
{
	begin(regs, call_argument(regs, 0) * call_argument(regs, 1));
	return 0;
}

/* aligned_alloc(alignment, size), memalign() */
SEC("uprobe")
int on_memalign(struct pt_regs *regs)
{
	begin(regs, call_argument(regs, 1));
	return 0;
}

SEC("uprobe")
int on_posix_memalign(struct pt_regs *regs)
{
	struct allocator_call *c = begin(regs, call_argument(regs, 2));

	if (c)
		c->result = call_argument(regs, 0);
	return 0;
}

static __always_inline int begin_realloc(struct pt_regs *regs, u64 bytes)
{
	struct allocator_call *c = begin(regs, bytes);
	struct memleak_key key = {};
	struct memleak_live *l;
	u64 address = call_argument(regs, 0);

	if (!c || !address)
		return 0;
	key_of(&key, address);
	l = bpf_map_lookup_elem(&live, &key);
	if (!l) {
		c->begun_before = 1;
		return 0;
	}
	c->was = *l;
	c->old = address;
	bpf_map_delete_elem(&live, &key);
	return 0;
}

SEC("uprobe")
int on_realloc(struct pt_regs *regs)
{
	return begin_realloc(regs, call_argument(regs, 1));
}

SEC("uprobe")
int on_reallocarray(struct pt_regs *regs)
{
	return begin_realloc(regs, call_argument(regs, 1) * call_argument(regs, 2));
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
	keep(&key, &c->was);
}

/* Of all of the above. realloc(p, 0) is free(p) where it returns NULL. */
SEC("uretprobe")
int on_return(struct pt_regs *regs)
{
	struct allocator_call *c = allocator_calls_find(calling_task());
	u64 address = return_value(regs);

	if (!c || !c->sp || stack_pointer(regs) != c->sp + RETURN_POPS)
		return 0;
	c->sp = 0;
	if (c->result) {
		if (address)
			return 0;
		if (bpf_probe_read_user(&address, sizeof(address), (void *)c->result)) {
			count_lost(LOSS_READ_FAULT);
			return 0;
		}
	}
	end_realloc(c, !address && c->bytes);
	if (address)
		add_allocation(regs, address, c->bytes);
	return 0;
}

/* Whoever frees it, in scope or not. */
SEC("uprobe")
int on_free(struct pt_regs *regs)
{
	struct memleak_key key = {};
	u64 address = call_argument(regs, 0);

	if (!armed || !address || !is_outermost(allocator_calls_find(calling_task()), regs))
		return 0;
	key_of(&key, address);
	if (!bpf_map_delete_elem(&live, &key))
		count_freed();
	else if (scope_for_life(NULL) && scope_now(NULL))
		count_begun_before();
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *t)
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
