/* SPDX-License-Identifier: BSD-2-Clause */
/* A command line in one text, as a shell would split it into words, but with nothing expanded. */
#ifndef TALLY_BASE_WORDS_H
#define TALLY_BASE_WORDS_H

#include "base/types.h"

/*
 * Splits at blanks. 'single' and "double" quotes keep blanks; a backslash keeps the character behind it,
 * except between single quotes. *words ends in NULL and is one piece of memory, for free(). Returns
 * how many there are, -EINVAL for a quote that is not closed or a backslash at the end, or -ENOMEM.
 */
int words__split(const char *text, char ***words);

#endif /* TALLY_BASE_WORDS_H */
