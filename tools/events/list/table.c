// SPDX-License-Identifier: BSD-2-Clause
#include "events/list/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void table__text(struct table *t, const char *name, const char *text)
{
	if (!t->err)
		t->err = report_row__add_text(&t->row, name, text);
}

static void add_field(struct table *t, struct field f)
{
	if (!t->err)
		t->err = report_row__add_field(&t->row, &f);
}

void table__number(struct table *t, const char *name, u64 number)
{
	add_field(t, (struct field){ .name = name, .number = number });
}

/* FIELD_NUMBER is unsigned, so negative numbers become reals. */
void table__signed(struct table *t, const char *name, s64 number)
{
	if (number < 0)
		add_field(t, (struct field){ .name = name, .real = number, .kind = FIELD_REAL });
	else
		table__number(t, name, number);
}

void table__none(struct table *t, const char *name)
{
	add_field(t, (struct field){ .name = name, .kind = FIELD_NONE });
}

void table__format(struct table *t, const char *name, const char *fmt, ...)
{
	char *text;
	va_list args;
	int n;

	if (t->err)
		return;
	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0) {
		t->err = -ENOMEM;
		return;
	}
	table__text(t, name, text);
	free(text);
}

void table__address(struct table *t, const char *name, u64 address)
{
	if (address)
		table__format(t, name, "0x%llx", address);
	else
		table__none(t, name);
}

void table__hide(struct table *t)
{
	if (!t->err)
		t->row.cell[t->row.ncells - 1].machine = true;
}

void table__end(struct table *t)
{
	if (t->err)
		report_row__free(&t->row);
	else
		t->err = report__add_row(t->report, &t->row);
}

static bool is_empty(const struct field *f)
{
	return f->text ? !*f->text : f->kind == FIELD_NONE;
}

/* Writers learn from the first row which columns to leave out. */
void table__hide_empty(struct report *r)
{
	size_t i, k;

	for (k = 0; r->nrows && k < r->row[0].ncells; k++) {
		for (i = 0; i < r->nrows && is_empty(&r->row[i].cell[k]);)
			i++;
		r->row[0].cell[k].machine |= i == r->nrows;
	}
}
