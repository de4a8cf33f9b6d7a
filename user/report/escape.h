/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only escaping function. All text from traced processes, file names, cgroups or the kernel is
 * escaped here before it is written, in every format.
 *
 * The result is valid UTF-8 that cannot control a terminal or reorder its line. Each byte of the
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

/* Escapes a C string into new memory, which the caller frees. NULL without memory. */
char *escape_string(const char *src);

/* Whether escape() would change nothing but backslashes. */
bool escape_is_idle(const char *text);

/* Reverses escape(), in place. Leaves \x00 escaped. */
void escape_undo(char *text);

#endif /* TALLY_OUT_ESCAPE_H */
