/* SPDX-License-Identifier: BSD-2-Clause */
/* --sort of tables: by a column, largest first, or by key. */
#ifndef TALLY_CLI_ORDER_H
#define TALLY_CLI_ORDER_H

#include <argp.h>
#include <stddef.h>

#include "cli/complete.h"
#include "cli/options.h"

/*
 * Sets *order, for report__sort_rows(), to the column that arg names, or to NULL for "key". Returns
 * 0, or EINVAL after reporting which columns there are.
 */
error_t order__parse(const char **order, const char *const *column, size_t n, const char *arg);

/* Declares the values of --sort (OPTION_VALUES): the columns, and "key". */
#define ORDER_VALUES(table, sort_key, columns)                                                                         \
	OPTION_VALUES(order, .options = table, .key = sort_key, .word = columns, .n = ARRAY_SIZE(columns),             \
		      .add = order__complete_key)
void order__complete_key(struct completion *c);

/*
 * Rows to show; 0: all. --top if given, else 20 for text output, whose first rows are the largest;
 * machine formats and --live, which sorts by itself, get every row.
 */
size_t table_rows(const struct cli *cli);

#endif /* TALLY_CLI_ORDER_H */
