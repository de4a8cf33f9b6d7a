// SPDX-License-Identifier: BSD-2-Clause
/* Reports for people: no control characters for the terminal, no overflow, aligned columns. */
#include "unit.h"

#define BAR_WIDTH 40

static char *text_of(const struct report *r)
{
	struct writer w = { .format = FORMAT_TEXT };
	size_t len;

	return written(&w, r, &len);
}

static void assert_harmless(const char *text)
{
	const unsigned char *p;

	if (!is_utf8(text, strlen(text)))
		fail_msg("no UTF-8: %s", text);
	for (p = (const unsigned char *)text; *p; p++)
		if ((*p < 0x20 && *p != '\n') || *p == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0))
			fail_msg("control character %02x at %td", *p, (const char *)p - text);
	assert_null(strstr(text, "\xe2\x80\xae"));     /* right-to-left override */
}

static u32 count_of(const char *text, char c)
{
	u32 n = 0;

	for (; *text; text++)
		n += *text == c;
	return n;
}

static void hostile_keys(void **state)
{
	char comm[60], path[100];
	struct random r = { 22 };
	struct dense d = {};
	char *text;
	u32 n;

	(void)state;
	dense__add(&d, 1000);
	for (n = 0; n < 5000; n++) {
		struct report report = { .tool = "t", .value = "wait", .unit = UNIT_NS };

		random__hostile(&r, comm, sizeof(comm));
		random__hostile(&r, path, sizeof(path));
		add_group(&report, FIELDS(text_field("cgroup", path), number_field("pid", n),
					  text_field("comm", comm)), &d);
		report.group[0].key[2].role = n % 2 ? ROLE_LABEL : ROLE_KEY;
		text = text_of(&report);
		assert_harmless(text);
		free(text);
		report__free(&report);
	}
}

static void hostile_cells(void **state)
{
	char name[60], words[100];
	struct random r = { 23 };
	char *text;
	u32 n, k;

	(void)state;
	for (n = 0; n < 2000; n++) {
		struct report report = { .tool = "t" };

		for (k = 0; k < 3; k++) {
			random__hostile(&r, name, sizeof(name));
			random__hostile(&r, words, sizeof(words));
			add_row(&report, FIELDS(text_field("a", name), number_field("n", n),
						text_field("b", words)));
		}
		text = text_of(&report);
		assert_harmless(text);
		assert_int_equal(count_of(text, '\n'), 3);
		free(text);
		report__free(&report);
	}
}

/* The names of files and functions in a source are not trusted. */
static void hostile_source(void **state)
{
	struct report report = {
		.tool = "t", .value = "wait", .kernel = "6.1\x1b[2J", .cpus = 1,
		.source = "uprobe /tmp/\x1b]0;x\x07\x9b\n", .caveat = "in \xe2\x80\xae/tmp/x\r",
	};
	char *text = text_of(&report);

	(void)state;
	assert_harmless(text);
	assert_int_equal(count_of(text, '\n'), 3);
	free(text);
}

/* Reads the lines of a histogram: the count before the share, and the length of the bar after it. */
static u32 read_rows(const char *text, u64 *counts, u32 *bars, u32 most)
{
	const char *line, *bar, *p;
	u32 n = 0;
	u64 unit;

	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		bar = strchr(line, '|');
		if (!bar || bar > strchr(line, '\n'))
			continue;
		assert_true(n < most);
		bars[n] = strspn(bar + 1, "#");
		assert_int_equal(bar[1 + bars[n]], '\n');
		for (p = bar; *p != '%'; p--)
			;
		while (*p != ' ')
			p--;
		while (*p == ' ')
			p--;
		counts[n] = 0;
		for (unit = 1; *p != ' '; p--) {
			if (*p == ',')
				continue;
			counts[n] += unit * (*p - '0');
			unit *= 10;
		}
		n++;
	}
	return n;
}

