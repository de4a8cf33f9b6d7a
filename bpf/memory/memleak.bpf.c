// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory that processes have allocated (malloc() and the like) and not freed, by allocating stack. The subject is the
 * calling thread.
 *
 * Allocators call themselves: calloc() may call malloc(), realloc() may call free(). Only the outermost call of a
 * thread counts. It is identified by its stack pointer: calls inside it have lower stack pointers, and its return has
 * the same one. So a call that never returns, because of a longjmp(), is forgotten as soon as the stack is unwound.
 *
 * An exception, std::bad_alloc, may leave operator new, so its pending call hides nothing: the functions that it calls
 * count for themselves, and its own result counts unless a function inside it has just returned the same address.
 * Probes on its return instructions detect its end: a changed return address would end the program when an exception
 * passes.
 *
 * Memory counts as allocated when the call returns, and as freed when the call begins: between the two the address may
 * already belong to another thread. The block passed to realloc() is removed when the call begins, and restored if the
 * call fails.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "event.bpf.h"
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

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u32);
	__type(value, struct memleak_exec);
} execs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct memleak_totals);
} totals SEC(".maps");

/* A call of operator new. */
struct new_call {
	u64 sp;                 /* at the entry; 0 if none */
	u64 bytes;
	u64 caller;             /* its return address */
	u64 function;
	u64 inside;             /* the address last returned by an allocation function inside it */
};

/* The outermost call in which a thread is. */
struct allocator_call {
	u64 sp;                 /* at the entry; 0 if none */
	u64 bytes;
	u64 result;             /* where posix_memalign() stores the address; 0 if the address is returned */
	u64 old;                /* realloc(): the block passed to it, if known */
	struct memleak_live was;
	u32 begun_before;       /* realloc(): the block passed to it is unknown */
	u32 counts;             /* the caller is in scope; otherwise its realloc() only frees `old` */
	struct new_call made;   /* the innermost call of operator new outside the call above */
	u64 deleted;            /* address passed to the last operator delete, which may pass it on to free() */
	u64 deleted_sp;
	u64 exec;               /* exec for which memleak_exec.calls is set */
};

TASK_STATE(allocator_calls, struct allocator_call)

/* --- allocations and frees ----------------------------------------------------------------------- */

static __always_inline struct memleak_totals *all(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&totals, &zero);
}

static __always_inline u64 self_exec_id(void)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();

	return BPF_CORE_READ(t, self_exec_id);
}

static __always_inline void key_of(struct memleak_key *key, u64 address)
{
	key->address = address;
	key->exec = self_exec_id();
	key->tgid = bpf_get_current_pid_tgid() >> 32;
}

static __always_inline void count_freed(void)
{
	struct memleak_totals *t = all();

	if (t)
		__sync_fetch_and_add(&t->frees, 1);
}

/* An address that is allocated again has been freed by a function that is not traced. */
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

