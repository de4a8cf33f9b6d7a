/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of error numbers. */
#ifndef TALLY_HOST_ERRNO_NAME_H
#define TALLY_HOST_ERRNO_NAME_H

#include "base/types.h"

/*
 * Returns "ENOENT" for 2. Includes kernel-internal errors ("ERESTARTSYS" for 512: a signal interrupted a call, which is
 * restarted or returns EINTR). NULL if unknown.
 */
const char *errno_name(int error);

#define MOST_ERRNO 4095 /* include/linux/err.h: MAX_ERRNO */

/* Parses a name, or a decimal number as text. Returns 0 or -EINVAL. */
int errno_number(const char *text, int *error);

#endif /* TALLY_HOST_ERRNO_NAME_H */