static void bars_and_counts(void **state)
{
	u64 rows[HISTOGRAM_POWER_ROWS], counts[HISTOGRAM_POWER_ROWS], most;
	u32 bars[HISTOGRAM_POWER_ROWS], n, k, i, lines;
	struct random r = { 24 };

	(void)state;
	for (n = 0; n < 3000; n++) {
		struct report report = { .tool = "t", .value = "wait", .unit = n % 3 };
		struct dense d = {};
		char *text;
		u32 used = 0;

		for (k = 1 + random__below(&r, 30); k; k--)
			dense__add_many(&d, random__any_size(&r), 1 + (random__any_size(&r) >> 6));
		add_group(&report, NULL, 0, &d);
		text = text_of(&report);
		assert_harmless(text);
		lines = read_rows(text, counts, bars, HISTOGRAM_POWER_ROWS);
		histogram__by_power(&report.group[0].hist, rows);
		for (i = 0, most = 0; i < HISTOGRAM_POWER_ROWS; i++)
			most = rows[i] > most ? rows[i] : most;
		for (i = 0, k = 0; i < lines; i++) {
			assert_true(bars[i] <= BAR_WIDTH);
			assert_int_equal(bars[i] == 0, counts[i] == 0);
			assert_true(bars[i] >= BAR_WIDTH * ((double)counts[i] / most) - 0.001);
			assert_true(bars[i] < BAR_WIDTH * ((double)counts[i] / most) + 1.001);
			if (!counts[i])
				continue;       /* an empty row between others */
			while (!rows[k])
				k++;
			assert_int_equal(counts[i], rows[k++]);
			used++;
		}
		for (i = 0, k = 0; i < HISTOGRAM_POWER_ROWS; i++)
			k += rows[i] != 0;
		assert_int_equal(used, k);
		free(text);
		report__free(&report);
	}
}

static void counts_of_2_to_the_63(void **state)
{
	struct report report = {
		.tool = "t", .value = "wait", .unit = UNIT_NS, .has_events = true,
		.events = 1ULL << 63, .start_ns = UINT64_MAX, .duration_ns = UINT64_MAX,
	};
	u64 counts[HISTOGRAM_POWER_ROWS];
	u32 bars[HISTOGRAM_POWER_ROWS];
	struct dense d = {};
	char *text;

	(void)state;
	dense__add_many(&d, 5, 1ULL << 63);
	dense__add_many(&d, UINT64_MAX, (1ULL << 63) - 1);
	report.counters.filtered = UINT64_MAX;
	report.counters.lost[LOSS_MAP_FULL] = UINT64_MAX;
	add_group(&report, NULL, 0, &d);
	text = text_of(&report);
	assert_harmless(text);
	assert_int_equal(read_rows(text, counts, bars, HISTOGRAM_POWER_ROWS), 2);
	assert_int_equal(counts[0], 1ULL << 63);
	assert_int_equal(counts[1], (1ULL << 63) - 1);
	assert_int_equal(bars[0], BAR_WIDTH);
	assert_int_equal(bars[1], BAR_WIDTH);
	assert_non_null(strstr(text, "count 18,446,744,073,709,551,615"));
	assert_non_null(strstr(text, "events 9,223,372,036,854,775,808"));
	assert_non_null(strstr(text, "filtered 18,446,744,073,709,551,615"));
	assert_non_null(strstr(text, "lost 18,446,744,073,709,551,615"));
	free(text);
	report__free(&report);
}

/* All '|' of a histogram are in one column, whatever the numbers. */
static void histogram_columns_are_aligned(void **state)
{
	struct random r = { 25 };
	char *text, *line, *bar;
	ptrdiff_t column;
	u32 n, k;

	(void)state;
	for (n = 0; n < 1000; n++) {
		struct report report = { .tool = "t", .value = "wait", .unit = n % 2 };
		struct dense d = {};

		for (k = 1 + random__below(&r, 20); k; k--)
			dense__add_many(&d, random__any_size(&r) >> 10,
					1 + random__below(&r, 1000000));
		report.unit = n % 2 ? UNIT_NS : UNIT_BYTES;
		add_group(&report, NULL, 0, &d);
		text = text_of(&report);
		column = -1;
		for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			bar = strchr(line, '|');
			if (!bar)
				continue;
			if (column < 0)
				column = bar - line;
			assert_int_equal(bar - line, column);
		}
		assert_true(column > 0);
		free(text);
		report__free(&report);
	}
}

static void table_columns_are_aligned(void **state)
{
	struct report report = { .tool = "t" };
	char *text;

	(void)state;
	add_row(&report, FIELDS(text_field("a", "x"), number_field("n", 5),
				text_field("b", "end")));
	add_row(&report, FIELDS(text_field("a", "longer"), number_field("n", 1234567),
				text_field("b", "of the line")));
	add_row(&report, FIELDS(text_field("a", "a\n"), number_field("n", 0),
				text_field("b", "z")));
	text = text_of(&report);
	assert_string_equal(text, "x               5  end\n"
				  "longer  1,234,567  of the line\n"
				  "a\\x0a           0  z\n");
	free(text);
	report__free(&report);
}

/* Columns have letters that take several bytes each, and one place on the screen. */
static void table_columns_of_other_scripts(void **state)
{
	struct report report = { .tool = "t" };
	char *text;

	(void)state;
	add_row(&report, FIELDS(text_field("a", "\xc3\xa9t\xc3\xa9"), text_field("b", "|")));
	add_row(&report, FIELDS(text_field("a", "abcd"), text_field("b", "|")));
	text = text_of(&report);
	assert_string_equal(text, "\xc3\xa9t\xc3\xa9   |\nabcd  |\n");
	free(text);
	report__free(&report);
}

