// SPDX-License-Identifier: BSD-2-Clause
/* Heat maps: each cell compared with the values it was made of; rows, columns, shades; appearance. */
#include "unit.h"

#include "report/heat.h"
#include "report/xml.h"

static const struct heat_style plain = {.width = 80};

/* A value that an interval saw, and how many times. */
struct sight {
	u64 value, times;
};

static struct report interval_report(u64 duration_ns)
{
	return (struct report){
		.tool = "test",
		.value = "time",
		.unit = UNIT_NS,
		.has_events = true,
		.cpus = 1,
		.start_ns = 1700000000ULL * NSEC_PER_SEC,
		.duration_ns = duration_ns,
	};
}

static void add_sights(struct report *r, const char *comm, const struct sight *s, size_t n)
{
	struct dense *d = calloc(1, sizeof(*d));
	struct report_group g = {};
	size_t i;

	for (i = 0; i < n; i++)
		dense__add_many(d, s[i].value, s[i].times);
	r->events += d->count;
	g.hist = dense__histogram(d);
	if (comm) {
		g.key = calloc(1, sizeof(*g.key));
		g.key[g.nkey++] = (struct field){.name = "comm", .text = strdup(comm)};
	}
	assert_int_equal(report__add_group(r, &g), 0);
	free(d);
}

static int add(struct heat *h, u64 duration_ns, const struct sight *s, size_t n)
{
	struct report r = interval_report(duration_ns);
	int err;

	if (n)
		add_sights(&r, NULL, s, n);
	err = heat__add(h, &r);
	report__free(&r);
	return err;
}

static struct heat *new_heat(u64 interval_ns)
{
	return heat__new(plain, interval_ns, false, 4, -1);
}

/* Returns the text of the picture. */
static char *drawn(struct heat *h, enum report_format format)
{
	char *text = NULL;
	size_t n = 0;
	struct writer w = {.file = open_memstream(&text, &n), .format = format};

	assert_int_equal(heat__write(h, &w), 0);
	fclose(w.file);
	return text;
}

/* Returns the row of a value by the rows' own bounds, and checks that there is exactly one. */
static u32 row_of(const struct heat_grid *g, u64 value)
{
	u32 row, found = UINT32_MAX;

	for (row = 0; row < g->rows; row++) {
		assert_true(heat_grid__low(g, row) <= heat_grid__high(g, row));
		if (row)
			assert_int_equal(heat_grid__low(g, row), heat_grid__high(g, row - 1) + 1);
		if (heat_grid__low(g, row) <= value && value <= heat_grid__high(g, row)) {
			assert_int_equal(found, UINT32_MAX);
			found = row;
		}
	}
	assert_int_not_equal(found, UINT32_MAX);
	return found;
}

/* Random values in random intervals: each cell equals a plain count of them. */
static void cells_are_exact(void **state)
{
	static const u32 sizes[][2] = {{20, 60}, {61, 600}, {5, 7}, {1, 1}};
	struct random random = {1};
	u32 trial, i, k, row, column;

	(void)state;
	for (trial = 0; trial < 40; trial++) {
		u32 intervals = 1 + random__below(&random, 100), n = random__below(&random, 30);
		struct sight *seen = calloc(intervals * (n + 1), sizeof(*seen));
		const u32 *size = sizes[trial % ARRAY_SIZE(sizes)];
		struct heat *h = new_heat(NSEC_PER_SEC);
		struct heat_grid g;
		u64 all = 0, *expected;

		for (i = 0; i < intervals; i++) {
			for (k = 0; k < n; k++)
				seen[i * n + k] = (struct sight){random__any_size(&random),
								 1 + random__below(&random, 5)};
			assert_int_equal(add(h, NSEC_PER_SEC, seen + i * n, n), 0);
		}
		assert_int_equal(heat_grid__make(&g, h, size[0], size[1]), 0);
		assert_true(g.rows <= size[0] && g.columns <= size[1]);
		expected = calloc((size_t)g.rows * g.columns + 1, sizeof(*expected));
		for (i = 0; i < intervals * n; i++) {
			expected[i / n / g.per_column * g.rows + row_of(&g, seen[i].value)] +=
				seen[i].times;
			all += seen[i].times;
		}
		for (column = 0; column < g.columns; column++)
			for (row = 0; row < g.rows; row++)
				assert_int_equal(heat_grid__cell(&g, 0, column, row),
						 expected[column * g.rows + row]);
		if (n) {
			assert_int_equal(h->map[0].total.count, all);
			assert_int_equal(h->total.events, all);
		}
		free(expected);
		free(seen);
		heat_grid__free(&g);
		heat__free(h);
	}
}

