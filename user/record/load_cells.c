// SPDX-License-Identifier: BSD-2-Clause
/* Cells of rows and fields of single events, from the columns of the file. */
#include "record/load.h"

#include <errno.h>
#include <stdlib.h>

#ifdef HAVE_SQLITE

int load__field(struct store *s, sqlite3_stmt *row, int index, const struct shape_column *c, struct field *f)
{
	*f = (struct field){
		.name = c->name, .kind = c->kind == FIELD_NONE ? FIELD_NUMBER : c->kind, .decimals = c->decimals,
		.machine = c->machine, .word = c->word, .role = c->role, .of = c->of, .per = c->per,
	};
	switch (s->sql->column_type(row, index)) {
	case SQLITE_TEXT:
		f->text = store__column_text(s, row, index);
		f->kind = FIELD_NUMBER;
		f->decimals = 0;
		return f->text ? 0 : -ENOMEM;
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		if (f->kind == FIELD_REAL)
			f->real = s->sql->column_double(row, index);
		else
			f->number = s->sql->column_int64(row, index);
		return 0;
	default:
		f->kind = FIELD_NONE;
		return 0;
	}
}

int load__cells(struct store *s, const struct shape *shape, sqlite3_stmt *row, int first, struct report_row *out)
{
	struct field f;
	size_t i;
	int err = 0;

	for (i = 0; i < shape->n && !err; i++) {
		err = load__field(s, row, first + i, &shape->column[i], &f);
		if (!err)
			err = report_row__add_field(out, &f);
		if (err)
			free(f.text);
	}
	return err;
}

#endif /* HAVE_SQLITE */
