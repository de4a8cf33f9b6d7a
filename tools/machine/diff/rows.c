// SPDX-License-Identifier: BSD-2-Clause
/* Compares the tables of two runs. The runs state the roles of their columns ("columns" in docs/json.md). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/diff/pair.h"
#include "report/role.h"

/*
 * --- runs of earlier versions ------------------------------------------------------------------
 *
 * They do not state the roles of columns. Texts and ids are treated as keys, and other numbers as
 * figures.
 */

static bool is_one_of(const char *name, const char *const names[], size_t n)
{
	while (n--)
		if (!strcmp(name, names[n]))
			return true;
	return false;
}

static bool is_key(const struct field *f, bool before_count)
{
	static const char *const identities[] = {
		"pid", "tid", "cpu", "uid", "pidns", "from", "to", "id", "fd", "port", "lport",
		"rport", "dport", "code", "dev", "inode", "generation", "owner",
	};

	return before_count || f->text || is_one_of(f->name, identities, ARRAY_SIZE(identities));
}

/* Neither a key nor a figure: times of day, and remarks on other cells. */
static bool is_remark(const struct field *f)
{
	static const char *const names[] = {
		"max_at", "max_at_ns", "of", "why", "running_percent", "stderr_percent",
	};

	return is_one_of(f->name, names, ARRAY_SIZE(names)) || (f->text && !strcmp(f->name, "time"));
}

static enum field_role role_of_figure(const char *name)
{
	size_t n = strlen(name);

	if (!strncmp(name, "max", 3))
		return ROLE_MAXIMUM;
	if (!strncmp(name, "min", 3))
		return ROLE_MINIMUM;
	if (!strcmp(name, "avg") || !strcmp(name, "ratio") || !strcmp(name, "per_second") ||
	    (n > 8 && !strcmp(name + n - 8, "_percent")) ||
	    (name[0] == 'p' && name[1] >= '0' && name[1] <= '9'))
		return ROLE_GAUGE;
	return ROLE_COUNTER;
}

static enum field_role older_role(const struct field *f, bool before_count)
{
	if (is_remark(f))
		return ROLE_REMARK;
	return is_key(f, before_count) ? ROLE_KEY : role_of_figure(f->name);
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

/* Moves the cells of a row to its key and its figures. The row is empty afterwards. */
static int split(struct report_row *row, bool leading_keys, struct report_row *key,
		 struct report_row *figures)
{
	bool before_count = leading_keys;
	size_t i;
	int err = 0;

