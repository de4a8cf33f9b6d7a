/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits a command line into words like a shell, but without expansions. */
#ifndef TALLY_BASE_WORDS_H
#define TALLY_BASE_WORDS_H

#include "base/types.h"

/*
 * Splits at blanks. 'single' and "double" quotes keep blanks; a backslash quotes the next character,
 * except within single quotes. *words ends in NULL, and is one allocation, which the caller frees with
 * free(). Returns the number of words, -EINVAL for an unclosed quote or a trailing backslash, or
 * -ENOMEM.
 */
int words__split(const char *text, char ***words);

#endif /* TALLY_BASE_WORDS_H */