/* flags is an enum stack_flags. */
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
 * True if all calls of the process since its exec have been seen. If so, a free of unknown memory is one that the C
 * library repeats when a thread ends (glibc's tcache_thread_shutdown()).
 */
static __always_inline bool has_seen_all(const struct memleak_key *key)
{
	u32 tgid = key->tgid;
	struct memleak_exec *e = bpf_map_lookup_elem(&execs, &tgid);

	return e && e->exec == key->exec;
}

/* Records that the program of the process calls a probed function, once per thread and exec. */
static __noinline int see_program(void)
{
	struct allocator_call *c = allocator_calls_find(calling_task());
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct memleak_exec *e;

	if (!c)
		return 0;
	c->exec = self_exec_id();
	e = bpf_map_lookup_elem(&execs, &tgid);
	if (e)
		e->calls = 1;
	return 0;
}

/* --- arguments of 64-bit and of 32-bit functions -------------------------------------------------- */

/* Arguments of 32-bit functions are on the stack, above the return address. */
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

/*
 * The registers that identify a call, read once, because the verifier allows register reads only through the context
 * itself.
 */
struct place {
	u64 sp, function, pops;
	u64 link;       /* its return address, if it is in a register */
};

static __always_inline struct place place_of(struct pt_regs *regs)
{
	struct place p = { stack_pointer(regs), instruction_pointer(regs), return_pops(regs),
			   return_link(regs) };

	barrier_var(p.sp);
	barrier_var(p.function);
	barrier_var(p.pops);
	barrier_var(p.link);
	return p;
}

/* --- operator new ------------------------------------------------------------------------------- */

/* Reads the return address from the top of the stack, when a function begins or just before it returns. */
static __noinline u64 return_address(u64 sp, u64 size)
{
	u64 address = 0;

	if (bpf_probe_read_user(&address, size == 4 ? 4 : 8, (void *)sp))
		count_lost(LOSS_READ_FAULT);
	return address;
}

/* The return address of the call, when it is at its first or its last instruction. */
static __always_inline u64 returns_to(const struct place *p)
{
	return RETURNS_BY_LINK ? p->link : return_address(p->sp, p->pops);
}

/*
 * True if the call is still pending, as seen from a place. If only the first instruction of a function has its return
 * address in a known location, all deeper calls are assumed to be part of it.
 */
static __always_inline bool is_pending(const struct new_call *made, const struct place *p)
{
	if (p->sp > made->sp)
		return false;
	if (RETURNS_BY_LINK)
		return p->sp < made->sp || p->link == made->caller;
	return return_address(made->sp, p->pops) == made->caller;
}

/*
 * Called when another allocation function begins, or memory is freed. If the pending call still encloses this one, its
 * return address is in place. If the pending call ends by a jump to the other function, that function replaces it.
 * Otherwise it has been unwound.
 */
static __always_inline void look_after_new(struct allocator_call *c, const struct place *p)
{
	struct new_call *made = &c->made;
	bool is_there;

	if (!made->sp)
		return;
	is_there = is_pending(made, p);
	if (is_there && p->sp < made->sp)
		return;
	if (!is_there || p->function == made->function)
		count_lost(LOSS_UNWOUND);
	made->sp = 0;
}

/* --- calls --------------------------------------------------------------------------------------- */

/* Returns false if this call is part of another pending call. */
static __always_inline bool is_outermost(const struct allocator_call *c, u64 sp)
{
	return !c || !c->sp || sp >= c->sp;
}

static __always_inline bool is_live(u64 address)
{
	struct memleak_key key = {};

	if (!address)
		return false;
	key_of(&key, address);
	return bpf_map_lookup_elem(&live, &key);
}

/*
 * Returns the state for a call that begins and counts, or NULL. old is the block passed to realloc(), or 0; a caller
 * out of scope also frees it.
 */
static __always_inline struct allocator_call *begin(struct pt_regs *regs, u64 bytes, u64 old)
{
	struct place p = place_of(regs);
	struct allocator_call *c;
	bool counts;

	if (!armed)
		return NULL;
	counts = in_scope(NULL);
	if (!counts && !is_live(old))
		return NULL;
	c = allocator_calls_get(calling_task(), NULL);
	if (!c) {
		count_lost(LOSS_UNMATCHED);
		return NULL;
	}
	if (!is_outermost(c, p.sp))
		return NULL;
	look_after_new(c, &p);
	if (c->exec != self_exec_id())
		see_program();
	c->sp = p.sp;
	c->bytes = bytes;
	c->result = 0;
	c->old = 0;
	c->begun_before = 0;
	c->counts = counts;
	return c;
}

/*
 * The barrier keeps the compiler from merging the reads of several kinds into one read of a varying register, which the
 * verifier does not allow.
 */
static __always_inline u64 argument_of_kind(struct pt_regs *regs, u32 i)
{
	u64 argument = allocator_argument(regs, i);

	barrier_var(argument);
	return argument;
}

/* Returns the number of bytes that a call requests. */
static __always_inline u64 bytes_asked(struct pt_regs *regs, u32 kind)
{
	switch (kind) {
	case ALLOCATOR_CALLOC:
		return argument_of_kind(regs, 0) * argument_of_kind(regs, 1);
	case ALLOCATOR_REALLOCARRAY:
		return argument_of_kind(regs, 1) * argument_of_kind(regs, 2);
	case ALLOCATOR_MEMALIGN:
	case ALLOCATOR_REALLOC:
		return argument_of_kind(regs, 1);
	case ALLOCATOR_POSIX_MEMALIGN:
		return argument_of_kind(regs, 2);
	default:
		return argument_of_kind(regs, 0);
	}
}

static __always_inline void begin_realloc(struct allocator_call *c, u64 address)
{
	struct memleak_key key = {};
	struct memleak_live *l;

	if (!address)
		return;
	key_of(&key, address);
	l = bpf_map_lookup_elem(&live, &key);
	if (!l) {
		c->begun_before = c->counts && !has_seen_all(&key);
		return;
	}
	c->was = *l;
	c->old = address;
	bpf_map_delete_elem(&live, &key);
}

static __always_inline void begin_allocation(struct pt_regs *regs, u32 kind)
{
	bool is_realloc = kind == ALLOCATOR_REALLOC || kind == ALLOCATOR_REALLOCARRAY;
	u64 first = argument_of_kind(regs, 0);
	struct allocator_call *c = begin(regs, bytes_asked(regs, kind), is_realloc ? first : 0);

	if (!c)
		return;
	if (kind == ALLOCATOR_POSIX_MEMALIGN)
		c->result = first;
	else if (is_realloc)
		begin_realloc(c, first);
}

/* Handles the block passed to realloc(), which has been freed unless the call failed. */
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

/* Runs at the return of all functions above, of any kind. If realloc(p, 0) returns NULL, it has freed p. */
SEC("?uretprobe")
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
	if (address && c->counts)
		add_allocation(regs, address, c->bytes, 0);
	return 0;
}

