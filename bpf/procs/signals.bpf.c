// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Each signal when it is sent: its target, its sender, and the result. */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "signals.h"

const volatile bool by_sender = false;  /* the scope applies to the sender */
const volatile u64 only = ~0ULL;        /* 1 << (signal - 1), ORed */

/* include/uapi/asm-generic/siginfo.h, include/linux/sched/signal.h */
#define SI_USER 0
#define SI_KERNEL 0x80
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

SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal, int sig, struct kernel_siginfo *info, struct task_struct *t, int group,
	     int result)
{
	struct signal_record *r;
	u64 id;

	if (!armed || !in_scope(by_sender ? NULL : t))
		return 0;
	if (!(only & 1ULL << ((sig - 1) & 63))) {
		count_filtered();
		return 0;
	}
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
	r->code = code_of(info);
	r->result = result;
	r->group = group;
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), t->comm);
	bpf_get_current_comm(r->sender_comm, sizeof(r->sender_comm));
	ring_submit(r);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
