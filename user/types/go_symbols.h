/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of a Go program without a symbol table, as symbols, from the table of its runtime (types/go_file.h). */
#ifndef TALLY_TYPES_GO_SYMBOLS_H
#define TALLY_TYPES_GO_SYMBOLS_H

#include "types/elf_file.h"

/*
 * Calls visit as elf_file__symbols() does, with names as the linker of Go writes them in a symbol table. Names lack the
 * types that a generic function is compiled for ("main.Map[...]"). Returns what visit() did, 0 or -ENOMEM.
 */
int go_symbols__each(const struct elf_file *f, symbol_visit visit, void *arg);

#endif /* TALLY_TYPES_GO_SYMBOLS_H */