static __always_inline void begin_new(struct pt_regs *regs)
{
	struct place p = place_of(regs);
	struct new_call made = { .sp = p.sp, .function = p.function };
	struct allocator_call *c;
	u64 bytes = allocator_argument(regs, 0);

	if (!armed || !in_scope(NULL))
		return;
	c = allocator_calls_get(calling_task(), NULL);
	if (!c) {
		count_lost(LOSS_UNMATCHED);
		return;
	}
	if (!is_outermost(c, p.sp))
		return;
	made.bytes = bytes;
	made.caller = returns_to(&p);
	c->sp = 0;
	look_after_new(c, &p);
	if (c->exec != self_exec_id())
		see_program();
	c->made = made;
}

/* Runs at a return instruction of operator new, which may be in a function to which others also jump. */
static __always_inline void end_new(struct pt_regs *regs)
{
	struct allocator_call *c = allocator_calls_find(calling_task());
	u64 address = return_value(regs);
	struct place p = place_of(regs);

	if (!c || !c->made.sp || p.sp != c->made.sp || !is_outermost(c, p.sp) ||
	    returns_to(&p) != c->made.caller)
		return;
	c->sp = 0;
	c->made.sp = 0;
	if (address && address != c->made.inside)
		add_allocation(regs, address, c->made.bytes, STACK_AT_EXIT);
}

/* True if operator delete has already freed the address, and is now calling or jumping to free(). */
static __always_inline bool was_deleted(struct allocator_call *c, u64 sp, u64 address)
{
	if (!c || c->deleted != address || sp > c->deleted_sp)
		return false;
	c->deleted = 0;
	return true;
}

/* The calling thread may be in scope or not. */
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

static __always_inline void begin_free(struct pt_regs *regs)
{
	u64 address = allocator_argument(regs, 0);
	struct place p = place_of(regs);

	if (armed)
		end_life(allocator_calls_find(calling_task()), &p, address);
}

static __always_inline void begin_delete(struct pt_regs *regs)
{
	u64 address = allocator_argument(regs, 0);
	struct place p = place_of(regs);
	struct allocator_call *c;

	if (!armed || !address)
		return;
	c = scope_for_life(NULL) ? allocator_calls_get(calling_task(), NULL) :
				   allocator_calls_find(calling_task());
	end_life(c, &p, address);
	if (c) {
		c->deleted = address;
		c->deleted_sp = p.sp;
	}
}

/* --- the programs: one for all functions, with its kind as slot (event.bpf.h) ---------------------- */

static __always_inline void look_at_call(struct pt_regs *regs, u32 kind)
{
	switch (kind) {
	case ALLOCATOR_FREE:
		begin_free(regs);
		break;
	case ALLOCATOR_NEW:
		begin_new(regs);
		break;
	case ALLOCATOR_NEW_EXIT:
		end_new(regs);
		break;
	case ALLOCATOR_DELETE:
		begin_delete(regs);
		break;
	default:
		begin_allocation(regs, kind);
	}
}

SEC("?uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_call, struct pt_regs *, regs)
{
	look_at_call(regs, event_slot());
	return 0;
}

SEC("?uprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_calls, struct pt_regs *, regs)
{
	look_at_call(regs, event_cookie(regs));
	return 0;
}

SEC("tp_btf/sched_process_exec")
int UNPREEMPTED_PROG(on_exec, struct task_struct *t)
{
	struct memleak_exec e = { .exec = t->self_exec_id };
	u32 tgid = t->tgid;
	long err;

	if (!scope_for_life(t))
		return 0;
	bpf_get_current_comm(e.comm, sizeof(e.comm));
	err = bpf_map_update_elem(&execs, &tgid, &e, BPF_ANY);
	if (err)
		count_failed_update(err);
	return 0;
}

/* A process loses its memory when its last thread ends. Not loaded if that memory is reported nevertheless. */
SEC("tp_btf/sched_process_exit")
int UNPREEMPTED_PROG(on_last_exit, struct task_struct *t)
{
	u32 tgid = t->tgid;

	if (!t->signal->live.counter)
		bpf_map_delete_elem(&execs, &tgid);
	return 0;
}

/*
 * Probes on perf events of a single process compare the current memory with that of its first thread, so they see
 * nothing more after that thread has ended, although other threads continue. The loader loads this for such probes
 * only.
 */
bool first_has_ended = false;

SEC("tp_btf/sched_process_exit")
int UNPREEMPTED_PROG(on_first_exit, struct task_struct *t)
{
	if (t->pid == t->tgid && t->signal->live.counter && !(t->signal->flags & SIGNAL_GROUP_EXIT) &&
	    scope_for_life(t))
		first_has_ended = true;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
