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

/* CLI_ORDER, for tools that declare their columns (cli_spec.columns): sets cli->order. */
extern const struct option_row order_rows[];

/*
 * Rows to show; 0: all. --top if given, else 20 for text output, whose first rows are the largest;
 * machine formats and --live, which sorts by itself, get every row.
 */
size_t table_rows(const struct cli *cli);

#endif /* TALLY_CLI_ORDER_H */
