/* SPDX-License-Identifier: BSD-2-Clause */
/* The file behind a descriptor, as strace(1) shows it. */
#ifndef TALLY_SYSCALL_DESCRIPTOR_H
#define TALLY_SYSCALL_DESCRIPTOR_H

#include <stdio.h>

#include "base/types.h"

#include "bpf/calls/trace.h"

/*
 * Puts "</etc/passwd>", "<pipe:[123]>", "<TCP:[127.0.0.1:80->127.0.0.1:5555]>", "<UNIX-STREAM:[4->5]>",
 * "<anon_inode:[eventfd]>". Puts nothing if c is NULL, because the descriptor is invalid or names were not requested.
 * "<...>" means that the record had no room for the name.
 */
void descriptor__put(FILE *f, const struct trace_chunk *c);

#endif /* TALLY_SYSCALL_DESCRIPTOR_H */
