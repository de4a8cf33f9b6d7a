// SPDX-License-Identifier: BSD-2-Clause
/* Cells from a list of columns; --sort and its help from the same list. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "bpf/lib/maximum.h"
#include "cli/order.h"
#include "report/column.h"
#include "report/role.h"

struct sums {
	u64 asked, missed, added, ns;
};

#define OF(member) SUM(struct sums, member)

static const struct column columns[] = {
	COUNTER("hits", OF(asked), FIELD_NUMBER, .minus = OF(missed)),
	COUNTER("misses", OF(missed), FIELD_NUMBER),
	COUNTER("pages", OF(asked) | OF(added), FIELD_SIZE, .machine = true),
	COUNTER("time", OF(ns), FIELD_TIME),
	PERCENT("hit_percent", "hits", "hits+misses", 2),
	MEAN("avg", "time", "hits+misses", FIELD_TIME),
	ADDED_BY_TOOL("rss", ROLE_GAUGE, .help = "with --memory"),
	{},
};

static struct report_row row_of(u64 asked, u64 missed, u64 added, u64 ns)
{
	const struct sums s = { asked, missed, added, ns };
	struct report_row row = {};

	assert_int_equal(report_row__add_columns(&row, columns, &s.asked, &(struct column_source){}), 0);
	return row;
}

static u64 number(const struct report_row *row, const char *name)
{
	const struct field *f = report_row__cell(row, name);

	assert_non_null(f);
	return f->number;
}

static void cells_follow_from_sums(void **state)
{
	struct report_row row = row_of(100, 25, 7, 1001);
	const struct field *pages = report_row__cell(&row, "pages");

	(void)state;
	assert_int_equal(row.ncells, 6);
	assert_int_equal(number(&row, "hits"), 75);
	assert_int_equal(number(&row, "misses"), 25);
	assert_int_equal(number(&row, "avg"), 10);
	assert_int_equal(pages->number, 107);
	assert_int_equal(pages->kind, FIELD_SIZE);
	assert_int_equal(pages->role, ROLE_COUNTER);
	assert_true(pages->machine);
	assert_true(report_row__cell(&row, "hit_percent")->real == 75.0);
	assert_int_equal(report_row__cell(&row, "avg")->role, ROLE_MEAN);
	assert_null(report_row__cell(&row, "rss"));
	report_row__free(&row);
}

static void a_difference_is_never_below_zero(void **state)
{
	struct report_row row = row_of(3, 5, 0, 0);

	(void)state;
	assert_int_equal(number(&row, "hits"), 0);
	report_row__free(&row);
}

static void quotients_of_nothing_are_unknown(void **state)
{
	struct report_row row = row_of(0, 0, 0, 0);

	(void)state;
	assert_int_equal(report_row__cell(&row, "hit_percent")->kind, FIELD_NONE);
	assert_int_equal(report_row__cell(&row, "avg")->kind, FIELD_NONE);
	assert_int_equal(report_row__cell(&row, "hits")->kind, FIELD_NUMBER);
	report_row__free(&row);
}

static void several_sums_are_added(void **state)
{
	const u64 sums[] = { 1, 2, 4, 1ULL << 63 };

	(void)state;
	assert_int_equal(column_sum(sums, 0), 0);
	assert_int_equal(column_sum(sums, 5), 5);
	assert_true(column_sum(sums, 15) == (1ULL << 63) + 7);
}

/* Percentiles are unknown without a histogram. */
static void percentiles_are_of_the_rows_histogram(void **state)
{
	static const struct column list[] = {
		PERCENTILE("p50", 5000, FIELD_TIME), PERCENTILE("p99", 9900, FIELD_TIME), {},
	};
	const struct histogram_totals totals = { .sum = 99 * 3 + 7, .max = 7, .min_inv = ~3ULL };
	const u64 counts[] = { 99, 0, 0, 0, 1 };
	struct report_row with = {}, without = {};
	struct column_source of = {};
	struct histogram h;

	(void)state;
	assert_int_equal(histogram__init(&h, counts, 3, ARRAY_SIZE(counts), &totals), 0);
	assert_int_equal(report_row__add_columns(&without, list, counts, &of), 0);
	of.hist = &h;
	assert_int_equal(report_row__add_columns(&with, list, counts, &of), 0);
	assert_int_equal(without.ncells, 2);
	assert_int_equal(without.cell[1].kind, FIELD_NONE);
	assert_int_equal(with.cell[0].number, 3);
	assert_int_equal(with.cell[1].number, 3);
	assert_int_equal(with.cell[1].kind, FIELD_TIME);
	assert_int_equal(with.cell[1].role, ROLE_GAUGE);
	report_row__free(&with);
	report_row__free(&without);
	histogram__free(&h);
}