/* With the same events each second, columns of 3 and of 0.7 seconds have the shade of the others. */
static void shades_are_of_rates(void **state)
{
	static const u64 tenths[] = {10, 30, 7, 10};
	struct heat *h = new_heat(NSEC_PER_SEC);
	struct heat_grid g;
	char *text;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(tenths); i++)
		assert_int_equal(add(h, tenths[i] * NSEC_PER_SEC / 10, &(struct sight){1, 10 * tenths[i]}, 1), 0);
	assert_int_equal(heat_grid__make(&g, h, 20, 40), 0);
	for (i = 0; i < ARRAY_SIZE(tenths); i++) {
		assert_int_equal(heat_grid__cell(&g, 0, i, 0), 10 * tenths[i]);
		assert_int_equal(heat_grid__rate(&g, 0, i, 0), 100);
	}
	assert_int_equal(g.most, 100);
	assert_true(heat_grid__is_uneven(&g));
	heat_grid__free(&g);
	text = drawn(h, FORMAT_TEXT);
	assert_non_null(strstr(text, "|@@@@@@@@@@@@@@@@| 570\n"));
	assert_non_null(strstr(text, "columns took 700 ms to 3.00 s: shades show events per unit of time\n"));
	free(text);
	text = drawn(h, FORMAT_SVG);
	assert_non_null(strstr(text, "300 events, 100 per 1.00 s</title>"));
	assert_non_null(strstr(text, ">events in a cell per 1.00 s</text>"));
	assert_non_null(strstr(text, "4 columns of 1.00 s that took 700 ms to 3.00 s"));
	free(text);
	heat__free(h);
}

/* Two kinds of sleep give two bands, with nothing between them. */
static void two_modes_are_two_bands(void **state)
{
	static const struct sight seen[] = {{1000000, 90}, {16000000, 10}};
	struct heat *h = new_heat(NSEC_PER_SEC);
	u32 i, row, low, high;
	struct heat_grid g;

	(void)state;
	for (i = 0; i < 30; i++)
		assert_int_equal(add(h, NSEC_PER_SEC, seen, 2), 0);
	assert_int_equal(heat_grid__make(&g, h, 20, 40), 0);
	assert_int_equal(g.columns, 30);
	low = row_of(&g, 1000000);
	high = row_of(&g, 16000000);
	assert_int_equal(low, 0);
	assert_int_equal(high, g.rows - 1);
	for (i = 0; i < g.columns; i++) {
		for (row = 0; row < g.rows; row++)
			assert_int_equal(heat_grid__cell(&g, 0, i, row), row == low    ? 90
									 : row == high ? 10
										       : 0);
	}
	assert_int_equal(g.most, 90);
	heat_grid__free(&g);
	heat__free(h);
}

