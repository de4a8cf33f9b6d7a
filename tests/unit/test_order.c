// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "cli/order.h"

static const char *const columns[] = { "requests", "bytes", "avg" };

static void columns_are_found(void **state)
{
	const char *order = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		assert_int_equal(order__parse(&order, columns, ARRAY_SIZE(columns), columns[i]), 0);
		assert_string_equal(order, columns[i]);
	}
}

static void key_is_no_column(void **state)
{
	const char *order = columns[1];

	(void)state;
	assert_int_equal(order__parse(&order, columns, ARRAY_SIZE(columns), "key"), 0);
	assert_null(order);
}

static void others_are_refused(void **state)
{
	static const char *const wrong[] = { "", "byte", "bytess", "Bytes", "bytes,avg", "keys" };
	const char *order;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(order__parse(&order, columns, ARRAY_SIZE(columns), wrong[i]), EINVAL);
}

static void people_are_shown_20_rows(void **state)
{
	static const struct {
		int format;
		size_t top, rows;
	} cases[] = {
		{ FORMAT_TEXT, 0, 20 }, { FORMAT_TEXT, 5, 5 }, { FORMAT_TEXT, 100, 100 }, { FORMAT_JSON, 0, 0 },
		{ FORMAT_JSON, 5, 5 }, { FORMAT_CSV, 0, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct cli cli = { .format = cases[i].format, .top = cases[i].top };

		assert_int_equal(table_rows(&cli), cases[i].rows);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_found),
		cmocka_unit_test(key_is_no_column),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(people_are_shown_20_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