	for (i = 0; i < row->ncells && !err; i++) {
		struct field *f = &row->cell[i];
		bool is_null = !f->text && f->kind == FIELD_NONE;

		before_count &= strcmp(f->name, "count") != 0;
		f->role = f->role ?: older_role(f, before_count);
		if (f->role == ROLE_REMARK || f->role == ROLE_AT)
			continue;
		if (field_is_key(f))
			err = report_row__add_field(key, f);
		else if (!is_null)
			err = report_row__add_field(figures, f);
		if (!err)
			f->text = NULL;
	}
	report_row__free(row);
	return err;
}

/* Sets the units for text output, as named in the report. */
static void set_units(struct report_row *figures, const json_t *units)
{
	const char *unit;
	size_t i;

	for (i = 0; i < figures->ncells; i++) {
		struct field *f = &figures->cell[i];

		unit = json_string_value(json_object_get(units, f->name)) ?: "";
		if (f->kind == FIELD_ID)
			f->kind = !strcmp(unit, unit_name(UNIT_NS)) ? FIELD_DURATION
				: !strcmp(unit, unit_name(UNIT_BYTES)) ? FIELD_SIZE : FIELD_NUMBER;
		else if (f->kind == FIELD_SIGNED && !strcmp(unit, unit_name(UNIT_BYTES)))
			f->kind = FIELD_SIGNED_SIZE;
	}
}

static int add_part(struct pair *pair, enum side side, size_t interval, const struct report_row *figures)
{
	struct pair_part *part = pair__part(pair, side, interval);

	return part ? report_row__combine(&part->row, figures) : -ENOMEM;
}

static int add_row(struct pairs *pairs, enum side side, const struct saved *run, size_t interval, const json_t *o)
{
	const json_t *report = run->report[interval];
	/* In runs without roles, the user's expressions are the keys of probe. */
	bool leading_keys = !strcmp(run->tool, "probe") && json_object_get(o, "count");
	struct report_row row, key = {}, figures = {};
	struct pair *pair;
	int err = saved_fields(&row, o, json_object_get(report, "columns"));

	if (err)
		return err;
	err = split(&row, leading_keys, &key, &figures);
	if (err) {
		report_row__free(&key);
	} else {
		set_units(&figures, json_object_get(report, "units"));
		pair = pairs__find(pairs, &key, &err);
		if (!err)
			err = report_row__combine(&pair->row[side], &figures);
		if (!err && pairs->apart)
			err = add_part(pair, side, interval, &figures);
		if (!err)
			pair->has[side] = true;
	}
	report_row__free(&figures);
	return err;
}

int pairs__add_rows(struct pairs *pairs, enum side side, const struct saved *run)
{
	const json_t *list;
	size_t i, k;
	int err;

	for (i = 0; i < run->n; i++) {
		list = saved__list(run, i);
		for (k = 0; k < json_array_size(list); k++) {
			err = add_row(pairs, side, run, i, json_array_get(list, k));
			if (err == -EINVAL)
				saved__wrong(run, i, "a row is malformed, or has other keys");
			if (err)
				return err;
		}
	}
	for (i = 0; i < pairs->n && run->n > 1; i++)
		report_row__derive(&pairs->pair[i].row[side], run->duration_ns);
	return 0;
}

static int compare_figure(struct report *r, struct pair *p, const struct field *before,
			  const struct field *after)
{
	const char *said = !p->has[BEFORE] ? "new" : !p->has[AFTER] ? "gone" : "";
	struct report_row row;
	int err = diff_row__begin(&row, &p->key);

	if (!err)
		err = report_row__add_text(&row, "figure", (before ?: after)->name);
	if (!err)
		err = diff_row__add(&row, before, after);
	if (!err)
		err = report_row__add_text(&row, "verdict", said);
	return report__end_row(r, &row, err);
}

static const struct field *known(const struct field *f)
{
	return f && f->kind != FIELD_NONE ? f : NULL;
}

static int compare(struct report *r, struct pair *p)
{
	struct report_row *one = &p->row[BEFORE], *other = &p->row[AFTER];
	size_t i;
	int err = 0;

	for (i = 0; i < one->ncells && !err; i++) {
		const struct field *before = known(&one->cell[i]);
		const struct field *after = known(report_row__cell(other, one->cell[i].name));

		if (before || after)
			err = compare_figure(r, p, before, after);
	}
	for (i = 0; i < other->ncells && !err; i++)
		if (!report_row__cell(one, other->cell[i].name) && known(&other->cell[i]))
			err = compare_figure(r, p, NULL, &other->cell[i]);
	return err;
}

/* The weight is the difference of the first figure. */
static u64 weight_of(struct pair *p)
{
	const struct report_row *row = p->row[BEFORE].ncells ? &p->row[BEFORE] : &p->row[AFTER];
	const struct field *a, *b;
	double d;

	if (!row->ncells)
		return 0;
	a = report_row__cell(&p->row[BEFORE], row->cell[0].name);
	b = report_row__cell(&p->row[AFTER], row->cell[0].name);
	d = (a ? field_real(a) : 0) - (b ? field_real(b) : 0);
	d = d < 0 ? -d : d;
	return d < 0x1p63 ? (u64)d : 1ULL << 63;
}

int diff_rows(struct report *r, const struct saved *const run[SIDES], size_t top)
{
	struct pairs pairs = {};
	size_t i;
	int err;

	err = pairs__add_rows(&pairs, BEFORE, run[BEFORE]);
	if (!err)
		err = pairs__add_rows(&pairs, AFTER, run[AFTER]);
	for (i = 0; i < pairs.n; i++)
		pairs.pair[i].weight = weight_of(&pairs.pair[i]);
	if (!err)
		pairs__sort(&pairs);
	for (i = 0; i < pairs.n && !err; i++) {
		if (top && i >= top)
			r->hidden++;
		else
			err = compare(r, &pairs.pair[i]);
	}
	if (!err)
		err = diff_row__columns(r, &pairs, false);
	pairs__free(&pairs);
	return err;
}
