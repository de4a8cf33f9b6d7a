/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of a Go program without a symbol table, as symbols, from the runtime's table (types/go_file.h). */
#ifndef TALLY_TYPES_GO_SYMBOLS_H
#define TALLY_TYPES_GO_SYMBOLS_H

#include "types/elf_file.h"

/*
 * Calls visit as elf_file__symbols() does, with names as Go's linker writes them to a symbol table. Names lack the type
 * arguments of generic functions ("main.Map[...]"). Returns 0, the non-zero result of visit(), or -ENOMEM.
 */
int go_symbols__each(const struct elf_file *f, symbol_visit visit, void *arg);

#endif /* TALLY_TYPES_GO_SYMBOLS_H */
