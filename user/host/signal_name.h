/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of signals. */
#ifndef TALLY_HOST_SIGNAL_NAME_H
#define TALLY_HOST_SIGNAL_NAME_H

#include "base/types.h"

#define SIGNAL_NAME_SPACE 24
#define SIGNALS 64

/*
 * Formats "SIGTERM", "SIGRTMIN+2", or the number. Real-time signals count from 34, as in the C
 * library and kill(1). The C library reserves 32 and 33, which have no names.
 */
char *signal_name(char text[SIGNAL_NAME_SPACE], int signal);

/* Parses "TERM", "SIGTERM", "15", "SIGRTMIN+2", "SIGRTMAX-1". Returns 0 or -EINVAL. */
int signal_number(const char *text, int *signal);

/* Formats the name of an si_code ("SI_USER"). Codes of some signals have their own names. */
char *signal_code_name(char text[SIGNAL_NAME_SPACE], int signal, int code);

#endif /* TALLY_HOST_SIGNAL_NAME_H */