struct slowest {
	u64 calls;
	struct interval_maximum slowest[MAXIMUM_SLOTS];
};

static u64 maximum(u64 interval, struct interval_maximum even, struct interval_maximum odd)
{
	static const struct column list[] = { MAXIMUM("max", struct slowest, slowest, FIELD_TIME), {} };
	const struct column_source of = { .interval = interval };
	const struct slowest s = { 1, { even, odd } };
	struct report_row row = {};
	u64 value;

	assert_int_equal(report_row__add_columns(&row, list, &s.calls, &of), 0);
	assert_int_equal(row.cell->role, ROLE_MAXIMUM);
	value = row.cell->number;
	report_row__free(&row);
	return value;
}

static void maxima_are_of_this_interval(void **state)
{
	typedef struct interval_maximum m;

	(void)state;
	assert_int_equal(maximum(1, (m){ 0, 0 }, (m){ 1, 7 }), 7);
	assert_int_equal(maximum(3, (m){ 2, 900 }, (m){ 3, 7 }), 7);
	/* The next interval began while this one was read, so its events are in the sums. */
	assert_int_equal(maximum(3, (m){ 4, 900 }, (m){ 3, 7 }), 900);
	assert_int_equal(maximum(5, (m){ 4, 900 }, (m){ 3, 7 }), 0);
}

struct waits {
	u64 waits;
	struct timed_maximum longest[MAXIMUM_SLOTS];
};

static const struct column timed[] = {
	COUNTER("waits", SUM(struct waits, waits), FIELD_NUMBER),
	TIMED_MAXIMUM("max", struct waits, longest, FIELD_TIME),
	AT("max_at", "max"),
	AT_NS("max_at_ns", "max"),
	{},
};

static struct report_row timed_row(struct timed_maximum even, struct timed_maximum odd)
{
	const struct column_source of = { .interval = 3, .began_ns = 1000 };
	const struct waits w = { 1, { even, odd } };
	struct report_row row = {};

	assert_int_equal(report_row__add_columns(&row, timed, &w.waits, &of), 0);
	assert_int_equal(row.ncells, 4);
	return row;
}

static void a_maximum_tells_when_it_was(void **state)
{
	typedef struct timed_maximum m;
	struct report_row row = timed_row((m){ 4, 70, 5000 }, (m){ 3, 70, 4000 });
	const struct field *at = report_row__cell(&row, "max_at");

	(void)state;
	assert_int_equal(number(&row, "max"), 70);
	assert_int_equal(number(&row, "max_at_ns"), 3000);
	assert_int_equal(at->role, ROLE_AT);
	assert_string_equal(at->of, "max");
	assert_true(at->spare);
	assert_int_equal(strlen(at->text), strlen("12:34:56.789"));
	report_row__free(&row);
	/* A wait of zero length counts as a wait. */
	row = timed_row((m){}, (m){ 3, 0, 1000 });
	assert_int_equal(report_row__cell(&row, "max")->kind, FIELD_TIME);
	assert_int_equal(report_row__cell(&row, "max_at_ns")->kind, FIELD_NUMBER);
	report_row__free(&row);
	row = timed_row((m){ 2, 70, 5000 }, (m){});
	assert_int_equal(report_row__cell(&row, "max")->kind, FIELD_NONE);
	assert_int_equal(report_row__cell(&row, "max_at_ns")->kind, FIELD_NONE);
	assert_null(report_row__cell(&row, "max_at")->text);
	report_row__free(&row);
}

