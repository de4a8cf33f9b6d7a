/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of sockets and their values, as getsockopt and setsockopt have them. */
#ifndef TALLY_SYSCALL_SOCKET_OPTIONS_H
#define TALLY_SYSCALL_SOCKET_OPTIONS_H

#include <stdio.h>

#include "base/types.h"

#include "bpf/calls/trace.h"

/* "SO_REUSEADDR"; of a level that is not known, a number. */
void socket_option__put(FILE *f, u32 level, u32 option);

/* "[1]", "{l_onoff=1, l_linger=5}", a text, or bytes. */
void socket_value__put(FILE *f, u32 level, u32 option, const struct trace_chunk *c);

#endif /* TALLY_SYSCALL_SOCKET_OPTIONS_H */
