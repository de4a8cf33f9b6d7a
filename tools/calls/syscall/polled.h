/* SPDX-License-Identifier: BSD-2-Clause */
/* The descriptors that poll(2) and select(2) wait for, and the signals blocked meanwhile, as strace(1) writes them. */
#ifndef TALLY_SYSCALL_POLLED_H
#define TALLY_SYSCALL_POLLED_H

#include <stdio.h>

#include "base/types.h"

#include "calls/syscall/table.h"

#include "bpf/calls/trace.h"

/*
 * "[{fd=3, events=POLLIN}]" for an array, "[3 4]" for an fd_set: c is the chunk of the argument.
 * Its descriptors are shown with their files, if known. size: see syscall_arguments__put().
 */
void pollfds__put(FILE *f, const struct trace_record *r, size_t size, u32 arg, const struct trace_chunk *c);
void fd_set__put(FILE *f, const struct trace_record *r, size_t size, u32 arg, const struct trace_chunk *c);

/* "{sigmask=[USR1], sigsetsize=8}": c is the chunk of that argument. A set of another size is shown as an address. */
void set_and_size__put(FILE *f, const struct trace_record *r, size_t size, u32 arg, const struct trace_chunk *c);

/*
 * Puts what a waiting call returned in addition to its return value: the ready descriptors and the
 * remaining timeout, or "(Timeout)" if poll, select and the like found no descriptor ready. size:
 * size of the record as received.
 */
void found__put(FILE *f, const struct signature *s, const struct trace_record *r, size_t size);

#endif /* TALLY_SYSCALL_POLLED_H */
