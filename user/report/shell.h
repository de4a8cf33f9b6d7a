/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of a shell command, as they are typed. */
#ifndef TALLY_OUT_SHELL_H
#define TALLY_OUT_SHELL_H

#include "base/types.h"

/* At most this many bytes come of n that hold so many words. */
#define SHELL_SPACE(n, words) (6 * (n) + 8 * (words) + 1)

/*
 * n bytes of words, each with a NUL behind it (the last may lack it), as a line for bash: quoted so
 * that what report/escape.h makes of the line, typed, is these words again. dst has room for
 * SHELL_SPACE(n, words). Returns the length without the NUL.
 */
size_t shell_words(char *dst, const char *words, size_t n);

#endif /* TALLY_OUT_SHELL_H */
