// SPDX-License-Identifier: BSD-2-Clause
/* Text on a terminal: columns that fit, and a note about those left out; a pipe gets everything. */
#include "unit.h"

#include "report/report.h"
#include "report/terminal.h"
#include "report/text.h"

static const char *row_names[] = { "pid", "comm", "read_bytes", "wait_ns", "failed", "hit_percent", "path" };

static void add_file(struct report *r, u64 pid, const char *comm, u64 bytes, u64 ns, u64 failed, double hit,
		    const char *path)
{
	struct report_row row = {};
	struct field real = { .name = row_names[5], .kind = FIELD_REAL, .decimals = 2, .real = hit };

	assert_int_equal(report_row__add_number(&row, row_names[0], pid, FIELD_ID), 0);
	assert_int_equal(report_row__add_text(&row, row_names[1], comm), 0);
	assert_int_equal(report_row__add_number(&row, row_names[2], bytes, FIELD_NUMBER), 0);
	assert_int_equal(report_row__add_number(&row, row_names[3], ns, FIELD_TIME), 0);
	assert_int_equal(report_row__add_number(&row, row_names[4], failed, FIELD_NUMBER), 0);
	assert_int_equal(report_row__add_field(&row, &real), 0);
	assert_int_equal(report_row__add_text(&row, row_names[6], path), 0);
	assert_int_equal(report__add_row(r, &row), 0);
}

static struct report table(void)
{
	struct report r = { .tool = "t", .value = "v", .table = true, .has_events = true, .events = 2 };

	add_file(&r, 1234, "nginx", 31936304, 842123, 0, 98.5, "/usr/lib/x86_64-linux-gnu/libcrypto.so.3");
	add_file(&r, 7, "a-longer-name-of-one", 0, 0, 0, 0, "");
	return r;
}

static char *shown(const struct report *r, u32 columns, u32 rows)
{
	struct writer w = { .terminal = { columns, rows, false } };
	char *text = NULL;
	size_t n;

	w.file = open_memstream(&text, &n);
	assert_int_equal(text_put_table(&w, r), 0);
	fclose(w.file);
	return text;
}

static void check(const struct report *r, u32 columns, u32 rows, const char *expected)
{
	char *text = shown(r, columns, rows);

	assert_string_equal(text, expected);
	free(text);
}

static void pipes_get_all_digits(void **state)
{
	struct report r = table();

	(void)state;
	check(&r, 0, 0,
	      " pid  comm                  read_bytes     wait_ns  failed  hit_percent  path\n"
	      "1234  nginx                 31,936,304  842.123 us       0        98.50  "
	      "/usr/lib/x86_64-linux-gnu/libcrypto.so.3\n"
	      "   7  a-longer-name-of-one           0    0.000 us       0         0.00\n");
	report__free(&r);
}

static void wide_terminals_get_all_columns(void **state)
{
	struct report r = table();

	(void)state;
	check(&r, 120, 0,
	      " pid  comm                  read bytes    wait  failed   hit%  path\n"
	      "1234  nginx                   30.5 MiB  842 us       0  98.50  /usr/lib/x86_64-linux-gnu/libcrypto.so.3\n"
	      "   7  a-longer-name-of-one           0       0       0   0.00\n");
	report__free(&r);
}

/*
 * The column without values is dropped first, then texts are cut, the widest first. Paths keep their end.
 */
static void narrow_terminals_get_what_matters(void **state)
{
	struct report r = table();

	(void)state;
	check(&r, 80, 0,
	      " pid  comm                  read bytes    wait   hit%  path\n"
	      "1234  nginx                   30.5 MiB  842 us  98.50  ...nux-gnu/libcrypto.so.3\n"
	      "   7  a-longer-name-of-one           0       0   0.00\n"
	      "not shown: failed\n");
	check(&r, 50, 0,
	      " pid  comm          read bytes    wait  path\n"
	      "1234  nginx           30.5 MiB  842 us  ...to.so.3\n"
	      "   7  a-longer-...           0       0\n"
	      "not shown: failed, hit%\n");
	report__free(&r);
}

/* Inner percentiles are dropped before the largest value, whatever their order; the other form is named once. */
static void spare_columns_go_first(void **state)
{
	struct report r = { .tool = "t", .value = "v", .table = true, .no_table = "--hist" };
	struct report_row row = {};
	const struct field cells[] = {
		{ .name = "count", .number = 1 }, { .name = "p50", .number = 222222, .spare = true },
		{ .name = "p90", .number = 333333, .spare = true }, { .name = "p99", .number = 444444 },
		{ .name = "max", .number = 555555 },
	};

	(void)state;
	assert_int_equal(report_row__add_text(&row, "comm", "a"), 0);
	assert_int_equal(report_row__add_fields(&row, cells, ARRAY_SIZE(cells)), 0);
	assert_int_equal(report__add_row(&r, &row), 0);
	check(&r, 80, 0,
	      "comm  count      p50      p90      p99      max\n"
	      "a         1  222,222  333,333  444,444  555,555\n"
	      "--hist shows histograms\n");
	check(&r, 40, 0,
	      "comm  count      p50      p99      max\n"
	      "a         1  222,222  444,444  555,555\n"
	      "not shown: p90; --hist shows histograms\n");
	check(&r, 30, 0,
	      "comm  count      p99      max\n"
	      "a         1  444,444  555,555\n"
	      "not shown: p50, p90; --hist\n"
	      "  shows histograms\n");
	report__free(&r);
}

