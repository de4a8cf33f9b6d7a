// SPDX-License-Identifier: BSD-2-Clause
/* Sorting the rows of a table. */
#include "unit.h"

enum { NAME, TID, TIME, RATIO, CELLS };

static void add(struct report *r, const char *name, u64 tid, u64 time, double ratio)
{
	struct report_row row = {};
	struct field f[] = {
		{ .name = "tid", .number = tid },
		{ .name = "time", .number = time, .kind = time ? FIELD_TIME : FIELD_NONE },
		{ .name = "ratio", .real = ratio, .kind = ratio ? FIELD_REAL : FIELD_NONE },
	};
	size_t i;

	assert_int_equal(report_row__add_text(&row, "name", name), 0);
	for (i = 0; i < ARRAY_SIZE(f); i++)
		assert_int_equal(report_row__add_field(&row, &f[i]), 0);
	assert_int_equal(row.ncells, CELLS);
	assert_int_equal(report__add_row(r, &row), 0);
}

/* Compares the tids of the rows, in their order. */
static void check(struct report *r, const char *tids)
{
	char text[128] = "";
	size_t i, n = 0;

	for (i = 0; i < r->nrows; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%llu", i ? " " : "",
			      r->row[i].cell[TID].number);
	assert_string_equal(text, tids);
	report__free(r);
}

static void fill(struct report *r)
{
	*r = (struct report){ .tool = "t" };
	add(r, "b", 10, 300, 0.5);
	add(r, "b", 9, 300, 1.25);
	add(r, "a", 100, 0, -2);
	add(r, "c", 1, 1ULL << 63, 0);
	add(r, "a", 11, 299, 1.125);
}

static void largest_first_then_by_key(void **state)
{
	struct report r;

	(void)state;
	fill(&r);
	report__sort_rows(&r, "time", 2, 0);
	check(&r, "1 9 10 11 100");             /* a row without a time is last */
	fill(&r);
	report__sort_rows(&r, "ratio", 2, 0);
	check(&r, "9 11 10 100 1");
	fill(&r);
	report__sort_rows(&r, "name", 2, 0);
	check(&r, "1 9 10 11 100");
}

static void by_key(void **state)
{
	struct report r;

	(void)state;
	fill(&r);
	report__sort_rows(&r, NULL, 2, 0);
	check(&r, "11 100 9 10 1");
	fill(&r);
	report__sort_rows(&r, "no such cell", 2, 0);
	check(&r, "11 100 9 10 1");
}

static void top_keeps_the_first(void **state)
{
	struct report r;

	(void)state;
	fill(&r);
	report__sort_rows(&r, "time", 2, 2);
	assert_int_equal(r.hidden, 3);
	check(&r, "1 9");
	fill(&r);
	report__sort_rows(&r, "time", 2, 5);
	assert_int_equal(r.hidden, 0);
	check(&r, "1 9 10 11 100");
}

static void rows_may_be_short_or_none(void **state)
{
	struct report r = { .tool = "t" };
	struct report_row empty = {};

	(void)state;
	report__sort_rows(&r, "time", 2, 3);
	assert_int_equal(r.nrows, 0);
	fill(&r);
	assert_int_equal(report__add_row(&r, &empty), 0);
	report__sort_rows(&r, "time", 9, 5);
	assert_int_equal(r.hidden, 1);
	report__free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(largest_first_then_by_key),
		cmocka_unit_test(by_key),
		cmocka_unit_test(top_keeps_the_first),
		cmocka_unit_test(rows_may_be_short_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
