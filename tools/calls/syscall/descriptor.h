/* SPDX-License-Identifier: BSD-2-Clause */
/* What a descriptor stands for, as strace(1) writes it. */
#ifndef TALLY_SYSCALL_DESCRIPTOR_H
#define TALLY_SYSCALL_DESCRIPTOR_H

#include <stdio.h>

#include "base/types.h"

#include "bpf/calls/trace.h"

/*
 * "</etc/passwd>", "<pipe:[123]>", "<TCP:[127.0.0.1:80->127.0.0.1:5555]>", "<UNIX-STREAM:[4->5]>",
 * "<anon_inode:[eventfd]>". Nothing where there is no chunk: of a descriptor that is none, or where
 * names were not asked for. "<...>": there was no room for it in the record.
 */
void descriptor__put(FILE *f, const struct trace_chunk *c);

#endif /* TALLY_SYSCALL_DESCRIPTOR_H */
