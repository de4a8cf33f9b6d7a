/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regular expressions (POSIX extended) from users. They are limited so that they cannot exhaust stack
 * or memory: the C library's compiler recurses for each parenthesis, and expands repetition counts
 * into copies. No other code compiles them.
 */
#ifndef TALLY_BASE_PATTERN_H
#define TALLY_BASE_PATTERN_H

#include <regex.h>

#include "base/types.h"

#define PATTERN_MAX 4096        /* bytes */
#define PATTERN_DEPTH 32        /* open parentheses */
#define PATTERN_COPIES 1000     /* product of all repetition counts */

/*
 * Compiles an expression for matching only. Returns 0, or -EINVAL with the reason in why and nothing
 * to free.
 */
int pattern__compile(regex_t *regex, const char *text, char *why, size_t size);

#endif /* TALLY_BASE_PATTERN_H */
