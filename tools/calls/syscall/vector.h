/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays of struct iovec, and messages with them, as strace(1) shows them. */
#ifndef TALLY_SYSCALL_VECTOR_H
#define TALLY_SYSCALL_VECTOR_H

#include <stdio.h>

#include "base/types.h"

#include "bpf/calls/trace.h"

/*
 * Puts the argument TRACE_VECTOR_ARG of a call. size: see syscall_arguments__put(). filled: the
 * call has filled the buffers up to its result.
 */
void vector__put(FILE *f, const struct trace_record *r, size_t size, bool filled);
void message__put(FILE *f, const struct trace_record *r, size_t size, bool filled);
void messages__put(FILE *f, const struct trace_record *r, size_t size, bool filled);

#endif /* TALLY_SYSCALL_VECTOR_H */
