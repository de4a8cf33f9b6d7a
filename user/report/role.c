// SPDX-License-Identifier: BSD-2-Clause
#include "report/role.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg/wide.h"

static const char *const names[FIELD_ROLES] = {
	[ROLE_KEY] = "key",	    [ROLE_LABEL] = "label",	[ROLE_COUNTER] = "counter",
	[ROLE_GAUGE] = "gauge",	    [ROLE_MINIMUM] = "minimum", [ROLE_MAXIMUM] = "maximum",
	[ROLE_MEAN] = "mean",	    [ROLE_PERCENT] = "percent", [ROLE_AT] = "at",
	[ROLE_REMARK] = "remark",
};

const char *field_role_name(enum field_role role)
{
	return names[role];
}

enum field_role field_role_named(const char *name)
{
	enum field_role role = FIELD_ROLES - 1;

	while (role && (!name || strcmp(name, names[role])))
		role--;
	return role;
}

struct field *report_row__cell(const struct report_row *row, const char *name)
{
	size_t i;

	for (i = 0; name && i < row->ncells; i++)
		if (!strcmp(row->cell[i].name, name))
			return &row->cell[i];
	return NULL;
}

/*
 * --- several rows as one -----------------------------------------------------------------------
 */

static bool is_known(const struct field *f)
{
	return f->text || f->kind != FIELD_NONE;
}

/* True if the field is an integer. The integer may be wider than 64 bits. */
static bool is_whole(const struct field *f)
{
	return f->kind != FIELD_REAL || field_is_wide(f);
}

static __int128 whole_of(const struct field *f)
{
	if (f->kind == FIELD_REAL)
		return f->exact;
	return field_is_signed(f->kind) ? (__int128)(s64)f->number : (__int128)f->number;
}

/*
 * Adds f to sum exactly. Returns false, with sum unchanged, if either is real or the result does not fit into 64 bits.
 */
static bool add_whole(struct field *sum, const struct field *f)
{
	__int128 total = whole_of(sum) + whole_of(f);
	bool fits = wide_fits(total, field_is_signed(sum->kind));

	if (sum->kind == FIELD_REAL || f->kind == FIELD_REAL)
		return false;
	if (!fits && !wide_fits(total, field_is_signed(f->kind)))
		return false;
	if (!fits)
		sum->kind = f->kind;
	sum->number = total;
	return true;
}

/* Adds f to sum. A sum that does not fit into 64 bits becomes real, and remains exact if both numbers are integers. */
static void add_up(struct field *sum, const struct field *f)
{
	bool exact = is_whole(sum) && is_whole(f);
	__int128 total = whole_of(sum) + whole_of(f);
	double real = field_real(sum) + field_real(f);

	if (!is_known(f))
		return;
	if (!is_known(sum)) {
		*sum = *f;
	} else if (!add_whole(sum, f)) {
		sum->real = exact ? (double)total : real;
		sum->exact = exact ? total : 0;
		sum->exact_per = exact;
		sum->decimals = exact ? 0 : sum->kind == FIELD_REAL ? sum->decimals : 2;
		sum->kind = FIELD_REAL;
	}
}

/* Replaces the value by a copy of f's. Returns 0 or -ENOMEM. */
static int take(struct field *there, const struct field *f)
{
	char *text = f->text ? strdup(f->text) : NULL;

	if (f->text && !text)
		return -ENOMEM;
	free(there->text);
	*there = *f;
	there->text = text;
	return 0;
}

/* Takes a minimum or maximum, and the cells that belong to it. */
static int take_with(struct report_row *sum, const struct report_row *row, struct field *there, const struct field *f)
{
	struct field *companion;
	int err = take(there, f);
	size_t i;

	for (i = 0; i < row->ncells && !err; i++) {
		if (row->cell[i].role != ROLE_AT || !row->cell[i].of || strcmp(row->cell[i].of, f->name))
			continue;
		companion = report_row__cell(sum, row->cell[i].name);
		err = companion ? take(companion, &row->cell[i]) : 0;
	}
	return err;
}

static bool is_beyond(const struct field *f, const struct field *there)
{
	if (!is_known(f) || !is_known(there))
		return is_known(f);
	return there->role == ROLE_MAXIMUM ? field_real(f) > field_real(there) : field_real(f) < field_real(there);
}

static void keep_equal(struct field *there, const struct field *f)
{
	if (is_known(f) && (there->kind != f->kind || field_real(there) != field_real(f)))
		there->kind = FIELD_NONE;
}

