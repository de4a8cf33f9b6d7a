/* SPDX-License-Identifier: BSD-2-Clause */
/* The descriptors that poll(2) and select(2) wait for, as strace(1) writes them. */
#ifndef TALLY_SYSCALL_POLLED_H
#define TALLY_SYSCALL_POLLED_H

#include <stdio.h>

#include "base/types.h"

#include "calls/syscall/table.h"

#include "bpf/calls/trace.h"

/*
 * "[{fd=3, events=POLLIN}]" of an array, "[3 4]" of an fd_set: what was read of that argument, c,
 * and what is known of the descriptors in it. size: see syscall_arguments__put().
 */
void pollfds__put(FILE *f, const struct trace_record *r, size_t size, u32 arg,
		  const struct trace_chunk *c);
void fd_set__put(FILE *f, const struct trace_record *r, size_t size, u32 arg,
		 const struct trace_chunk *c);

/*
 * What calls that wait say beside their result: which descriptors are ready, and how much of the
 * timeout is left; "(Timeout)" of poll, select and their kin if none was ready. size: of the record
 * as it came.
 */
void found__put(FILE *f, const struct signature *s, const struct trace_record *r, size_t size);

#endif /* TALLY_SYSCALL_POLLED_H */
