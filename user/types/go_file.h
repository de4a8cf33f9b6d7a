/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of Go functions (types/go_functions.h) in a file, with the base address of its entries. */
#ifndef TALLY_TYPES_GO_FILE_H
#define TALLY_TYPES_GO_FILE_H

#include "types/go_functions.h"
#include "types/elf_file.h"

/*
 * Returns 0; -ENOENT: the file has no table; -EBADMSG: the table is damaged, or its base address is unknown. The file
 * must outlive *t.
 */
int go_table__of_file(struct go_table *t, const struct elf_file *f);

#endif /* TALLY_TYPES_GO_FILE_H */
