// SPDX-License-Identifier: BSD-2-Clause
/* Sorting a report: by each column of figures, in both directions, with totals last. */
#include "unit.h"

#include "report/arrange.h"

static void add(struct report *r, u64 pid, const char *comm, u64 count, u64 time, enum field_kind kind)
{
	struct report_row row = { .is_total = !pid };

	assert_int_equal(report_row__add_number(&row, "pid", pid, FIELD_ID), 0);
	assert_int_equal(report_row__add_text(&row, "comm", comm), 0);
	assert_int_equal(report_row__add_number(&row, "count", count, FIELD_NUMBER), 0);
	assert_int_equal(report_row__add_number(&row, "time", time, kind), 0);
	assert_int_equal(report__add_row(r, &row), 0);
}

/* Rows in the tool's own order, which is not the order of any column. */
static struct report rows(void)
{
	struct report r = { .tool = "t", .table = true };

	add(&r, 3, "c", 20, 7, FIELD_DURATION);
	add(&r, 1, "a", 30, 5, FIELD_DURATION);
	add(&r, 4, "d", 10, 0, FIELD_NONE);
	add(&r, 2, "b", 20, 9, FIELD_DURATION);
	add(&r, 0, "total", 80, 21, FIELD_DURATION);
	return r;
}

static void check(const struct report *r, const char *pids)
{
	char text[64] = "";
	size_t n = 0, i;

	for (i = 0; i < r->nrows; i++)
		n += snprintf(text + n, sizeof(text) - n, "%llu", r->row[i].cell[0].number);
	assert_string_equal(text, pids);
}

static void columns_are_figures(void **state)
{
	struct report r = rows();

	(void)state;
	assert_string_equal(arrange__column(&r, 0), "count");
	assert_string_equal(arrange__column(&r, 1), "time");
	assert_null(arrange__column(&r, 2));
	r.table = false;
	assert_null(arrange__column(&r, 0));
	report__free(&r);
	r = (struct report){ .tool = "t", .table = true };
	assert_null(arrange__column(&r, 0));
	add(&r, 1, "a", 1, 1, FIELD_DURATION);
	assert_null(arrange__column(&r, 0));    /* one row has no order */
	report__free(&r);
}

static void a_tree_has_one_order(void **state)
{
	struct report r = rows();

	(void)state;
	r.row[1].cell[1].indent = 2;
	assert_null(arrange__column(&r, 0));
	arrange__sort(&r, "count", true);
	check(&r, "31420");
	report__free(&r);
}

static void totals_and_unknown_values_are_last(void **state)
{
	static const struct {
		const char *column;
		bool reversed;
		const char *pids;
	} cases[] = {
		{ NULL, false, "31420" }, { NULL, true, "24130" },
		{ "count", false, "12340" }, { "count", true, "43210" },
		{ "time", false, "23140" }, { "time", true, "13240" },
		{ "size", false, "31420" },
	};
	struct report r;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		r = rows();
		arrange__sort(&r, cases[i].column, cases[i].reversed);
		check(&r, cases[i].pids);
		report__free(&r);
	}
}

static void views_have_the_first_rows_and_the_total(void **state)
{
	struct report r = rows(), view;

	(void)state;
	r.hidden = 5;
	assert_int_equal(arrange__view(&view, &r, 2), 0);
	check(&view, "310");
	assert_int_equal(view.hidden, 7);
	free(view.row);
	assert_int_equal(arrange__view(&view, &r, 0), 0);
	check(&view, "31420");
	assert_int_equal(view.hidden, 5);
	free(view.row);
	check(&r, "31420");
	report__free(&r);
}

static void groups_have_all_columns_of_histograms(void **state)
{
	struct report r = { .tool = "t" }, view;
	struct dense one = {}, two = {};
	size_t n = 0;

	(void)state;
	dense__add(&one, 9);
	dense__add_many(&two, 2, 3);
	add_group(&r, FIELDS(number_field("cpu", 0)), &one);
	assert_null(arrange__column(&r, 0));
	add_group(&r, FIELDS(number_field("cpu", 1)), &two);
	while (arrange__column(&r, n))
		assert_string_equal(arrange__column(&r, n), report_sort_column_name(n)), n++;
	assert_int_equal(n, 10);
	arrange__sort(&r, "count", false);
	assert_int_equal(r.group[0].key[0].number, 1);
	arrange__sort(&r, "max", false);
	assert_int_equal(r.group[0].key[0].number, 0);
	arrange__sort(&r, "max", true);
	assert_int_equal(r.group[0].key[0].number, 1);
	assert_int_equal(arrange__view(&view, &r, 1), 0);
	assert_int_equal(view.ngroups, 1);
	assert_int_equal(view.hidden, 1);
	free(view.row);
	report__free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_figures),
		cmocka_unit_test(a_tree_has_one_order),
		cmocka_unit_test(totals_and_unknown_values_are_last),
		cmocka_unit_test(views_have_the_first_rows_and_the_total),
		cmocka_unit_test(groups_have_all_columns_of_histograms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
