// SPDX-License-Identifier: BSD-2-Clause
#include "cli/order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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
	diag_error("--sort: unknown column '%s'; expected one of %skey", arg, all);
	return EINVAL;
}

/*
 * --- columns as data ---------------------------------------------------------------------------
 */

#define MOST_COLUMNS 64

/* True if rows can be sorted by the column. The time of a maximum belongs to the maximum. */
static bool sorts(const struct column *c)
{
	return c->role != ROLE_AT;
}

static int parse_order(void *own, char *text)
{
	const char *names[MOST_COLUMNS];
	const struct column *c;
	struct cli *cli = own;
	size_t n = 0;

	for (c = cli->columns; c->name && n < MOST_COLUMNS; c++)
		if (sorts(c))
			names[n++] = c->name;
	return order__parse(&cli->order, names, n, text);
}

/* Writes "Order by bytes (default), reads, writes or key". */
static void put_columns(FILE *f, const struct cli *cli)
{
	const struct column *c;

	for (c = cli->columns; c->name; c++)
		if (!strcmp(c->name, cli->order))
			fprintf(f, "Order by %s (default%s%s)", c->name, c->help ? ": " : "", c->help ?: "");
	for (c = cli->columns; c->name; c++)
		if (sorts(c) && strcmp(c->name, cli->order))
			fprintf(f, c->help ? ", %s (%s)" : ", %s", c->name, c->help);
	fputs(" or key", f);
}

static char *describe_columns(const void *own)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	put_columns(f, own);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static void complete_columns(struct completion *c)
{
	const struct column *column;

	for (column = c->spec->columns; column->name; column++)
		if (sorts(column))
			completion__add(c, column->name, "");
	complete_key(c);
}

const struct option_row order_rows[] = {
	{ "sort", 0, "COL", ROW_OWN, "Order by a column, or key", HELP_GROUPING, .parse = parse_order,
	  .describe = describe_columns, .complete = complete_columns },
	{},
};

size_t table_rows(const struct cli *cli)
{
	return cli->top ?: cli->format == FORMAT_TEXT && !cli->live ? ROWS_FOR_PEOPLE : 0;
}
