/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tracepoints exceptions:page_fault_user and page_fault_kernel, for those who look at them. */
#ifndef TALLY_PAGE_FAULT_BPF_H
#define TALLY_PAGE_FAULT_BPF_H

#include "compat.bpf.h"

/*
 * A program or a part of the kernel that must not sleep reads memory as far as it is there: no page
 * is brought in for it, and the kernel itself does not count that as a fault.
 */
static __always_inline bool is_only_a_try(void)
{
	struct task_struct *t = calling_task();

	if (has_typed_current())
		return t->pagefault_disabled;
	/* Reading it so is itself such a try: copy_from_kernel_nofault(). */
	return BPF_CORE_READ(t, pagefault_disabled) > 1;
}

#endif /* TALLY_PAGE_FAULT_BPF_H */
