/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System calls that the kernel does not run, because a seccomp filter answers them (SECCOMP_RET_ERRNO, TRAP and
 * USER_NOTIF) or a tracer skips them (PTRACE_SYSEMU). For such a call the kernel reaches sys_exit but not sys_enter. At
 * sys_exit the registers still hold the number and the arguments, unless the tracer has changed them; the time of the
 * call is unknown.
 *
 * A program that sees the entry of each call can identify them: an exit without an entry, in a task that has a filter
 * or a tracer, is such a call. Where tracepoints can be preempted (7.0), the kernel may also have skipped the program
 * at the entry. The two cases cannot be distinguished; the report then also shows losses (LOSS_RECURSION).
 */
#ifndef TALLY_ANSWERED_BPF_H
#define TALLY_ANSWERED_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "scope.bpf.h"

/* True if the current task has a seccomp filter or a tracer. */
static __always_inline bool may_be_answered(void)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();

	if (bpf_core_field_exists(t->seccomp) && BPF_CORE_READ(t, seccomp.mode))
		return true;
	return BPF_CORE_READ(t, ptrace);
}

/*
 * For an entry that is out of scope: true if the call may be in scope when it returns, and could then be mistaken for a
 * call without an entry. If so, the program marks the call in the task's state.
 */
static __always_inline bool may_come_into_scope(void)
{
	if (!scope.has_cpus && !scope.has_uid && !scope.has_pidns && !scope.has_cgroup && !scope.has_comm)
		return false;
	return may_be_answered() && scope_for_life(NULL);
}

#endif /* TALLY_ANSWERED_BPF_H */