static void all_of_u64_fits(void **state)
{
	static const struct sight ends[] = {{0, 1}, {UINT64_MAX, 3}}, largest = {UINT64_MAX, 7};
	struct heat *h = new_heat(NSEC_PER_SEC);
	struct heat_grid g;
	char *text;

	(void)state;
	assert_int_equal(add(h, NSEC_PER_SEC, ends, 2), 0);
	assert_int_equal(heat_grid__make(&g, h, 20, 40), 0);
	assert_int_equal(heat_grid__low(&g, 0), 0);
	assert_true(heat_grid__high(&g, g.rows - 1) == UINT64_MAX);
	assert_int_equal(heat_grid__cell(&g, 0, 0, 0), 1);
	assert_int_equal(heat_grid__cell(&g, 0, 0, g.rows - 1), 3);
	heat_grid__free(&g);
	free(drawn(h, FORMAT_TEXT));
	free(drawn(h, FORMAT_SVG));
	heat__free(h);

	/* A single value gives one row of one bucket. */
	h = new_heat(NSEC_PER_SEC);
	assert_int_equal(add(h, NSEC_PER_SEC, &largest, 1), 0);
	assert_int_equal(heat_grid__make(&g, h, 20, 40), 0);
	assert_int_equal(g.rows, 1);
	assert_int_equal(g.step, 1);
	assert_int_equal(heat_grid__cell(&g, 0, 0, 0), 7);
	heat_grid__free(&g);
	text = drawn(h, FORMAT_TEXT);
	assert_non_null(strstr(text, "|@@@@| 7\n"));
	free(text);
	heat__free(h);
}

/* If there are too many intervals, they are merged in pairs, and nothing is lost. */
static void long_runs_are_merged(void **state)
{
	struct heat *h = new_heat(NSEC_PER_SEC);
	u32 i, n = 5 * HEAT_SPANS + 7, column;
	u64 all = 0, time = 0;
	struct heat_grid g;

	(void)state;
	for (i = 0; i < n; i++) {
		struct sight s = {100 + i % 2, 1};

		/* Every seventh interval sees nothing. */
		assert_int_equal(add(h, NSEC_PER_SEC, &s, i % 7 != 0), 0);
	}
	assert_true(h->nspans <= HEAT_SPANS && h->nspans > HEAT_SPANS / 2);
	assert_int_equal(h->per_span, 8);
	assert_int_equal(heat_grid__make(&g, h, 20, HEAT_SPANS), 0);
	for (column = 0; column < g.columns; column++) {
		struct heat_span s = heat_grid__span(&g, h, column);
		u64 count = heat_grid__cell(&g, 0, column, 0), wanted = 0;

		assert_int_equal(s.start_ns, time);
		for (i = column * 8; i < column * 8 + 8 && i < n; i++)
			wanted += i % 7 != 0;
		assert_int_equal(count, wanted);
		all += count;
		time += s.duration_ns;
	}
	assert_int_equal(all, n - (n + 6) / 7);
	assert_int_equal(time, n * NSEC_PER_SEC);
	heat_grid__free(&g);
	heat__free(h);
}

/* The short rest of an interval at the end of a run is merged into the interval before. */
static void a_short_rest_is_no_column(void **state)
{
	static const struct sight one = {5, 1};
	struct heat *h = new_heat(NSEC_PER_SEC);

	(void)state;
	assert_int_equal(add(h, NSEC_PER_SEC, &one, 1), 0);
	assert_int_equal(add(h, 50000, &one, 1), 0);
	assert_int_equal(h->nspans, 1);
	assert_int_equal(h->span[0].duration_ns, NSEC_PER_SEC + 50000);
	assert_int_equal(h->map[0].slice[0].hist.count, 2);
	assert_int_equal(add(h, NSEC_PER_SEC / 2, &one, 1), 0);
	assert_int_equal(h->nspans, 2);
	heat__free(h);
}

static void an_empty_run_says_so(void **state)
{
	struct heat *h = new_heat(NSEC_PER_SEC);
	char *text;

	(void)state;
	assert_int_equal(add(h, NSEC_PER_SEC, NULL, 0), 0);
	text = drawn(h, FORMAT_TEXT);
	assert_non_null(strstr(text, "no event happened in that time"));
	assert_null(strchr(text, '|'));
	free(text);
	text = drawn(h, FORMAT_SVG);
	assert_non_null(strstr(text, "no event happened in that time"));
	assert_non_null(strstr(text, "</svg>\n"));
	free(text);
	heat__free(h);
}

