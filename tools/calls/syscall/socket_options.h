/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket options and their values, as in getsockopt and setsockopt. */
#ifndef TALLY_SYSCALL_SOCKET_OPTIONS_H
#define TALLY_SYSCALL_SOCKET_OPTIONS_H

#include <stdio.h>

#include "base/types.h"

#include "bpf/calls/trace.h"

struct value_names;

/*
 * Puts "SO_REUSEADDR", or a number for unknown levels. first: names of SOL_SOCKET to try before the usual ones, or
 * NULL.
 */
void socket_option__put(FILE *f, u32 level, u32 option, const struct value_names *first);

/* Puts "[1]", "{l_onoff=1, l_linger=5}", a string, or bytes. */
void socket_value__put(FILE *f, u32 level, u32 option, const struct trace_chunk *c);

#endif /* TALLY_SYSCALL_SOCKET_OPTIONS_H */
