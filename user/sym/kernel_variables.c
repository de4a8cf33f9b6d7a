// SPDX-License-Identifier: BSD-2-Clause
#include "sym/kernel_variables.h"

#include <stdio.h>

const struct symbol_table *kernel_variables__table(struct kernel_variables *v)
{
	if (!v->are_read)
		kernel_symbols__read_variables(&v->symbols);
	v->are_read = true;
	return &v->symbols.table;
}

bool kernel_variables__name(struct kernel_variables *v, u64 address, char text[KERNEL_VARIABLE_SPACE])
{
	const struct symbol_table *t = kernel_variables__table(v);
	u32 i = symbol_table__find(t, address);
	u64 offset;

	if (i == SYMBOL_NONE)
		return false;
	offset = address - t->entry[i].start;
	if (offset)
		snprintf(text, KERNEL_VARIABLE_SPACE, "%s+0x%llx", symbol_table__name(t, i), offset);
	else
		snprintf(text, KERNEL_VARIABLE_SPACE, "%s", symbol_table__name(t, i));
	return true;
}

void kernel_variables__free(struct kernel_variables *v)
{
	kernel_symbols__free(&v->symbols);
}
