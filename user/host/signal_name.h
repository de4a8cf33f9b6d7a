/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of signals. */
#ifndef TALLY_HOST_SIGNAL_NAME_H
#define TALLY_HOST_SIGNAL_NAME_H

#include "base/types.h"

#define SIGNAL_NAME_SPACE 24
#define SIGNALS 64

/*
 * "SIGTERM", "SIGRTMIN+2", or the number. Real-time signals are counted as the C library does, and
 * kill(1): from 34 on. The two before that it keeps for itself; they have no names.
 */
char *signal_name(char text[SIGNAL_NAME_SPACE], int signal);

/* "TERM", "SIGTERM", "15", "SIGRTMIN+2", "SIGRTMAX-1". Returns 0 or -EINVAL. */
int signal_number(const char *text, int *signal);

/* "SI_USER" and so on: si_code, which for some signals has names of its own. */
char *signal_code_name(char text[SIGNAL_NAME_SPACE], int signal, int code);

#endif /* TALLY_HOST_SIGNAL_NAME_H */