enum { OF_PAGES = 1, FOLLOWED = 2 };

static const struct column optional[] = {
	COUNTER("asked", OF(asked), FIELD_SIZE, .machine_when = OF_PAGES),
	COUNTER("failed", OF(missed), FIELD_NUMBER, .rare = true),
	COUNTER("freed", OF(added), FIELD_SIZE, .when = FOLLOWED),
	{},
};

static struct report_row optional_row(u32 traits, u64 failed)
{
	const struct column_source of = { .traits = traits };
	const struct sums s = { 1, failed, 3, 4 };
	struct report_row row = {};

	assert_int_equal(report_row__add_columns(&row, optional, &s.asked, &of), 0);
	return row;
}

static void columns_depend_on_options(void **state)
{
	struct report_row row = optional_row(0, 0);

	(void)state;
	assert_null(report_row__cell(&row, "freed"));
	assert_false(report_row__cell(&row, "asked")->machine);
	report_row__free(&row);
	row = optional_row(OF_PAGES | FOLLOWED, 0);
	assert_int_equal(number(&row, "freed"), 3);
	assert_true(report_row__cell(&row, "asked")->machine);
	report_row__free(&row);
}

static void rare_columns_are_shown_if_any_row_has_them(void **state)
{
	u64 failed;

	(void)state;
	for (failed = 0; failed < 2; failed++) {
		struct report r = {};
		struct report_row first = optional_row(0, 0), second = optional_row(0, failed);

		assert_int_equal(report__end_row(&r, &first, 0), 0);
		assert_int_equal(report__end_row(&r, &second, 0), 0);
		report__hide_rare(&r, optional);
		assert_int_equal(report_row__cell(&r.row[0], "failed")->machine, !failed);
		assert_int_equal(report_row__cell(&r.row[1], "failed")->machine, !failed);
		assert_false(report_row__cell(&r.row[1], "asked")->machine);
		report__free(&r);
	}
}

static int sort_by(struct cli *cli, char *column)
{
	return order_rows[0].parse(cli, column);
}

static void every_column_sorts(void **state)
{
	struct cli cli = { .columns = columns, .order = "misses" };

	(void)state;
	assert_int_equal(sort_by(&cli, "rss"), 0);
	assert_string_equal(cli.order, "rss");
	assert_int_equal(sort_by(&cli, "key"), 0);
	assert_null(cli.order);
	assert_int_equal(sort_by(&cli, "bytes"), EINVAL);
}

static void times_of_maxima_do_not_sort(void **state)
{
	struct cli cli = { .columns = timed, .order = "waits" };

	(void)state;
	assert_int_equal(sort_by(&cli, "max"), 0);
	assert_int_equal(sort_by(&cli, "max_at"), EINVAL);
	assert_int_equal(sort_by(&cli, "max_at_ns"), EINVAL);
}

static void help_names_them_with_the_default_first(void **state)
{
	const struct cli cli = { .columns = columns, .order = "misses" };
	char *text = order_rows[0].describe(&cli);

	(void)state;
	assert_string_equal(text,
			    "Order by misses (default), hits, pages, time, hit_percent, avg, "
			    "rss (with --memory) or key");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_follow_from_sums),
		cmocka_unit_test(a_difference_is_never_below_zero),
		cmocka_unit_test(quotients_of_nothing_are_unknown),
		cmocka_unit_test(several_sums_are_added),
		cmocka_unit_test(percentiles_are_of_the_rows_histogram),
		cmocka_unit_test(maxima_are_of_this_interval),
		cmocka_unit_test(a_maximum_tells_when_it_was),
		cmocka_unit_test(columns_depend_on_options),
		cmocka_unit_test(rare_columns_are_shown_if_any_row_has_them),
		cmocka_unit_test(every_column_sorts),
		cmocka_unit_test(times_of_maxima_do_not_sort),
		cmocka_unit_test(help_names_them_with_the_default_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
