/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of error numbers. */
#ifndef TALLY_HOST_ERRNO_NAME_H
#define TALLY_HOST_ERRNO_NAME_H

#include "base/types.h"

/*
 * "ENOENT" for 2; those the kernel has for itself, too ("ERESTARTSYS" for 512: a signal has
 * interrupted a call, which is then made again or returns EINTR). NULL if there is no such error.
 */
const char *errno_name(int error);

/* The number of a name, or of a number in text. Returns 0 or -EINVAL. */
int errno_number(const char *text, int *error);

#endif /* TALLY_HOST_ERRNO_NAME_H */