static void keys_have_maps_the_largest_first(void **state)
{
	static const char *const names[] = {"small", "<b>&\"\x1b", "large", "middle"};
	struct heat *h = heat__new(plain, NSEC_PER_SEC, false, 3, report_sort_column("count"));
	struct heat_grid g;
	char *text;
	u32 i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct report r = interval_report(NSEC_PER_SEC);
		const struct sight sizes[] = {{10, 1}, {20, 5}, {30, 90}, {40, 10}};

		for (k = 0; k < ARRAY_SIZE(names); k++)
			add_sights(&r, names[(k + i) % 4], &sizes[(k + i) % 4], 1);
		assert_int_equal(heat__add(h, &r), 0);
		report__free(&r);
	}
	assert_int_equal(heat_grid__make(&g, h, 20, 40), 0);
	assert_int_equal(g.nmaps, 3);
	assert_string_equal(g.map[0]->key->text, "large");
	assert_string_equal(g.map[1]->key->text, "middle");
	for (i = 0; i < 3; i++) {
		assert_int_equal(heat_grid__cell(&g, 0, i, row_of(&g, 30)), 90);
		assert_int_equal(heat_grid__cell(&g, 1, i, row_of(&g, 40)), 10);
		assert_int_equal(heat_grid__cell(&g, 2, i, row_of(&g, 20)), 5);
		assert_int_equal(heat_grid__cell(&g, 0, i, row_of(&g, 40)), 0);
	}
	heat_grid__free(&g);
	text = drawn(h, FORMAT_SVG);
	assert_non_null(strstr(text, "comm &lt;b&gt;&amp;&quot;\\x1b: 15 events"));
	assert_null(strstr(text, "<b>"));
	assert_null(strchr(text, '\x1b'));
	free(text);
	text = drawn(h, FORMAT_TEXT);
	assert_non_null(strstr(text, "comm large\n"));
	assert_null(strstr(text, "comm small\n"));
	assert_non_null(strstr(text, "1 more not shown (--top)"));
	assert_null(strchr(text, '\x1b'));
	free(text);
	heat__free(h);
}

static void shades_hide_nothing(void **state)
{
	static const u64 mosts[] = {1, 2, 3, 9, 10, 100, 12345, 1ULL << 40, UINT64_MAX};
	struct heat_shades s;
	size_t i;
	u32 n, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(mosts); i++) {
		for (n = 1; n <= HEAT_SHADES; n++) {
			heat_shades__make(&s, mosts[i], n);
			assert_true(s.n >= 1 && s.n <= n && s.n <= mosts[i]);
			assert_int_equal(s.from[0], 1);
			assert_int_equal(heat_shade(&s, 0), -1);
			assert_int_equal(heat_shade(&s, 1), 0);
			assert_int_equal(heat_shade(&s, mosts[i]), s.n - 1);
			assert_int_equal(heat_shade_colour(&s, s.n - 1, n), n - 1);
			for (k = 1; k < s.n; k++) {
				assert_true(s.from[k] > s.from[k - 1] && s.from[k] <= mosts[i]);
				assert_int_equal(heat_shade(&s, s.from[k]), k);
				assert_int_equal(heat_shade(&s, s.from[k] - 1), k - 1);
			}
		}
	}
}

