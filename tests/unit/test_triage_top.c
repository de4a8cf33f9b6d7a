// SPDX-License-Identifier: BSD-2-Clause
/* The first lines of triage's page. */
#include "unit.h"

#include "machine/triage/top.h"

static const struct triage_rule figures[] = {
	{ .name = "share", .tool = "vitals", .where = { { "vital", "share" } }, .figure = "share_percent",
	  .per = TRIAGE_PERCENT, .zeros = true },
	{ .name = "level", .tool = "vitals", .where = { { "vital", "level" } }, .by = "object", .figure = "value",
	  .per = TRIAGE_LARGEST, .zeros = true },
	{ .name = "other", .tool = "other", .figure = "value", .per = TRIAGE_LARGEST, .zeros = true },
};

static const struct triage_line lines[] = {
	{ "a", "x {share}, y {share.object} {share.vital}; {level*2}" },
	{ "b", "{other} and {nothing}" },
	{ "c", "{level*1}" },
};

static void add_vital(struct report *r, const char *vital, const char *object, const char *figure, double value)
{
	struct field f = { .name = figure, .kind = value < 0 ? FIELD_NONE : FIELD_REAL, .real = value };
	struct report_row row = {};

	assert_int_equal(report_row__add_text(&row, "vital", vital), 0);
	assert_int_equal(report_row__add_text(&row, "object", object), 0);
	assert_int_equal(report_row__add_field(&row, &f), 0);
	assert_int_equal(report__add_row(r, &row), 0);
}

static void take(struct triage *t, double share, double level, u64 seconds)
{
	struct report r = { .tool = "vitals", .duration_ns = seconds * NSEC_PER_SEC };

	add_vital(&r, "share", "-", "share_percent", share);
	add_vital(&r, "level", "vda", "value", level);
	add_vital(&r, "level", "vdb", "value", level / 2);
	add_vital(&r, "level", "vdc", "value", level / 4);
	assert_int_equal(triage__take(t, &r), 0);
	report__free(&r);
}

static void assert_line(const struct triage_top *top, size_t line, const char *wanted)
{
	char *text = triage_top__text(top, &lines[line]);

	assert_non_null(text);
	assert_string_equal(text, wanted);
	free(text);
}

static struct triage_finding *assert_lines(struct triage *t, const char *a, const char *c)
{
	struct triage_finding *f = triage__findings(t, 2);
	const struct triage_top top = { lines, ARRAY_SIZE(lines), f, ARRAY_SIZE(figures) };

	assert_non_null(f);
	assert_line(&top, 0, a);
	assert_line(&top, 1, "- and -");
	assert_line(&top, 2, c);
	assert_true(triage_top__is_known(&top, &lines[0]) && triage_top__is_known(&top, &lines[2]));
	assert_false(triage_top__is_known(&top, &lines[1]));
	return f;
}

/* A share is that of all the time, and a level is the largest one. */
static void test_figures_of_a_window(void **state)
{
	struct triage *t = triage__new(figures, ARRAY_SIZE(figures));

	(void)state;
	assert_non_null(t);
	take(t, 10, 8, 1);
	take(t, 50, 2, 3);
	free(assert_lines(t, "x 40 %, y - share; vda 8, vdb 4", "vda 8"));
	triage__free(t);
}

static void test_nothing_is_not_unknown(void **state)
{
	struct triage *t = triage__new(figures, ARRAY_SIZE(figures));

	(void)state;
	assert_non_null(t);
	take(t, 0, 0, 1);
	free(assert_lines(t, "x 0 %, y - share; none", "none"));
	triage__reset(t);
	take(t, -1, -1, 1);
	free(assert_lines(t, "x -, y - -; none", "none"));
	triage__free(t);
}

/* Each name in a line is a figure, and each figure is in a line. */
static void test_the_lines_have_all_figures(void **state)
{
	struct triage *t = triage__new(triage_figures, triage_figure_count);
	struct triage_finding *f = triage__findings(t, 2);
	const struct triage_top top = { triage_top_lines, triage_top_line_count, f, triage_figure_count };
	size_t seen = 0, i;

	(void)state;
	assert_non_null(f);
	assert_true(triage_top_line_count <= 8);
	for (i = 0; i < triage_top_line_count; i++) {
		const char *p = triage_top_lines[i].text;

		while ((p = strchr(p, '{'))) {
			const struct triage_finding *figure = triage_top__figure(&top, p + 1, strcspn(p + 1, ".*}"));

			assert_non_null(figure);
			seen |= 1UL << (figure->rule - triage_figures);
			p++;
		}
	}
	assert_int_equal(seen, (1UL << triage_figure_count) - 1);
	free(f);
	triage__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures_of_a_window), cmocka_unit_test(test_nothing_is_not_unknown),
		cmocka_unit_test(test_the_lines_have_all_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
