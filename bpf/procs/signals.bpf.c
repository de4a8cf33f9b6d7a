// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Each signal when it is sent: its target, its sender, and the result. */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "callers.bpf.h"
#include "loss.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "signals.h"

const volatile bool by_sender = false;  /* the scope applies to the sender */
const volatile u64 only = ~0ULL;        /* 1 << (signal - 1), ORed */

/* include/uapi/asm-generic/siginfo.h, include/linux/sched/signal.h */
#define SI_USER 0
#define SI_QUEUE -1
#define SI_TKILL -6
#define SI_KERNEL 0x80
#define SIGCHLD 17
#define SEND_SIG_NOINFO ((void *)0)
#define SEND_SIG_PRIV ((void *)1)

/* Two of the values are not pointers. */
static __always_inline int code_of(struct kernel_siginfo *info)
{
	if ((void *)info == SEND_SIG_NOINFO)
		return SI_USER;
	if ((void *)info == SEND_SIG_PRIV)
		return SI_KERNEL;
	return BPF_CORE_READ(info, si_code);
}

/*
 * True if the current task, whose stack would be taken, caused the signal. A timer may interrupt any task. A child that
 * ends sends SIGCHLD itself.
 */
static __always_inline bool is_reason(struct task_struct *t, int sig, int code)
{
	return code == SI_USER || code == SI_QUEUE || code == SI_TKILL || sig == SIGCHLD ||
	       bpf_get_current_pid_tgid() >> 32 == t->tgid;
}

SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal, int sig, struct kernel_siginfo *info, struct task_struct *t, int group,
	     int result)
{
	struct stack_id stack = {};
	struct signal_record *r;
	int code;
	u64 id;

	if (!armed || !in_scope(by_sender ? NULL : t))
		return 0;
	if (!(only & 1ULL << ((sig - 1) & 63))) {
		count_filtered();
		return 0;
	}
	code = code_of(info);
	if (take && is_reason(t, sig, code))
		stack_count_flaw(callers_take(ctx, &stack));
	r = ring_reserve(struct signal_record);
	if (!r)
		return 0;
	id = bpf_get_current_pid_tgid();
	r->time_ns = bpf_ktime_get_ns();
	r->pid = t->tgid;
	r->tid = t->pid;
	r->sender_pid = id >> 32;
	r->sender_tid = id;
	r->cpu = bpf_get_smp_processor_id();
	r->signal = sig;
	r->code = code;
	r->stack = stack;
	r->result = result;
	r->group = group;
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), t->comm);
	bpf_get_current_comm(r->sender_comm, sizeof(r->sender_comm));
	ring_submit(r);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
