/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the kernel's variables by address. The kernel lists them with CONFIG_KALLSYMS_ALL, to users who may see
 * addresses.
 */
#ifndef TALLY_SYM_KERNEL_VARIABLES_H
#define TALLY_SYM_KERNEL_VARIABLES_H

#include "base/types.h"
#include "sym/kallsyms.h"

/* Space for a symbol and an offset. */
#define KERNEL_VARIABLE_SPACE 600

/* Initialise to all zeros: the variables are read when first needed. */
struct kernel_variables {
	struct kernel_symbols symbols;
	bool are_read;
};

/* Returns all variables. Empty if the kernel hides them. */
const struct symbol_table *kernel_variables__table(struct kernel_variables *v);

/*
 * Names the variable that contains the address: "init_mm+0x78". Returns false if there is none, or the kernel hides
 * its variables.
 */
bool kernel_variables__name(struct kernel_variables *v, u64 address, char text[KERNEL_VARIABLE_SPACE]);
void kernel_variables__free(struct kernel_variables *v);

#endif /* TALLY_SYM_KERNEL_VARIABLES_H */
