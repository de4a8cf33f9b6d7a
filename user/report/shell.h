/* SPDX-License-Identifier: BSD-2-Clause */
/* Quoting of shell commands. */
#ifndef TALLY_OUT_SHELL_H
#define TALLY_OUT_SHELL_H

#include "base/types.h"

/* Maximum number of output bytes for n input bytes in this many words. */
#define SHELL_SPACE(n, words) (6 * (n) + 8 * (words) + 1)

/*
 * Formats n bytes of words, each NUL-terminated (the last NUL may be missing), as a bash command
 * line. It is quoted such that bash parses the line, after escaping by report/escape.h, into the
 * same words. dst has room for SHELL_SPACE(n, words). Returns the length without the NUL.
 */
size_t shell_words(char *dst, const char *words, size_t n);

#endif /* TALLY_OUT_SHELL_H */
