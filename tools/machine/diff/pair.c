// SPDX-License-Identifier: BSD-2-Clause
#include "machine/diff/pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool same_field(const struct field *a, const struct field *b)
{
	if (strcmp(a->name, b->name))
		return false;
	if (a->role == ROLE_LABEL && b->role == ROLE_LABEL)
		return true;
	if (a->text || b->text)
		return a->text && b->text && !strcmp(a->text, b->text);
	return a->kind == b->kind && a->number == b->number && a->real == b->real;
}

bool same_key(const struct report_row *a, const struct report_row *b)
{
	size_t i;

	for (i = 0; i < a->ncells && i < b->ncells; i++)
		if (!same_field(&a->cell[i], &b->cell[i]))
			return false;
	return a->ncells == b->ncells;
}

u64 key_hash(const struct report_row *key)
{
	u64 hash = 0;
	size_t i;

	for (i = 0; i < key->ncells; i++) {
		const struct field *f = &key->cell[i];

		hash = table_hash(hash, f->name, strlen(f->name));
		if (f->text && f->role != ROLE_LABEL)
			hash = table_hash(hash, f->text, strlen(f->text));
		else if (!f->text)
			hash = table_hash(hash, &f->number, sizeof(f->number));
	}
	return hash;
}

static bool is_pair_of(const void *array, u32 index, const void *key)
{
	const struct pair *pair = array;

	return same_key(&pair[index].key, key);
}

static bool same_names(const struct report_row *a, const struct report_row *b)
{
	size_t i;

	for (i = 0; i < a->ncells && i < b->ncells; i++)
		if (strcmp(a->cell[i].name, b->cell[i].name))
			return false;
	return a->ncells == b->ncells;
}

struct pair *pairs__find(struct pairs *p, struct report_row *key, int *err)
{
	u64 hash = key_hash(key);
	s64 index = table__find(&p->table, hash, is_pair_of, p->pair, key);

	*err = 0;
	if (index >= 0) {
		report_row__free(key);
		return &p->pair[index];
	}
	if (p->n && !same_names(&p->pair[0].key, key))
		*err = -EINVAL;
	if (*err || ARRAY_ROOM(p->pair, p->n) || table__add(&p->table, hash, p->n)) {
		*err = *err ?: -ENOMEM;
		report_row__free(key);
		return NULL;
	}
	p->pair[p->n] = (struct pair){ .key = *key, .order = p->n };
	return &p->pair[p->n++];
}

struct pair_part *pair__part(struct pair *p, enum side side, size_t interval)
{
	struct pair_part *part;

	if (p->nparts[side] && p->part[side][p->nparts[side] - 1].interval == interval)
		return &p->part[side][p->nparts[side] - 1];
	part = ARRAY_ADD(p->part[side], p->nparts[side]);
	if (part)
		part->interval = interval;
	return part;
}

static int heavier_first(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void pairs__sort(struct pairs *p)
{
	if (p->n)
		qsort(p->pair, p->n, sizeof(*p->pair), heavier_first);
	table__free(&p->table); /* sorting invalidates the table's indexes */
}

static void free_parts(struct pair *p, enum side side)
{
	size_t i;

	for (i = 0; i < p->nparts[side]; i++) {
		histogram__free(&p->part[side][i].hist);
		report_row__free(&p->part[side][i].row);
	}
	free(p->part[side]);
}

void pairs__free(struct pairs *p)
{
	size_t i;
	int side;

	for (i = 0; i < p->n; i++) {
		report_row__free(&p->pair[i].key);
		for (side = 0; side < SIDES; side++) {
			histogram__free(&p->pair[i].hist[side]);
			report_row__free(&p->pair[i].row[side]);
			free_parts(&p->pair[i], side);
		}
	}
	free(p->pair);
	table__free(&p->table);
	*p = (struct pairs){};
}

int diff_row__begin(struct report_row *row, const struct report_row *key)
{
	size_t i;
	int err = 0;

	*row = (struct report_row){};
	for (i = 0; i < key->ncells && !err; i++) {
		struct field f = key->cell[i];

		f.text = f.text ? strdup(f.text) : NULL;
		err = key->cell[i].text && !f.text ? -ENOMEM : report_row__add_field(row, &f);
	}
	return err;
}

static double as_double(const struct field *f)
{
	if (f->kind == FIELD_REAL)
		return f->real;
	return field_is_signed(f->kind) ? (double)(s64)f->number : (double)f->number;
}

int diff_row__add(struct report_row *row, const struct field *before, const struct field *after)
{
	struct field cell[] = {
		{ .name = "before", .kind = FIELD_NONE },
		{ .name = "after", .kind = FIELD_NONE },
		{ .name = "change_percent", .kind = FIELD_NONE },
	};
	double old = before ? as_double(before) : 0;
	size_t i;
	int err = 0;

	if (before)
		cell[0] = *before;
	if (after)
		cell[1] = *after;
	cell[0].name = "before";
	cell[1].name = "after";
	if (before && after && old > 0) {
		cell[2].kind = FIELD_REAL;
		cell[2].decimals = 1;
		cell[2].real = 100 * (as_double(after) - old) / old;
	}
	for (i = 0; i < ARRAY_SIZE(cell) && !err; i++)
		err = report_row__add_field(row, &cell[i]);
	return err;
}

int diff_row__columns(struct report *r, const struct pairs *p, bool has_unit)
{
	const struct report_row none = {};
	struct report_row row;
	int err;

	if (r->nrows)
		return 0;
	err = diff_row__begin(&row, p->n ? &p->pair[0].key : &none);
	if (!err)
		err = report_row__add_text(&row, "figure", "");
	if (!err)
		err = diff_row__add(&row, NULL, NULL);
	if (!err && has_unit)
		err = report_row__add_text(&row, "unit", "");
	if (!err)
		err = report_row__add_text(&row, "verdict", "");
	return report__end_columns(r, &row, err);
}
