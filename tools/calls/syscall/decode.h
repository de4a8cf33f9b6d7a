/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments of system calls as text, like strace(1); results are in result.h. Everything that comes from a traced
 * process is escaped (report/escape.h).
 */
#ifndef TALLY_SYSCALL_DECODE_H
#define TALLY_SYSCALL_DECODE_H

#include <stdio.h>

#include "base/types.h"
#include "calls/syscall/table.h"

#include "bpf/calls/trace.h"

/*
 * size: size of the record as received; chunks beyond it are ignored. A pointer whose target was
 * not read is shown as a number, followed by "(fault)" if the read failed.
 */
void syscall_arguments__put(FILE *f, const struct signature *s, const struct trace_record *r, size_t size);

/* Puts a struct that the BPF program has read in full. */
void struct__put(FILE *f, enum struct_layout layout, const void *data);

/* Puts a struct clone_args whose size the caller passed as `bytes`; at least the first 64 are present. */
void clone_args__put(FILE *f, const void *data, size_t bytes);

#endif /* TALLY_SYSCALL_DECODE_H */
