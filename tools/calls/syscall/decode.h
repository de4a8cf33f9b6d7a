/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments and results of system calls as text, like strace(1). Everything that comes from a
 * traced process is escaped (report/escape.h).
 */
#ifndef TALLY_SYSCALL_DECODE_H
#define TALLY_SYSCALL_DECODE_H

#include <stdio.h>

#include "base/types.h"
#include "calls/syscall/table.h"

#include "bpf/calls/trace.h"

/*
 * size: of the record as received; chunks beyond it are ignored. A pointer whose target was not
 * read is shown as a number, followed by "(fault)" if the read failed.
 */
void syscall_arguments__put(FILE *f, const struct signature *s, const struct trace_record *r, size_t size);

/* "3", "-1 ENOENT (No such file or directory)", "? (running for 3.2 s)" */
void syscall_result__put(FILE *f, const struct signature *s, const struct trace_record *r, size_t size);

/* The error of a failed call, as a positive number, or 0. */
int syscall_error(const struct trace_record *r);

/* Makes a signature for a call without one: the arguments from tracefs, or six numbers. */
void syscall_signature__guess(struct signature *s, int tracefs, const char *name);

/* Whether a parameter of this C type has at most 32 bits. */
bool syscall_type_is_narrow(const char *type);

/* Puts a struct that the kernel's side has read in full. */
void struct__put(FILE *f, enum struct_layout layout, const void *data);

/* Puts a struct clone_args of which the caller passed this many bytes, at least the first 64. */
void clone_args__put(FILE *f, const void *data, size_t bytes);

#endif /* TALLY_SYSCALL_DECODE_H */
