/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of Go functions (types/go_functions.h) of a file, with the address that its places are relative to. */
#ifndef TALLY_TYPES_GO_FILE_H
#define TALLY_TYPES_GO_FILE_H

#include "types/go_functions.h"
#include "types/elf_file.h"

/* Returns 0; -ENOENT: there is no table; -EBADMSG: it is damaged, or where the functions are is not known. The file
 * must outlive *t. */
int go_table__of_file(struct go_table *t, const struct elf_file *f);

#endif /* TALLY_TYPES_GO_FILE_H */
