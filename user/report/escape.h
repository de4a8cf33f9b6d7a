/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one escaping function. Everything that comes from a traced process, a file name, a cgroup or
 * the kernel passes through here before it is written, in every format.
 *
 * The result is valid UTF-8 that cannot steer a terminal or reorder its line. Each byte of the
 * following becomes \xNN (lower-case hex): C0 controls, DEL, C1 controls, ill-formed UTF-8 (Unicode
 * 15, table 3-7), bidirectional controls, zero width and other invisible format characters, line
 * and paragraph separators, and the backslash itself, so that no two inputs give the same output.
 */
#ifndef TALLY_OUT_ESCAPE_H
#define TALLY_OUT_ESCAPE_H

#include "base/types.h"

/* Most output bytes for n input bytes, including the final NUL. */
#define ESCAPE_SPACE(n) (4 * (n) + 1)

/*
 * Escapes n bytes of src into dst, which has room for ESCAPE_SPACE(n). Returns the length without
 * the NUL.
 */
size_t escape(char *dst, const char *src, size_t n);

/* The same for a C string, into new memory that the caller frees. NULL: no memory. */
char *escape_string(const char *src);

/* Whether escape() would change nothing but backslashes. */
bool escape_is_idle(const char *text);

/* Reverses escape(), in place. A \x00 stays as it is. */
void escape_undo(char *text);

#endif /* TALLY_OUT_ESCAPE_H */