static int combine(struct report_row *sum, const struct report_row *row, struct field *there, const struct field *f)
{
	switch (there->role) {
	case ROLE_KEY:
	case ROLE_AT:           /* taken together with its maximum */
		return 0;
	case ROLE_COUNTER:
		add_up(there, f);
		return 0;
	case ROLE_MINIMUM:
	case ROLE_MAXIMUM:
		return is_beyond(f, there) ? take_with(sum, row, there, f) : 0;
	case ROLE_LABEL:
		return is_known(f) ? take(there, f) : 0;
	default:
		if (f->text || there->text)
			return f->text ? take(there, f) : 0;
		keep_equal(there, f);
		return 0;
	}
}

static int add_copy(struct report_row *sum, const struct field *f)
{
	struct field copy = *f;
	int err;

	copy.text = f->text ? strdup(f->text) : NULL;
	err = f->text && !copy.text ? -ENOMEM : report_row__add_field(sum, &copy);
	if (err)
		free(copy.text);
	return err;
}

int report_row__combine(struct report_row *sum, const struct report_row *row)
{
	size_t before = sum->ncells, i;
	struct field *there;
	int err = 0;

	for (i = 0; i < row->ncells && !err; i++) {
		const struct field *f = &row->cell[i];

		there = i < before && !strcmp(sum->cell[i].name, f->name) ? &sum->cell[i] :
									    report_row__cell(sum, f->name);
		err = there ? combine(sum, row, there, f) : add_copy(sum, f);
	}
	return err;
}

/*
 * --- means -------------------------------------------------------------------------------------
 */

/* A sum of columns, as named by "of" or "per". */
struct operand {
	bool is_there, is_known, is_whole;
	__int128 whole;
	double real;
	enum field_kind kind;   /* kind of the first column */
};

static struct operand operand(const struct report_row *row, const char *columns)
{
	struct operand all = { .is_there = true, .is_known = true, .is_whole = true };
	const char *name = columns;
	size_t len, i;

	for (;; name += len + 1) {
		const struct field *f = NULL;

		len = strcspn(name, "+");
		for (i = 0; i < row->ncells && !f; i++)
			if (!strncmp(row->cell[i].name, name, len) && !row->cell[i].name[len])
				f = &row->cell[i];
		if (!f)
			return (struct operand){};
		all.is_known &= !f->text && f->kind != FIELD_NONE;
		all.kind = name == columns ? f->kind : all.kind;
		all.is_whole &= is_whole(f);
		all.whole += whole_of(f);
		all.real += field_real(f);
		if (!name[len])
			return all;
	}
}

bool report_row__operand(const struct report_row *row, const char *columns, double *sum)
{
	const struct operand all = operand(row, columns);

	*sum = all.real;
	return all.is_there && all.is_known;
}

/* True if means of this kind are integers, because they have a unit. Means of counts have decimals. */
static bool has_unit(enum field_kind kind)
{
	return kind == FIELD_TIME || kind == FIELD_DURATION || kind == FIELD_SIZE || kind == FIELD_SIGNED_SIZE;
}

/* Recordings and saved runs are untrusted: a real sum may be 0 where the integer sum is not, or vice versa. */
static bool can_divide(const struct operand *of, const struct operand *per)
{
	return of->is_known && per->is_known && per->real && (per->whole || !per->is_whole);
}

static void take_mean(struct field *f, const struct operand *of, const struct operand *per)
{
	enum field_kind kind = has_unit(of->kind) ? of->kind : f->kind;

	f->kind = FIELD_NONE;
	if (!can_divide(of, per))
		return;
	f->real = of->real / per->real;
	if (!has_unit(kind)) {
		f->kind = FIELD_REAL;
		f->decimals = f->decimals ?: 2;
		f->exact = of->whole;
		f->exact_per = of->is_whole && per->is_whole && per->whole == (u64)per->whole ? per->whole : 0;
	} else if (of->is_whole && per->is_whole) {
		f->kind = kind;
		f->number = of->whole / per->whole;
	} else if (fabs(f->real) < 0x1p63) {
		f->kind = kind;
		f->number = (s64)f->real;
	}
}

static void take_percent(struct field *f, const struct operand *of, const struct operand *per)
{
	f->kind = FIELD_NONE;
	if (!can_divide(of, per))
		return;
	f->kind = FIELD_REAL;
	f->real = 100 * of->real / per->real;
}

void report_row__derive(struct report_row *row, u64 duration_ns)
{
	const struct operand duration = { .is_there = true, .is_known = true, .is_whole = true,
					  .whole = duration_ns, .real = duration_ns };
	struct operand of, per;
	size_t i;

	for (i = 0; i < row->ncells; i++) {
		struct field *f = &row->cell[i];

		if ((f->role != ROLE_MEAN && f->role != ROLE_PERCENT) || !f->of || (f->role == ROLE_MEAN && !f->per))
			continue;
		of = operand(row, f->of);
		per = f->per ? operand(row, f->per) : duration;
		if (!of.is_there || !per.is_there)
			continue;
		if (f->role == ROLE_MEAN)
			take_mean(f, &of, &per);
		else
			take_percent(f, &of, &per);
	}
}
