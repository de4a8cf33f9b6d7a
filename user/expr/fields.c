// SPDX-License-Identifier: BSD-2-Clause
#include "expr/fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/nearest.h"
#include "types/symbols.h"

const struct tracepoint_field *field__find(const struct tracepoint_format *format, const char *name)
{
	size_t i;

	for (i = 0; i < format->nfields; i++)
		if (!strcmp(format->field[i].name, name))
			return &format->field[i];
	return NULL;
}

bool field_is_text(const struct tracepoint_field *f)
{
	return (f->elements || f->is_dynamic || f->is_relative) && strstr(f->type, "char");
}

bool field_is_pointer(const struct tracepoint_field *f)
{
	return strchr(f->type, '*');
}

int field__complain(const struct tracepoint_format *format, const char *event, const struct expr *e,
		    struct complaint *c)
{
	const char **names = calloc(format->nfields ?: 1, sizeof(*names)), *near;
	char list[400] = "";
	size_t i, n = 0, at = 0;

	complain(c, 0, e->at, e->len, "%s has no field '%s'", event, e->text);
	for (i = 0; names && i < format->nfields; i++) {
		const struct tracepoint_field *f = &format->field[i];

		if (f->is_common)
			continue;
		names[n++] = f->name;
		if (at < sizeof(list))
			at += snprintf(list + at, sizeof(list) - at, "%s%s", at ? ", " : "", f->name);
	}
	near = names ? nearest(e->text, names, n) : NULL;
	if (near)
		complain_hint(c, 0, "did you mean %s? The fields are %s", near, list);
	else
		complain_hint(c, 0, "it has %s", n ? list : "no fields; comm and cpu are available for all events");
	free(names);
	return -EINVAL;
}

bool field__symbol(const struct tracepoint_format *format, const char *field, const char *name, u64 *number)
{
	struct symbol_tables tables;
	bool found = false;
	size_t i, k;

	if (!format->print || symbol_tables__parse(&tables, format->print))
		return false;
	for (i = 0; i < tables.n && !found; i++) {
		const struct field_symbols *t = &tables.table[i];

		for (k = 0; !strcmp(t->field, field) && k < t->n && !found; k++) {
			found = !strcmp(t->symbol[k].name, name);
			*number = t->symbol[k].value;
		}
	}
	symbol_tables__free(&tables);
	return found;
}

/* Encodes the number like MKDEV() of include/linux/kdev_t.h. */
int expr__device(const struct expr *e, u64 *number, struct complaint *c)
{
	struct stat st;

	if (stat(e->text, &st))
		return complain(c, -ENOENT, e->at, e->len, "no device %s: %s", e->text, strerror(errno));
	if (!S_ISBLK(st.st_mode) && !S_ISCHR(st.st_mode))
		return complain(c, -EINVAL, e->at, e->len, "%s is not a device", e->text);
	*number = (u64)major(st.st_rdev) << 20 | minor(st.st_rdev);
	return 0;
}

/* True if the field has a table of this kind. A field may have one of each kind. */
static bool has_table(const struct symbol_tables *tables, const char *field, bool is_flags)
{
	size_t i;

	for (i = 0; i < tables->n; i++)
		if (tables->table[i].is_flags == is_flags && tables->table[i].n &&
		    !strcmp(tables->table[i].field, field))
			return true;
	return false;
}

static enum field_symbol_kind kind_in(const struct symbol_tables *tables, const char *field)
{
	return has_table(tables, field, false) ? FIELD_HAS_SYMBOLS :
	       has_table(tables, field, true) ? FIELD_HAS_FLAGS : FIELD_HAS_NO_SYMBOLS;
}

int field__each_symbol(const struct tracepoint_format *format, const char *field,
		       int (*visit)(void *arg, const char *name, u64 number), void *arg)
{
	struct symbol_tables tables;
	bool is_flags;
	size_t i, k;
	int err = 0;

	if (!format->print || symbol_tables__parse(&tables, format->print))
		return 0;
	is_flags = kind_in(&tables, field) == FIELD_HAS_FLAGS;
	for (i = 0; i < tables.n && !err; i++) {
		const struct field_symbols *t = &tables.table[i];

		for (k = 0; t->is_flags == is_flags && !strcmp(t->field, field) && k < t->n && !err; k++)
			err = visit(arg, t->symbol[k].name, t->symbol[k].value);
	}
	symbol_tables__free(&tables);
	return err;
}

enum field_symbol_kind field__symbol_kind(const struct tracepoint_format *format, const char *field)
{
	enum field_symbol_kind kind;
	struct symbol_tables tables;

	if (!format->print || symbol_tables__parse(&tables, format->print))
		return FIELD_HAS_NO_SYMBOLS;
	kind = kind_in(&tables, field);
	symbol_tables__free(&tables);
	return kind;
}
