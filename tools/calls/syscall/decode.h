/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments and results of system calls as text, in the way of strace(1). What comes from a traced
 * process has been escaped (report/escape.h) in all of it.
 */
#ifndef TALLY_SYSCALL_DECODE_H
#define TALLY_SYSCALL_DECODE_H

#include <stdio.h>

#include "base/types.h"
#include "calls/syscall/table.h"

#include "bpf/calls/trace.h"

/*
 * size: of the record as it came; what of its chunks goes beyond it is not looked at. A pointer
 * whose target was not read is shown as a number; "(fault)" stands behind it if it should have
 * been.
 */
void syscall_arguments__put(FILE *f, const struct signature *s, const struct trace_record *r,
			    size_t size);

/* "3", "-1 ENOENT (No such file or directory)", "? (running for 3.2 s)" */
void syscall_result__put(FILE *f, const struct signature *s, const struct trace_record *r,
			 size_t size);

/* The error of a call that failed, as a positive number; else 0. */
int syscall_error(const struct trace_record *r);

/* Of those that are in no table: what tracefs says of its arguments, or six numbers. */
void syscall_signature__guess(struct signature *s, int tracefs, const char *name);

/* Has a parameter of that C type 32 bits or fewer? */
bool syscall_type_is_narrow(const char *type);

/* What the kernel's side has read of one argument, already of the right size; see decode.c. */
void struct__put(FILE *f, enum struct_layout layout, const void *data);

/* A struct clone_args, of which the caller has given that much: at least the first 64 bytes. */
void clone_args__put(FILE *f, const void *data, size_t bytes);

#endif /* TALLY_SYSCALL_DECODE_H */
