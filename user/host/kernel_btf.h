/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions about the running kernel's types (BTF) that user space itself has to ask. */
#ifndef TALLY_HOST_KERNEL_BTF_H
#define TALLY_HOST_KERNEL_BTF_H

#include "base/types.h"

/*
 * Arguments of a tracepoint's handler, typedef btf_trace_NAME, the context pointer in front of
 * them included. -ENOENT if there is no such tracepoint, another negative errno without BTF.
 */
int kernel_btf_arguments(const char *trace_typedef);

#endif /* TALLY_HOST_KERNEL_BTF_H */
