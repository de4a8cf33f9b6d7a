/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decodes CPython code objects: strings and line tables. The bytes are untrusted. Their size is limited and they have
 * no internal references, so one pass with a bounded cursor reads them.
 */
#ifndef TALLY_RUNTIME_PYTHON_CODE_H
#define TALLY_RUNTIME_PYTHON_CODE_H

#include "base/types.h"

#include "bpf/lib/python.h"

/*
 * Converts a str to UTF-8, allocated. It ends with "..." if only a part was read. Surrogates and NULs become '?'. NULL:
 * no memory, or not a str.
 */
char *python_text(const struct python_text *t, const u8 *bytes, size_t room);

/* Returns the line of an instruction (in units of two bytes), from a table of this kind. 0: none. */
u32 python_line(enum python_lines kind, const u8 *table, size_t size, u32 first_line, u32 instruction);

#endif /* TALLY_RUNTIME_PYTHON_CODE_H */
