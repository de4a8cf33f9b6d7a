/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of signals. */
#ifndef TALLY_HOST_SIGNAL_NAME_H
#define TALLY_HOST_SIGNAL_NAME_H

#include "base/types.h"

#define SIGNAL_NAME_SPACE 24
#define SIGNALS 64

/*
 * "SIGTERM", "SIGRTMIN+2", or the number. Real-time signals count from 34, as in the C library and
 * kill(1); the C library reserves the two before that, which have no names.
 */
char *signal_name(char text[SIGNAL_NAME_SPACE], int signal);

/* "TERM", "SIGTERM", "15", "SIGRTMIN+2", "SIGRTMAX-1". Returns 0 or -EINVAL. */
int signal_number(const char *text, int *signal);

/* The name of an si_code ("SI_USER"); for some signals, codes have special names. */
char *signal_code_name(char text[SIGNAL_NAME_SPACE], int signal, int code);

#endif /* TALLY_HOST_SIGNAL_NAME_H */
