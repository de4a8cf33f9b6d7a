/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regular expressions (POSIX extended) that whoever types them cannot overflow the stack or the
 * memory with: the C library's compiler goes into itself for each parenthesis, and copies what a
 * number in braces repeats. The one place that compiles them.
 */
#ifndef TALLY_BASE_PATTERN_H
#define TALLY_BASE_PATTERN_H

#include <regex.h>

#include "base/types.h"

#define PATTERN_MAX 4096        /* bytes */
#define PATTERN_DEPTH 32        /* of parentheses, open at once */
#define PATTERN_COPIES 1000     /* product of all numbers in braces */

/*
 * Compiles one that is only asked whether it matches. Returns 0, or -EINVAL with the reason in why;
 * then there is nothing to free.
 */
int pattern__compile(regex_t *regex, const char *text, char *why, size_t size);

#endif /* TALLY_BASE_PATTERN_H */
