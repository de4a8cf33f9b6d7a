// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How vCPU threads spend their time: in the guest from kvm_entry to kvm_exit, and outside, by exit reason, from
 * kvm_exit to the next kvm_entry. The subject is the thread.
 *
 * The arguments of kvm_exit differ: 5.10 passes the reason, 6.1 only the vCPU. The tracepoint's record is the same on
 * all kernels, so programs read the record. For kvm_entry, only the time is used.
 *
 * Only on_exit adds spans in the guest. Only on_entry, and once on_thread_end, add spans outside. The state is part of
 * the key, so no two programs add to one histogram, even where they can be preempted (7.0) and the kernel only keeps
 * each from interrupting itself.
 */
#define SCOPE_CURRENT
#include "compat.bpf.h"
#include "hist.bpf.h"
#include "kvmstat.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"

const volatile u64 began_ns = 0;        /* begin of the run, or slightly earlier */

/* Nonzero after the run has ended: state no longer changes, so that the loader can read it. */
u64 ended_ns = 0;

/* The unkeyed map that measure.h expects remains empty, because results always have a key. */
HIST_MAPS(times, struct kvmstat_key);

struct vcpu {
	u64 since;
	u32 state;              /* enum vcpu_state; unknown until the first entry or exit */
	u32 isa;
	u32 reason;
	u32 pad;
};

TASK_STATE(vcpus, struct vcpu)

static __always_inline void add(struct task_struct *t, const struct vcpu *v, u64 now)
{
	struct kvmstat_key key = { .parts.state = v->state };
	struct hist_segment *h;

	if (by & BY_EXIT_REASON) {
		key.parts.isa = v->isa;
		key.parts.reason = v->reason;
	}
	task_key_of(&key.task, t);
	h = hist_add_key(&keyed_times, &key.slot, now - v->since);
	if (h)
		task_key_name(h->name, &h->name_stamp, t, now);
}

static __always_inline bool is_out(u32 state)
{
	return state == VCPU_HALTED || state == VCPU_HOST;
}

/*
 * Counts an end whose begin was not seen. A thread created during the run has just entered for the first time; for an
 * older thread the begin is unknown.
 */
static __always_inline void count_unless_new(struct task_struct *t)
{
	if (is_older_than(t, began_ns))
		count_begun_before();
}

/* Changes the state of the current thread, which ends the previous span. */
static __always_inline void turn_to(struct vcpu next)
{
	struct task_struct *t = calling_task();
	struct vcpu *v, last;

	if (ended_ns || !in_scope_for_life(t))
		return;
	v = vcpus_get(t, NULL);
	if (!v) {
		count_lost(LOSS_NO_STORAGE);
		return;
	}
	next.since = bpf_ktime_get_ns();
	last = *v;
	*v = next;
	if (!armed || !in_scope_now(t))
		return;
	if (last.state == VCPU_UNKNOWN)
		count_unless_new(t);
	else if (is_out(last.state) == is_out(next.state))
		count_lost(LOSS_MISSED);        /* the transition that ended the last state */
	else
		add(t, &last, next.since);
}

static __always_inline bool is_halt(u32 isa, u32 reason)
{
	if (isa == KVM_ISA_VMX)
		return reason == VMX_EXIT_HLT;
	return isa == KVM_ISA_SVM && (reason == SVM_EXIT_HLT || reason == SVM_EXIT_IDLE_HLT ||
				      reason == SVM_EXIT_AP_HLT_LOOP);
}

SEC("tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_exit, struct kvm_exit_record *, record)
{
	struct vcpu v = { .isa = record->isa, .reason = record->exit_reason };

	if (v.isa == KVM_ISA_VMX)
		v.reason &= VMX_EXIT_ENTRY_FAILED | VMX_EXIT_NUMBER;
	v.state = is_halt(v.isa, v.reason) ? VCPU_HALTED : VCPU_HOST;
	turn_to(v);
	return 0;
}

SEC("raw_tp/kvm_entry")
int on_entry(void *ctx)
{
	turn_to((struct vcpu){ .state = VCPU_GUEST });
	return 0;
}

/* A thread's last exit span ends with the thread. */
SEC("tp_btf/sched_process_exit")
int UNPREEMPTED_PROG(on_thread_end, struct task_struct *t)
{
	struct vcpu *v = ended_ns ? NULL : vcpus_find(t), last;

	if (!v || !is_out(v->state))
		return 0;
	last = *v;
	v->state = VCPU_UNKNOWN;
	if (armed && in_scope(t))
		add(t, &last, bpf_ktime_get_ns());
	return 0;
}

/* Spans in progress at the end of the run. */
SEC("iter/task")
int show_running(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct vcpu *v;

	if (!t || !scope_for_life(t) || !scope_now(t))
		return 0;
	v = vcpus_find(t);
	if (v && v->state != VCPU_UNKNOWN && v->since < ended_ns)
		add(t, v, ended_ns);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
