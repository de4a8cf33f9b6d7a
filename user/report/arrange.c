// SPDX-License-Identifier: BSD-2-Clause
#include "report/arrange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/role.h"

/* Rows before the first total. */
static size_t plain_rows(const struct report *r)
{
	size_t n = 0;

	while (n < r->nrows && !r->row[n].is_total)
		n++;
	return n;
}

/* True if the column is a figure with a known value in some row. */
static bool is_figure(const struct report *r, size_t column)
{
	bool any = false;
	size_t i;

	for (i = 0; i < plain_rows(r); i++) {
		const struct field *f = column < r->row[i].ncells ? &r->row[i].cell[column] : NULL;

		if (f && (!field_is_figure(f) || f->machine))
			return false;
		any |= f && f->kind != FIELD_NONE;
	}
	return any;
}

/* True for a tree: its rows have a fixed order, in which each follows its parent. */
static bool is_tree(const struct report *r)
{
	size_t i, k;

	for (i = 0; i < r->nrows; i++)
		for (k = 0; k < r->row[i].ncells; k++)
			if (r->row[i].cell[k].indent)
				return true;
	return false;
}

static const char *column_of_rows(const struct report *r, size_t i)
{
	size_t k;

	for (k = 0; k < r->row[0].ncells; k++)
		if (is_figure(r, k) && !i--)
			return r->row[0].cell[k].name;
	return NULL;
}

const char *arrange__column(const struct report *r, size_t i)
{
	if (r->table && plain_rows(r) > 1)
		return is_tree(r) ? NULL : column_of_rows(r, i);
	return r->ngroups > 1 ? report_sort_column_name(i) : NULL;
}

static const struct field *cell_named(const struct report_row *row, const char *name)
{
	size_t i;

	for (i = 0; name && i < row->ncells; i++)
		if (!strcmp(row->cell[i].name, name))
			return &row->cell[i];
	return NULL;
}

static void turn_rows_over(struct report *r, const char *column)
{
	size_t n = plain_rows(r), i;

	while (column && n && cell_named(&r->row[n - 1], column) &&
	       cell_named(&r->row[n - 1], column)->kind == FIELD_NONE)
		n--;
	for (i = 0; i < n / 2; i++) {
		struct report_row row = r->row[i];

		r->row[i] = r->row[n - 1 - i];
		r->row[n - 1 - i] = row;
	}
}

static void turn_groups_over(struct report *r)
{
	size_t n = r->ngroups, i;

	for (i = 0; i < n / 2; i++) {
		struct report_group group = r->group[i];

		r->group[i] = r->group[n - 1 - i];
		r->group[n - 1 - i] = group;
	}
}

void arrange__sort(struct report *r, const char *column, bool reversed)
{
	struct report rows = *r;

	if (is_tree(r))
		return;
	rows.nrows = plain_rows(r);
	if (column && rows.nrows && cell_named(&r->row[0], column))
		report__sort_rows(&rows, column, r->row[0].ncells, 0);
	if (column && r->ngroups && report_sort_column(column) >= 0)
		report__sort_groups(r, report_sort_column(column), 0);
	if (!reversed)
		return;
	turn_rows_over(r, column);
	turn_groups_over(r);
}

size_t arrange__rows(const struct report *r, size_t top)
{
	size_t plain = plain_rows(r);

	return top && plain > top ? top : plain;
}

int arrange__view(struct report *view, const struct report *r, size_t top)
{
	size_t plain = plain_rows(r), kept = top && plain > top ? top : plain, totals = r->nrows - plain;
	struct report_row *row = calloc(r->nrows ?: 1, sizeof(*row));

	if (!row)
		return -ENOMEM;
	if (r->nrows) {
		memcpy(row, r->row, kept * sizeof(*row));
		memcpy(row + kept, r->row + plain, totals * sizeof(*row));
	}
	*view = *r;
	view->row = row;
	view->nrows = kept + totals;
	view->hidden += plain - kept;
	if (top && view->ngroups > top) {
		view->hidden += view->ngroups - top;
		view->ngroups = top;
	}
	return 0;
}
