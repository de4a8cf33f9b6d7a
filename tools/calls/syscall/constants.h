/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constants in the text of a call: by name, as numbers, or both. The writer of the text puts the number before each
 * name, in control characters, which occur nowhere else in the text (report/escape.h). The last step chooses.
 *
 *   constant__begin(f, CONSTANT_HEX, 3);
 *   fputs("PROT_READ|PROT_WRITE", f);
 *   constant__end(f);
 *
 * A nested constant is a part of the outer one's name.
 */
#ifndef TALLY_SYSCALL_CONSTANTS_H
#define TALLY_SYSCALL_CONSTANTS_H

#include <stdio.h>

#include "base/types.h"

enum constant_base {
	CONSTANT_HEX = 'x',
	CONSTANT_OCTAL = 'o',
	CONSTANT_DECIMAL = 'd',         /* an int */
	CONSTANT_UNSIGNED = 'u',
};

enum constant_style {
	CONSTANTS_BY_NAME,              /* PROT_READ */
	CONSTANTS_RAW,                  /* 0x1 */
	CONSTANTS_WITH_BOTH,            /* 0x1 (PROT_READ), with the name as a C comment */
};

void constant__begin(FILE *f, enum constant_base base, u64 value);
void constant__end(FILE *f);

/*
 * Returns the text in this style, either in place or newly allocated. Without memory, frees the text and returns NULL.
 */
char *constants__choose(char *text, enum constant_style style);

#endif /* TALLY_SYSCALL_CONSTANTS_H */
