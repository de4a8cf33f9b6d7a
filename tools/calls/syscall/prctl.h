/* SPDX-License-Identifier: BSD-2-Clause */
/* What the arguments of prctl(2) are depends on its first: its table. */
#ifndef TALLY_SYSCALL_PRCTL_H
#define TALLY_SYSCALL_PRCTL_H

#include <stdio.h>

#include "base/types.h"

#include "bpf/calls/trace.h"

/* How many arguments it has with that option, the option included; 5 where that is not known. */
u32 prctl_arguments(u64 option);

/* The second one of the call. size: of the record as it came. */
void prctl_second__put(FILE *f, const struct trace_record *r, size_t size);

#endif /* TALLY_SYSCALL_PRCTL_H */