/* Histograms with bounds of their own have rows with these bounds, and signed values. */
static void own_bounds(void **state)
{
	static const s64 bound[] = {-10, 0, 10};
	u64 counts[] = {1, 0, 2, 3};
	struct histogram_totals totals = {5, 40ULL ^ 1ULL << 63, ~((u64)-20 ^ 1ULL << 63)};
	struct report r = interval_report(NSEC_PER_SEC);
	struct heat *h = new_heat(NSEC_PER_SEC);
	struct report_group group = {};
	struct heat_grid g;
	char *text;

	(void)state;
	r.unit = UNIT_COUNT;
	assert_int_equal(histogram__init(&group.hist, counts, 0, 4, &totals), 0);
	histogram__set_bounds(&group.hist, bound, ARRAY_SIZE(bound));
	assert_int_equal(report__add_group(&r, &group), 0);
	assert_int_equal(heat__add(h, &r), 0);
	report__free(&r);
	assert_int_equal(heat_grid__make(&g, h, 20, 40), 0);
	assert_int_equal(g.rows, 4);
	assert_int_equal(heat_grid__cell(&g, 0, 0, 0), 1);
	assert_int_equal(heat_grid__cell(&g, 0, 0, 2), 2);
	assert_int_equal(heat_grid__cell(&g, 0, 0, 3), 3);
	assert_int_equal((s64)heat_grid__low(&g, 1), -10);
	assert_int_equal((s64)heat_grid__high(&g, 1), -1);
	heat_grid__free(&g);
	text = drawn(h, FORMAT_TEXT);
	assert_non_null(strstr(text, "     or more +----+ events\n"
				     "          10 |@@@@| 3\n"
				     "           0 |++++| 2\n"
				     "         -10 |    |\n"
				     "       below |....| 1\n"));
	free(text);
	heat__free(h);
}

static void long_lines_are_cut(void **state)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	put_xml_head(f, "", 3);
	put_xml_head(f, "a<b", 3);
	fputc(' ', f);
	put_xml_head(f,
		     "gr\xc3\xbc\xc3\x9f"
		     "e",
		     4);
	fputc(' ', f);
	put_xml_head(f,
		     "gr\xc3\xbc\xc3\x9f"
		     "e",
		     3);
	fclose(f);
	assert_string_equal(text, "a&lt;b gr\xc3\xbc\xc3\x9f.. gr\xc3\xbc..");
	free(text);
}

static size_t occurrences(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* If all rows of all columns have events, columns are merged so that the file stays small. */
static void files_are_bounded(void **state)
{
	struct heat *h = new_heat(NSEC_PER_SEC);
	struct sight seen[64];
	char *text;
	u32 i, k;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(seen); k++)
		seen[k] = (struct sight){ 1ULL << k, 1 };
	for (i = 0; i < HEAT_SPANS; i++)
		assert_int_equal(add(h, NSEC_PER_SEC, seen, ARRAY_SIZE(seen)), 0);
	text = drawn(h, FORMAT_SVG);
	assert_true(strlen(text) < 2500000);
	/* 1, 2, 4, and 8 are in the first row; 4 intervals are a column. */
	assert_int_equal(occurrences(text, "<title>"), 1 + 61 * HEAT_SPANS / 4);
	assert_non_null(strstr(text, "150 columns, each 4 intervals of 1.00 s, 38,400 events"));
	assert_non_null(strstr(text, "<title>0 ns - 16 ns\n0 s - 4.00 s\n16 events</title>"));
	free(text);
	heat__free(h);
}

static void tables_are_refused(void **state)
{
	struct report r = interval_report(NSEC_PER_SEC);
	struct heat *h = new_heat(NSEC_PER_SEC);

	(void)state;
	r.table = true;
	assert_int_equal(heat__add(h, &r), -EOPNOTSUPP);
	heat__free(h);
}

