// SPDX-License-Identifier: BSD-2-Clause
#include "cli/order.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/diag.h"

#define ROWS_FOR_PEOPLE 20

error_t order__parse(const char **order, const char *const *column, size_t n, const char *arg)
{
	char all[256] = "";
	size_t i, at = 0;

	*order = NULL;
	if (!strcmp(arg, "key"))
		return 0;
	for (i = 0; i < n; i++) {
		if (!strcmp(arg, column[i])) {
			*order = column[i];
			return 0;
		}
		if (at < sizeof(all))
			at += snprintf(all + at, sizeof(all) - at, "%s, ", column[i]);
	}
	diag_error("--sort: no column '%s'; there are %skey", arg, all);
	return EINVAL;
}

void order__complete_key(struct completion *c)
{
	completion__add(c, "key", "");
}

size_t table_rows(const struct cli *cli)
{
	return cli->top ?: cli->format == FORMAT_TEXT && !cli->live ? ROWS_FOR_PEOPLE : 0;
}
