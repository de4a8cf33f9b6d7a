// SPDX-License-Identifier: BSD-2-Clause
/* Stacks as a table: totals by key, module or function. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/wide.h"
#include "report/tree.h"
#include "stack/stacks.h"

/* A row under construction. */
struct leaf {
	u32 key;
	const char *dso, *sym;  /* NULL if unknown or not requested */
	const char *file;       /* NULL if unknown or not requested */
	u32 line;
	u32 event;              /* with several events, if each has its own rows */
	u64 value[REPORT_MOST_EVENTS];  /* one value, or one per event if events are side by side */
	double share;           /* the largest one, if events are side by side */
};

/* A table under construction. */
struct tabulation {
	struct report *r;
	u32 leaf;               /* enum leaf_part */
	bool side_by_side;
	/*
	 * per key: the key that represents it, after the entries of all frames (report/tree.h); NULL if each
	 * represents itself
	 */
	const u32 *same;
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

static struct leaf leaf_of(const struct tabulation *t, const struct report_stack *stack)
{
	const struct report_stacks *s = t->r->stacks;
	struct leaf l = { .key = t->same ? t->same[stack->key] - s->nframes : stack->key };
	u32 leaf = t->leaf;
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

/* first: index of the first field to copy */
static int copy_key(struct report_row *row, const struct report_row *key, size_t first)
{
	struct field f;
	size_t i;
	int err = 0;

	for (i = first; i < key->ncells && !err; i++) {
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

/* Adds a field like "main.c:12". */
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

/* Returns the name of the value column. */
static const char *value_name(const struct report *r)
{
	return r->unit == UNIT_NS ? "time" : r->stacks->unit;
}

/* With several events, percentages are of the row's event. */
static int add_figures(const struct report *r, const struct leaf *l, struct report_row *row)
{
	const struct report_stack like = { .event = r->stacks->nevents ? l->event : 0 };
	struct field samples = {
		.name = value_name(r), .number = l->value[0],
		.kind = r->unit == UNIT_NS ? FIELD_TIME : FIELD_NUMBER, .role = ROLE_COUNTER,
	};
	struct field percent = {
		.name = "percent", .kind = FIELD_REAL, .decimals = 1,
		.real = 100.0 * l->value[0] / report_stacks__total(r->stacks, &like),
	};

	return report_row__add_field(row, &percent) ?: report_row__add_field(row, &samples);
}

static double share_of(const struct report_event *e, u64 value)
{
	return e->total ? 100.0 * value / e->total : 0;
}

static int add_shares(const struct report *r, const struct leaf *l, struct report_row *row)
{
	size_t i;
	int err = 0;

	for (i = 0; i < r->stacks->nevents && !err; i++) {
		const struct report_event *e = &r->stacks->event[i];
		struct field share = {
			.name = e->share_name, .kind = FIELD_REAL, .decimals = 1, .real = share_of(e, l->value[i]),
		};

		err = report_row__add_field(row, &share);
	}
	return err;
}

/* key is a row of keys. With several events, its first field is the event. */
static int add_row(const struct tabulation *t, const struct leaf *l, const struct report_row *key)
{
	struct report *r = t->r;
	struct report_row row = {};
	int err = t->side_by_side ? add_shares(r, l, &row) : add_figures(r, l, &row);

	if (!err)
		err = copy_key(&row, key, t->side_by_side);
	if (!err && t->leaf & LEAF_DSO)
		err = report_row__add_text(&row, "dso", l->dso);
	if (!err && t->leaf & LEAF_SYM)
		err = report_row__add_text(&row, "sym", l->sym);
	if (!err && t->leaf & LEAF_LINE)
		err = add_line(&row, l);
	if (err) {
		report_row__free(&row);
		return err;
	}
	return report__add_row(r, &row);
}

static u64 hash_leaf(const struct leaf *l)
{
	u64 hash = table_hash(l->key, l->dso ?: "", strlen(l->dso ?: ""));

	hash = table_hash(hash, l->sym ?: "", strlen(l->sym ?: ""));
	return table_hash(hash, &l->line, sizeof(l->line));
}

static int add_leaf(const struct tabulation *t, struct table *by_leaf, struct leaf *list, size_t *n,
		    const struct report_stack *stack)
{
	struct leaf l = leaf_of(t, stack);
	u64 hash = hash_leaf(&l);
	s64 known = table__find(by_leaf, hash, same_leaf, list, &l);
	int err = 0;

	if (known < 0) {
		l.event = stack->event;
		err = table__add(by_leaf, hash, *n);
		known = (*n)++;
		list[known] = l;
	}
	add_saturating(&list[known].value[t->side_by_side ? stack->event : 0], stack->value);
	return err;
}

/* Sorts rows of shares here, since no column gives their order. */
static int by_share(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;
	int d;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	d = strcmp(x->sym ?: "", y->sym ?: "");
	if (!d)
		d = strcmp(x->dso ?: "", y->dso ?: "");
	return d ?: (int)(x->key > y->key) - (int)(x->key < y->key);
}

static size_t rank(const struct report *r, struct leaf *list, size_t n, size_t top)
{
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < r->stacks->nevents; k++)
			if (share_of(&r->stacks->event[k], list[i].value[k]) > list[i].share)
				list[i].share = share_of(&r->stacks->event[k], list[i].value[k]);
	qsort(list, n, sizeof(*list), by_share);
	return top && top < n ? top : n;
}

static int tabulate(const struct tabulation *t, size_t top)
{
	const struct report_stacks *s = t->r->stacks;
	const struct leaf none = {};
	struct leaf *list = calloc(s->n ?: 1, sizeof(*list));
	struct table by_leaf = {};
	size_t n = 0, shown, i;
	int err = list ? 0 : -ENOMEM;

	for (i = 0; i < s->n && !err; i++)
		err = add_leaf(t, &by_leaf, list, &n, &s->stack[i]);
	shown = !err && t->side_by_side ? rank(t->r, list, n, top) : n;
	for (i = 0; i < shown && !err; i++)
		err = add_row(t, &list[i], &s->key[list[i].key]);
	if (!err && !n)
		err = report__keep_columns(t->r, add_row(t, &none, &t->r->columns));
	t->r->hidden += n - shown;
	free(list);
	table__free(&by_leaf);
	return err;
}

int stacks__tabulate(struct report *r, u32 leaf, size_t top, bool side_by_side)
{
	struct tabulation t = { r, leaf, side_by_side && r->stacks->nevents, NULL };
	const char *value = r->stacks->nevents ? "percent" : value_name(r);
	struct stack_labels labels = {};
	int err = t.side_by_side ? stack_labels__make(&labels, r->stacks, LABELS_DRAWN) : 0;

	if (t.side_by_side && !err)
		t.same = labels.same + labels.nframes;
	if (!err)
		err = tabulate(&t, top);
	stack_labels__free(&labels);
	report_stacks__free(r->stacks);
	r->stacks = NULL;
	r->table = true;
	if (!err && !t.side_by_side)
		report__sort_rows(r, value, r->nrows ? r->row[0].ncells : 0, top);
	return err;
}
