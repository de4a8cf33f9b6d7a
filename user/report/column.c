// SPDX-License-Identifier: BSD-2-Clause
#include "report/column.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "bpf/lib/maximum.h"
#include "report/role.h"

u64 column_sum(const u64 *sums, u64 which)
{
	u64 all = 0;

	for (; which; which &= which - 1)
		all += sums[__builtin_ctzll(which)];
	return all;
}

/* Returns the maximum of a column; all zeros without a value. */
static struct timed_maximum maximum_of(const struct column *c, const u64 *value, u64 interval)
{
	size_t size = c->timed ? sizeof(struct timed_maximum) : sizeof(struct interval_maximum), i;
	struct timed_maximum most = {}, slot = {};

	for (i = 0; i < MAXIMUM_SLOTS; i++) {
		memcpy(&slot, (const char *)(value + c->slots) + i * size, size);
		if (slot.interval != interval && slot.interval != interval + 1)
			continue;
		if (!most.interval || slot.value > most.value ||
		    (slot.value == most.value && slot.at_ns < most.at_ns))
			most = slot;
	}
	return most;
}

static u64 sum_of(const struct column *c, const u64 *value)
{
	u64 plus = column_sum(value, c->plus), minus = column_sum(value, c->minus);

	return plus > minus ? plus - minus : 0;
}

static int add_number(struct report_row *row, const struct column *c, const u64 *value,
		      const struct column_source *source)
{
	struct field f = {
		.name = c->name, .kind = c->kind, .role = c->role, .decimals = c->decimals,
		.machine = c->machine || c->machine_when & source->traits, .spare = c->spare,
		.of = c->of, .per = c->per,
	};

	if (c->slots) {
		const struct timed_maximum most = maximum_of(c, value, source->interval);

		f.number = most.value;
		if (c->timed && !most.interval)
			f.kind = FIELD_NONE;
	} else if (c->per_10k) {
		f.number = source->hist ? histogram__percentile(source->hist, c->per_10k) : 0;
		if (!source->hist)
			f.kind = FIELD_NONE;
	} else {
		f.number = sum_of(c, value);
	}
	return report_row__add_field(row, &f);
}

static void put_time_of_day(char text[32], u64 monotonic)
{
	u64 real = realtime_ns() - (monotonic_ns() - monotonic);
	time_t seconds = real / NSEC_PER_SEC;
	size_t len = 0;
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		len = strftime(text, 32, "%H:%M:%S", &tm);
	snprintf(text + len, 32 - len, ".%03llu", real % NSEC_PER_SEC / NSEC_PER_MSEC);
}

static int add_time_of_day(struct report_row *row, const struct column *c, const struct timed_maximum *most)
{
	char text[32];
	int err;

	if (most->interval)
		put_time_of_day(text, most->at_ns);
	err = report_row__add_text(row, c->name, most->interval ? text : NULL);
	if (err)
		return err;
	row->cell[row->ncells - 1].spare = true;
	row->cell[row->ncells - 1].role = ROLE_AT;
	row->cell[row->ncells - 1].of = c->of;
	return 0;
}

/* Adds the time at which another column's maximum occurred. */
static int add_at(struct report_row *row, const struct column *columns, const struct column *c, const u64 *value,
		  const struct column_source *source)
{
	const struct column *of = columns;
	struct timed_maximum most;
	struct field f = { .name = c->name, .role = ROLE_AT, .of = c->of, .machine = c->machine };

	while (strcmp(of->name, c->of))
		of++;
	most = maximum_of(of, value, source->interval);
	if (c->kind == FIELD_TIME)
		return add_time_of_day(row, c, &most);
	f.kind = most.interval ? c->kind : FIELD_NONE;
	f.number = most.interval ? most.at_ns - source->began_ns : 0;
	return report_row__add_field(row, &f);
}

int report_row__add_columns(struct report_row *row, const struct column *columns, const u64 *value,
			    const struct column_source *source)
{
	const struct column *c;
	int err = 0;

	for (c = columns; c->name && !err; c++) {
		if ((c->when & source->traits) != c->when)
			continue;
		if (c->role == ROLE_AT)
			err = add_at(row, columns, c, value, source);
		else if (c->plus || c->slots || c->per_10k || c->of)
			err = add_number(row, c, value, source);
	}
	report_row__derive(row, 0);
	return err;
}

static bool is_zero(const struct report *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->nrows; i++) {
		const struct field *f = report_row__cell(&r->row[i], name);

		if (f && f->number)
			return false;
	}
	return true;
}

static void hide(struct report_row *row, const char *name)
{
	struct field *f = report_row__cell(row, name);

	if (f)
		f->machine = true;
}

void report__hide_rare(struct report *r, const struct column *columns)
{
	const struct column *c;
	size_t i;

	for (c = columns; c->name; c++) {
		if (!c->rare || !is_zero(r, c->name))
			continue;
		for (i = 0; i < r->nrows; i++)
			hide(&r->row[i], c->name);
		hide(&r->columns, c->name);
	}
}
