/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names that a tracepoint's own output has for numbers: the tables of __print_symbolic() and
 * __print_flags() in the print fmt line of its format file.
 */
#ifndef TALLY_TYPES_SYMBOLS_H
#define TALLY_TYPES_SYMBOLS_H

#include "base/types.h"

struct field_symbol {
	char *name;
	u64 value;
};

struct field_symbols {
	char *field;            /* the table is about this one */
	bool is_flags;          /* values are bits that may be set together */
	struct field_symbol *symbol;
	size_t n;
};

struct symbol_tables {
	struct field_symbols *table;    /* one for each field and kind */
	size_t n;
};

/*
 * Reads the tables of a print fmt; pure. What cannot be made use of is left out: a table whose
 * numbers are not those of one field, a value with names that only the compiler knew. Returns 0 or
 * -ENOMEM.
 */
int symbol_tables__parse(struct symbol_tables *out, const char *print);
void symbol_tables__free(struct symbol_tables *t);

#endif /* TALLY_TYPES_SYMBOLS_H */
