// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each exec. A successful exec is read inside the new program, whose name and arguments are already in its own memory.
 * A failed exec is read from the caller's memory when the system call returns. The kernel has just written or read
 * these pages, so they are present.
 *
 * The stack of a successful exec is the caller's, which no longer exists at that time, so it is taken when the system
 * call begins.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "call.bpf.h"
#include "callers.bpf.h"
#include "execsnoop.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "task_state.bpf.h"

#define AT_FDCWD -100

/*
 * The record under construction, one for each program. A program never runs nested on a CPU: see files/opensnoop.bpf.c.
 */
enum {
	SCRATCH_DONE,
	SCRATCH_FAILED,
	SCRATCHES,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCHES);
	__type(key, u32);
	__type(value, struct exec_record);
} scratch SEC(".maps");

static __always_inline struct exec_record *new_record(u32 which)
{
	struct exec_record *r = bpf_map_lookup_elem(&scratch, &which);
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	u64 id = bpf_get_current_pid_tgid();

	if (!r)
		return NULL;
	r->time_ns = bpf_ktime_get_ns();
	r->result = 0;
	r->dirfd = AT_FDCWD;
	r->pid = id >> 32;
	r->tid = id;
	r->ppid = BPF_CORE_READ(t, real_parent, tgid);
	r->uid = (u32)bpf_get_current_uid_gid();
	r->cpu = bpf_get_smp_processor_id();
	r->path_length = 0;
	r->args_length = 0;
	r->args_cut = 0;
	r->args_fault = 0;
	r->stack = (struct stack_id){};
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	return r;
}

/* Converts the result of a string read to a length that the verifier accepts. */
static __always_inline u64 bounded(long n, u64 most)
{
	u64 length = n < 0 ? 0 : n;

	barrier_var(length);
	return length > most ? most : length;
}

static __always_inline void send(struct exec_record *r, u64 used)
{
	barrier_var(used);
	if (used > sizeof(r->text))
		used = sizeof(r->text);
	ring_output(r, EXEC_RECORD_LEAST + used);
}

/* --- where they are called --------------------------------------------------------------------- */

struct exec_start {
	struct stack_id stack;
};

/* The exec that a task is in; only with stacks. */
TASK_STATE(exec_starts, struct exec_start);

SEC("tp_btf/sys_enter")
int UNPREEMPTED_PROG(on_enter, struct pt_regs *regs, long nr)
{
	struct exec_start *start;
	struct call c;

	if (!call_of(&c, regs) || !scope_for_life(NULL))
		return 0;
	start = exec_starts_get(calling_task(), NULL);
	if (!start)
		return 0;
	start->stack = (struct stack_id){};
	if (take)
		stack_count_flaw(callers_take(ctx, &start->stack));
	return 0;
}

static __always_inline void use_start(struct exec_record *r)
{
	struct exec_start *start = exec_starts_find(calling_task());

	if (!start)
		return;
	r->stack = start->stack;
	start->stack = (struct stack_id){};
}

/* --- execs that succeed ----------------------------------------------------------------------- */

SEC("tp_btf/sched_process_exec")
int UNPREEMPTED_PROG(on_exec, struct task_struct *t, int old_pid, struct linux_binprm *bprm)
{
	struct exec_record *r;
	u64 start, n, size;

	if (!armed || !in_scope(NULL))
		return 0;
	r = new_record(SCRATCH_DONE);
	if (!r)
		return 0;
	if (take)
		use_start(r);
	n = bounded(bpf_probe_read_kernel_str(r->text, EXEC_PATH_MOST, bprm->filename),
		    EXEC_PATH_MOST);
	r->path_length = n;
	start = t->mm->arg_start;
	size = t->mm->arg_end - start;
	r->args_cut = size > EXEC_ARGS_MOST;
	size = bounded(size, EXEC_ARGS_MOST);
	if (bpf_probe_read_user(r->text + n, size, (void *)start)) {
		r->args_fault = 1;
		size = 0;
	}
	r->args_length = size;
	send(r, n + size);
	return 0;
}

/* --- execs that fail -------------------------------------------------------------------------- */

struct arguments {
	u64 pointers;           /* argv of the caller */
	u64 at;                 /* offset in the text of the next argument */
	u64 pointer_size;       /* 4 or 8 */
};

/*
 * Adds an argument. Returns false at the end of the array, or if no more can be recorded. The verifier follows each
 * path through this function for each argument, so it has as few paths as possible.
 */
static __always_inline bool add_argument(struct exec_record *r, struct arguments *a, u32 i)
{
	u64 pointer = 0, at = a->at, size = a->pointer_size;
	long n;

	barrier_var(size);
	if (size > sizeof(pointer) ||
	    bpf_probe_read_user(&pointer, size, (void *)(a->pointers + i * size))) {
		r->args_fault = 1;
		return false;
	}
	if (!pointer)
		return false;
	barrier_var(at);
	if (i == EXEC_ARGS_FAILED_MOST || at > EXEC_PATH_MOST + EXEC_ARGS_MOST) {
		r->args_cut = 1;
		return false;
	}
	n = read_user_text(r->text + at, EXEC_ARG_FAILED_MOST, pointer);
	if (n < 0) {
		r->args_fault = 1;
		return false;
	}
	a->at = at + (n & (2 * EXEC_ARG_FAILED_MOST - 1));
	if (n < EXEC_ARG_FAILED_MOST)
		return true;
	r->args_cut = 1;
	return false;
}

static __always_inline void add_arguments(struct exec_record *r, struct arguments *a)
{
	u64 start = a->at;
	u32 i;

	if (a->pointers)
		for (i = 0; i <= EXEC_ARGS_FAILED_MOST; i++)
			if (!add_argument(r, a, i))
				break;
	r->args_length = a->at - start;
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(on_exit, struct pt_regs *regs, long ret)
{
	struct arguments a = {};
	struct exec_record *r;
	struct call c;
	u64 path;
	bool at;

	if (ret >= 0 || !call_of(&c, regs) || !armed || !in_scope(NULL))
		return 0;
	r = new_record(SCRATCH_FAILED);
	if (!r)
		return 0;
	if (take)
		stack_count_flaw(callers_take(ctx, &r->stack));
	/* Called again for the verifier: see net/connsnoop.bpf.c. */
	if (!call_of(&c, regs))
		return 0;
	call_arguments(&c, regs);
	at = c.which == EXEC_EXECVEAT;
	r->result = ret;
	if (at)
		r->dirfd = c.arg[0];
	path = at ? c.arg[1] : c.arg[0];
	a.pointers = at ? c.arg[2] : c.arg[1];
	a.pointer_size = c.compat ? 4 : 8;
	a.at = bounded(read_user_text(r->text, EXEC_PATH_MOST, path),
		       EXEC_PATH_MOST);
	r->path_length = a.at;
	add_arguments(r, &a);
	send(r, a.at);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
