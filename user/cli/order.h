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
 * 0, or EINVAL after reporting the valid columns.
 */
error_t order__parse(const char **order, const char *const *column, size_t n, const char *arg);

/* The option of CLI_ORDER, for tools that declare their columns (cli_spec.columns). Sets cli->order. */
extern const struct option_row order_rows[];

/*
 * Returns the number of rows to show; 0: all. This is --top if given, otherwise 20 for text, whose
 * first rows are the largest. Machine formats and --live, which sorts by itself, get every row.
 */
size_t table_rows(const struct cli *cli);

#endif /* TALLY_CLI_ORDER_H */
