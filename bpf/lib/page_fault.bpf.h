/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For programs on the tracepoints exceptions:page_fault_user and page_fault_kernel. */
#ifndef TALLY_PAGE_FAULT_BPF_H
#define TALLY_PAGE_FAULT_BPF_H

#include "compat.bpf.h"

/*
 * True if the current access is made with page faults disabled. Programs, and kernel code that must not sleep, read
 * only memory that is present: no page is brought in, and the kernel does not count a fault.
 */
static __always_inline bool is_only_a_try(void)
{
	struct task_struct *t = calling_task();

	if (has_typed_current())
		return t->pagefault_disabled;
	/* This read itself disables page faults (copy_from_kernel_nofault()), which the count includes. */
	return BPF_CORE_READ(t, pagefault_disabled) > 1;
}

#endif /* TALLY_PAGE_FAULT_BPF_H */
