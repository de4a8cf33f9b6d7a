/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of prctl(2) depend on the first one; this is the table. */
#ifndef TALLY_SYSCALL_PRCTL_H
#define TALLY_SYSCALL_PRCTL_H

#include <stdio.h>

#include "base/types.h"

#include "bpf/calls/trace.h"

/* Number of arguments for this option, including the option itself; 5 if the option is unknown. */
u32 prctl_arguments(u64 option);

/* Puts the second argument of the call. size: size of the record as received. */
void prctl_second__put(FILE *f, const struct trace_record *r, size_t size);

#endif /* TALLY_SYSCALL_PRCTL_H */
