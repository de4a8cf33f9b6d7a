/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbolic names of numbers in a tracepoint's output: the tables of __print_symbolic() and
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
	char *field;            /* the field that it describes */
	bool is_flags;          /* values are bits that can be combined */
	struct field_symbol *symbol;
	size_t n;
};

struct symbol_tables {
	struct field_symbols *table;    /* one per field and kind */
	size_t n;
};

/*
 * Parses the tables of a print fmt; pure. Unusable parts are skipped: a table whose number is not the value of one
 * field, and names whose values only the compiler knew. Returns 0 or -ENOMEM.
 */
int symbol_tables__parse(struct symbol_tables *out, const char *print);
void symbol_tables__free(struct symbol_tables *t);

#endif /* TALLY_TYPES_SYMBOLS_H */
