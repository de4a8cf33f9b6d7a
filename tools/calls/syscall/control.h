/* SPDX-License-Identifier: BSD-2-Clause */
/* Control messages of sendmsg(2) and recvmsg(2) (cmsg(3)), as strace(1) writes them. */
#ifndef TALLY_SYSCALL_CONTROL_H
#define TALLY_SYSCALL_CONTROL_H

#include <stdio.h>

#include "base/types.h"

#include "bpf/calls/trace.h"

/*
 * Puts the valid messages at the start of c, then "..." for the rest: "[{cmsg_len=20,
 * cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3]}]". Returns false and puts nothing if
 * c is NULL or shorter than one header. Only for 64-bit programs.
 */
bool control__put(FILE *f, const struct trace_chunk *c);

#endif /* TALLY_SYSCALL_CONTROL_H */
