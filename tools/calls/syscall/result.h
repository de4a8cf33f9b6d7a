/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of system calls as text, like strace(1). Text from a traced process is escaped (report/escape.h). */
#ifndef TALLY_SYSCALL_RESULT_H
#define TALLY_SYSCALL_RESULT_H

#include <stdio.h>

#include "base/types.h"
#include "calls/syscall/table.h"

#include "bpf/calls/trace.h"

/*
 * Puts "3", "-1 ENOENT (No such file or directory)" or "? (running for 3.2 s)". size: size of the record as received;
 * chunks beyond it are ignored.
 */
void syscall_result__put(FILE *f, const struct signature *s, const struct trace_record *r, size_t size);

/* The error of a failed call, as a positive number, or 0. */
int syscall_error(const struct trace_record *r);

#endif /* TALLY_SYSCALL_RESULT_H */
