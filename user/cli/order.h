/* SPDX-License-Identifier: BSD-2-Clause */
/* --sort of tables: by one of their columns, the largest first, or by key. */
#ifndef TALLY_CLI_ORDER_H
#define TALLY_CLI_ORDER_H

#include <argp.h>
#include <stddef.h>

/*
 * Sets *order to the column that arg names, or NULL for "key": report__sort_rows() takes it.
 * Returns 0, or EINVAL after saying which columns there are.
 */
error_t order__parse(const char **order, const char *const *column, size_t n, const char *arg);

#endif /* TALLY_CLI_ORDER_H */