static void every_loss_is_named(void **state)
{
	struct report report = { .tool = "t", .value = "wait", .has_events = true };
	char *text, line[200];
	u32 i, total[LOSS_KINDS] = {};

	(void)state;
	for (i = 0; i < LOSS_REASONS; i++)
		total[loss_kind(i)] += report.counters.lost[i] = 10 + i;
	text = text_of(&report);
	for (i = 0; i < LOSS_REASONS; i++) {
		snprintf(line, sizeof(line), loss_is_hidden(i) ? "%2$u %1$s (%3$s: %4$s)" : "  %s: %u %s: %s\n",
			 loss_kind_name(loss_kind(i)), 10 + i, loss_name(i), loss_sentence(i));
		assert_non_null(strstr(text, line));
	}
	snprintf(line, sizeof(line), "  lost %u  inexact %u\n", total[LOSS_LOST], total[LOSS_INEXACT]);
	assert_non_null(strstr(text, line));
	free(text);
}

/* One sentence says what this kernel hides; a sample that did not come was not hidden. */
static void what_the_kernel_hides_is_one_line(void **state)
{
	struct report report = { .tool = "t", .value = "wait", .has_events = true, .events = 9 };
	char *text;

	(void)state;
	report.counters.lost[LOSS_MISSED] = 6;
	report.counters.lost[LOSS_NO_STATE] = 2;
	text = text_of(&report);
	assert_non_null(strstr(text, "events 9  filtered 0  lost 6  inexact 2\n"
			       "  programs do not see everything on this kernel: 6 lost (missed: no program "
			       "was run for them), 2 inexact (no_state: the task's earlier state is unknown: "
			       "the value may be wrong)\n"));
	free(text);
	report.is_sampled = true;
	report.counters.lost[LOSS_NO_STATE] = 0;
	text = text_of(&report);
	assert_non_null(strstr(text, "lost 6\n  lost: 6 missed: no program was run for them: the CPU was stalled, or "
			       "was running a BPF program of another tracer\n"));
	free(text);
}

static void bounds_are_marked(void **state)
{
	struct report report = { .tool = "t", .value = "wait", .unit = UNIT_NS };
	struct dense d = {};
	char *text;

	(void)state;
	dense__add(&d, 1100);
	dense__add(&d, 5200000);
	add_group(&report, NULL, 0, &d);
	text = text_of(&report);
	assert_non_null(strstr(text, "  min 1.10 us  "));
	assert_non_null(strstr(text, "  max 5.20 ms  "));
	free(text);
	report.group[0].hist.min_exact = report.group[0].hist.max_exact = false;
	text = text_of(&report);
	assert_non_null(strstr(text, "  min >= 1.10 us  "));
	assert_non_null(strstr(text, "  max <= 5.20 ms  "));
	free(text);
	report__free(&report);
}

static void what_top_hides_is_said(void **state)
{
	struct report report = { .tool = "t", .value = "wait", .has_events = true, .hidden = 12 };
	char *text = text_of(&report);

	(void)state;
	assert_non_null(strstr(text, "12 more not shown"));
	free(text);
}

static void an_empty_report_says_so(void **state)
{
	struct report report = { .tool = "t", .value = "wait", .has_events = true };
	char *text = text_of(&report);

	(void)state;
	assert_non_null(strstr(text, "no event happened"));
	free(text);
	report.counters.filtered = 5;
	text = text_of(&report);
	assert_null(strstr(text, "no event happened"));
	assert_non_null(strstr(text, "no event was in scope"));
	free(text);
	report.counters.lost[LOSS_MAP_FULL] = 1;        /* then something did happen */
	text = text_of(&report);
	assert_null(strstr(text, "no event"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_keys),
		cmocka_unit_test(hostile_cells),
		cmocka_unit_test(hostile_source),
		cmocka_unit_test(bars_and_counts),
		cmocka_unit_test(counts_of_2_to_the_63),
		cmocka_unit_test(histogram_columns_are_aligned),
		cmocka_unit_test(table_columns_are_aligned),
		cmocka_unit_test(table_columns_of_other_scripts),
		cmocka_unit_test(every_loss_is_named),
		cmocka_unit_test(what_the_kernel_hides_is_one_line),
		cmocka_unit_test(bounds_are_marked),
		cmocka_unit_test(what_top_hides_is_said),
		cmocka_unit_test(an_empty_report_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
