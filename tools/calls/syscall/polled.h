/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptors that poll(2) and select(2) wait for, and the signals blocked during the wait, as strace(1) writes
 * them.
 */
#ifndef TALLY_SYSCALL_POLLED_H
#define TALLY_SYSCALL_POLLED_H

#include <stdio.h>

#include "base/types.h"

#include "calls/syscall/table.h"

#include "bpf/calls/trace.h"

/*
 * Puts "[{fd=3, events=POLLIN}]" for an array, or "[3 4]" for an fd_set. Descriptors are shown with their files, if
 * known. c: the chunk of the argument. size: see syscall_arguments__put().
 */
void pollfds__put(FILE *f, const struct trace_record *r, size_t size, u32 arg, const struct trace_chunk *c);
void fd_set__put(FILE *f, const struct trace_record *r, size_t size, u32 arg, const struct trace_chunk *c);

/* Puts "{sigmask=[USR1], sigsetsize=8}". A set of another size is shown as an address. c: the chunk of the argument. */
void set_and_size__put(FILE *f, const struct trace_record *r, size_t size, u32 arg, const struct trace_chunk *c);

/*
 * Puts what a waiting call returned in addition to its return value: the ready descriptors and the
 * remaining timeout, or "(Timeout)" if poll, select and the like found no descriptor ready. size:
 * size of the record as received.
 */
void found__put(FILE *f, const struct signature *s, const struct trace_record *r, size_t size);

#endif /* TALLY_SYSCALL_POLLED_H */