/* Checks the picture of known counts in each style, and that lines are never wider than the style says. */
static void the_picture(void **state)
{
	static const struct sight seen[] = {{1, 1}, {2, 100}};
	struct heat *h = new_heat(NSEC_PER_SEC);
	char *text;

	(void)state;
	assert_int_equal(add(h, NSEC_PER_SEC, seen, 2), 0);
	assert_int_equal(add(h, NSEC_PER_SEC, NULL, 0), 0);
	assert_int_equal(add(h, NSEC_PER_SEC, seen, 1), 0);
	text = drawn(h, FORMAT_TEXT);
	assert_non_null(strstr(text, "        3 ns +------------+ events\n"
				     "        2 ns |@@@@        | 100\n"
				     "        1 ns |....    ....| 2\n"
				     "             +'-----------+\n"
				     "              0 s\n"));
	assert_non_null(strstr(text, "a column is 1.00 s, the first starts at "));
	assert_non_null(strstr(text, "events in a cell per 1.00 s: . 1  : 2  - 3-4  = 5-7  "));
	free(text);
	h->style.utf8 = true;
	text = drawn(h, FORMAT_TEXT);
	assert_non_null(strstr(text, "        2 ns |████        | 100\n"
				     "        1 ns |░░░░    ░░░░| 2\n"));
	free(text);
	h->style.colour = true;
	text = drawn(h, FORMAT_TEXT);
	assert_int_equal(occurrences(text, "\033[48;5;53m \033[0m"), 2 * 4 + 1);
	assert_non_null(strstr(text, "        1 ns |\033[48;5;53m \033[0m\033[48;5;53m \033[0m"));
	free(text);
	heat__free(h);
}

static void the_style_is_the_environments(void **state)
{
	FILE *file = tmpfile();
	struct heat_style s;

	(void)state;
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	setenv("TERM", "xterm-256color", 1);
	setenv("LANG", "de_DE.UTF-8", 1);
	setenv("COLUMNS", "132", 1);
	s = heat_style__of(file);
	assert_int_equal(s.width, 132);
	assert_true(s.utf8);
	assert_false(s.colour); /* a file is not a terminal */
	setenv("LC_ALL", "C", 1);
	assert_false(heat_style__of(file).utf8);
	unsetenv("LC_ALL");
	setenv("TERM", "dumb", 1);
	assert_false(heat_style__of(file).utf8);
	setenv("COLUMNS", "many", 1);
	assert_int_equal(heat_style__of(file).width, 80);
	setenv("COLUMNS", "3", 1);
	assert_int_equal(heat_style__of(file).width, 60);
	unsetenv("COLUMNS");
	assert_int_equal(heat_style__of(file).width, 80);
	fclose(file);
}

/* Live output has a line for each interval. The scale is repeated when it gets wider, and once per screenful. */
static void live_lines(void **state)
{
	char *text = NULL, *line;
	size_t n = 0;
	struct writer w = {.file = open_memstream(&text, &n), .format = FORMAT_TEXT};
	struct heat *h = heat__new(plain, NSEC_PER_SEC, true, 4, -1);
	u32 i;

	(void)state;
	for (i = 0; i < 45; i++) {
		struct report r = interval_report(NSEC_PER_SEC);
		const struct sight seen[] = {{1000, 97}, {i < 30 ? 2000 : 1ULL << 60, 3}};

		if (i)
			add_sights(&r, NULL, seen, 2);
		assert_int_equal(heat__add(h, &r), 0);
		assert_int_equal(heat__write_line(h, &w, &r), 0);
		report__free(&r);
	}
	fclose(w.file);
	assert_int_equal(occurrences(text, "\ntime "), 4); /* at 0, 1, 21 and 30 */
	assert_int_equal(occurrences(text, "|        100 "), 44);
	assert_int_equal(occurrences(text, "@"), 44 + 1); /* 97 %; and in the legend */
	assert_int_equal(occurrences(text, "-"), 44 + 1); /* 3 % */
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80 || strstr(line, "share of"));
	free(text);
	heat__free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_are_exact),
		cmocka_unit_test(shades_are_of_rates),
		cmocka_unit_test(two_modes_are_two_bands),
		cmocka_unit_test(all_of_u64_fits),
		cmocka_unit_test(long_runs_are_merged),
		cmocka_unit_test(a_short_rest_is_no_column),
		cmocka_unit_test(an_empty_run_says_so),
		cmocka_unit_test(keys_have_maps_the_largest_first),
		cmocka_unit_test(shades_hide_nothing),
		cmocka_unit_test(own_bounds),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(files_are_bounded),
		cmocka_unit_test(tables_are_refused),
		cmocka_unit_test(the_picture),
		cmocka_unit_test(live_lines),
		cmocka_unit_test(the_style_is_the_environments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