static void nothing_is_wider_than_the_terminal(void **state)
{
	struct report r = table();
	char *text, *line, *rest;
	u32 columns;

	(void)state;
	/* Below 48 columns even the shortest columns do not fit, and lines are cut. */
	for (columns = 48; columns < 130; columns++) {
		rest = text = shown(&r, columns, 0);
		while ((line = strsep(&rest, "\n")))
			assert_true(terminal_columns(line) <= columns);
		free(text);
	}
	report__free(&r);
}

/* Rows beyond the terminal are counted, together with those that --top has hidden; a total is always shown. */
static void tables_end_with_the_terminal(void **state)
{
	struct report r = { .tool = "t", .value = "v", .table = true, .has_events = true, .hidden = 100 };
	char *text;
	u64 i;

	(void)state;
	for (i = 0; i < 40; i++)
		add_file(&r, i, "x", 1, 1, 1, 1, "y");
	r.row[39].is_total = true;
	text = shown(&r, 100, 24);
	assert_non_null(strstr(text, "\n 13  x"));
	assert_null(strstr(text, "\n 14  x"));
	assert_non_null(strstr(text, "\n 39  x"));
	assert_non_null(strstr(text, "not shown: 125 rows (--top N)\n"));
	free(text);
	text = shown(&r, 100, 0);
	assert_non_null(strstr(text, "\n 38  x"));
	free(text);
	report__free(&r);
}

static void check_paragraph(u32 columns, u32 indent, const char *text, const char *expected)
{
	struct terminal t = { .columns = columns };
	char *said = NULL;
	size_t n;
	FILE *f = open_memstream(&said, &n);

	terminal__put_paragraph(f, &t, text, indent);
	fclose(f);
	assert_string_equal(said, expected);
	free(said);
}

static void paragraphs_break_between_words(void **state)
{
	(void)state;
	check_paragraph(0, 4, "one two three\n", "one two three\n");
	check_paragraph(20, 4, "one two three four five six\n", "one two three four\n    five six\n");
	check_paragraph(20, 2, "  indented two three four\n", "  indented two three\n  four\n");
	check_paragraph(20, 2, "a-word-that-is-wider-than-any b\nc\n", "a-word-that-is-wider-than-any\n  b\nc\n");
	check_paragraph(20, 2, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 1234567890 x\n",
			"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 1234567890\n  x\n");
}

static void check_cut(u32 columns, bool colour, const char *text, const char *expected)
{
	struct terminal t = { columns, 0, colour };
	char *said = NULL;
	size_t n;
	FILE *f = open_memstream(&said, &n);

	terminal__put_cut(f, &t, text);
	fclose(f);
	assert_string_equal(said, expected);
	free(said);
}

static void lines_end_with_the_terminal(void **state)
{
	(void)state;
	check_cut(10, false, "1234567890\n12345678901\n", "1234567890\n1234567...\n");
	check_cut(10, false, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4",
		  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
	check_cut(10, true, "\033[1m1234567890\033[0m\n\033[1m12345678901\033[0m\n",
		  "\033[1m1234567890\033[0m\n\033[1m1234567...\033[0m\n");
	check_cut(0, false, "12345678901\n", "12345678901\n");
}

static void what_is_no_terminal_has_no_size_and_no_colours(void **state)
{
	FILE *f = tmpfile();
	struct terminal t = terminal__of(f);

	(void)state;
	assert_true(!t.columns && !t.rows && !t.colour);
	assert_string_equal(terminal_style(&t, STYLE_HEADING), "");
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipes_get_all_digits),
		cmocka_unit_test(wide_terminals_get_all_columns),
		cmocka_unit_test(narrow_terminals_get_what_matters),
		cmocka_unit_test(spare_columns_go_first),
		cmocka_unit_test(nothing_is_wider_than_the_terminal),
		cmocka_unit_test(tables_end_with_the_terminal),
		cmocka_unit_test(paragraphs_break_between_words),
		cmocka_unit_test(lines_end_with_the_terminal),
		cmocka_unit_test(what_is_no_terminal_has_no_size_and_no_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
