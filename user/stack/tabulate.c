// SPDX-License-Identifier: BSD-2-Clause
/* Stacks as a table: how much of everything each key, module or function has. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/wide.h"
#include "report/tree.h"
#include "stack/stacks.h"

/* A row in the making. */
struct leaf {
	u32 key;
	const char *dso, *sym;  /* NULL: not known, or not asked for */
	const char *file;       /* likewise */
	u32 line;
	u64 value;
};

static const char *dso_of(const struct report_frame *f)
{
	return f->module ?: f->kind == FRAME_NOTE ? f->name : "[unknown]";
}

static bool same_leaf(const void *array, u32 index, const void *key)
{
	const struct leaf *a = &((const struct leaf *)array)[index], *b = key;

	return a->key == b->key && !strcmp(a->dso ?: "", b->dso ?: "") &&
	       !strcmp(a->sym ?: "", b->sym ?: "") && !a->sym == !b->sym &&
	       !strcmp(a->file ?: "", b->file ?: "") && a->line == b->line;
}

static struct leaf leaf_of(const struct report_stacks *s, const struct report_stack *stack,
			   u32 leaf)
{
	struct leaf l = { .key = stack->key };
	const struct report_frame *f;

	if (!stack->nframes)
		return l;
	f = &s->frame[stack->frame[stack->nframes - 1]];
	if (leaf & LEAF_DSO)
		l.dso = dso_of(f);
	if (leaf & LEAF_SYM)
		l.sym = f->name ?: "[no symbol]";
	if (leaf & LEAF_LINE) {
		l.file = report_frame__file(f);
		l.line = f->line;
	}
	return l;
}

static int copy_key(struct report_row *row, const struct report_row *key)
{
	struct field f;
	size_t i;
	int err = 0;

	for (i = 0; i < key->ncells && !err; i++) {
		f = key->cell[i];
		if (f.text) {
			f.text = strdup(f.text);
			if (!f.text)
				return -ENOMEM;
		}
		err = report_row__add_field(row, &f);
		if (err)
			free(f.text);
	}
	return err;
}

/* "main.c:12" */
static int add_line(struct report_row *row, const struct leaf *l)
{
	char *text = NULL;
	int err;

	if (l->file && asprintf(&text, l->line ? "%s:%u" : "%s", l->file, l->line) < 0)
		return -ENOMEM;
	err = report_row__add_text(row, "line", text);
	free(text);
	return err;
}

/* The column of values. */
static const char *value_name(const struct report *r)
{
	return r->unit == UNIT_NS ? "time" : r->stacks->unit;
}

static int add_row(struct report *r, const struct leaf *l, u32 leaf)
{
	struct field samples = {
		.name = value_name(r), .number = l->value,
		.kind = r->unit == UNIT_NS ? FIELD_TIME : FIELD_NUMBER, .adds_up = true,
	};
	struct field percent = {
		.name = "percent", .kind = FIELD_REAL, .decimals = 1,
		.real = 100.0 * l->value / r->stacks->total,
	};
	struct report_row row = {};
	int err = report_row__add_field(&row, &percent);

	if (!err)
		err = report_row__add_field(&row, &samples);
	if (!err)
		err = copy_key(&row, &r->stacks->key[l->key]);
	if (!err && leaf & LEAF_DSO)
		err = report_row__add_text(&row, "dso", l->dso);
	if (!err && leaf & LEAF_SYM)
		err = report_row__add_text(&row, "sym", l->sym);
	if (!err && leaf & LEAF_LINE)
		err = add_line(&row, l);
	if (err) {
		report_row__free(&row);
		return err;
	}
	return report__add_row(r, &row);
}

int stacks__tabulate(struct report *r, u32 leaf, size_t top)
{
	const char *value = value_name(r);
	const struct report_stacks *s = r->stacks;
	struct leaf *list = calloc(s->n ?: 1, sizeof(*list)), l;
	struct table by_leaf = {};
	size_t n = 0, i;
	s64 known;
	u64 hash;
	int err = list ? 0 : -ENOMEM;

	for (i = 0; i < s->n && !err; i++) {
		l = leaf_of(s, &s->stack[i], leaf);
		hash = table_hash(l.key, l.dso ?: "", strlen(l.dso ?: ""));
		hash = table_hash(hash, l.sym ?: "", strlen(l.sym ?: ""));
		hash = table_hash(hash, &l.line, sizeof(l.line));
		known = table__find(&by_leaf, hash, same_leaf, list, &l);
		if (known < 0) {
			err = table__add(&by_leaf, hash, n);
			known = n++;
			list[known] = l;
		}
		add_saturating(&list[known].value, s->stack[i].value);
	}
	for (i = 0; i < n && !err; i++)
		err = add_row(r, &list[i], leaf);
	free(list);
	table__free(&by_leaf);
	report_stacks__free(r->stacks);
	r->stacks = NULL;
	r->table = true;
	if (!err)
		report__sort_rows(r, value, r->nrows ? r->row[0].ncells : 0, top);
	return err;
}
