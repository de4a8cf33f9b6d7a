// SPDX-License-Identifier: BSD-2-Clause
/* The report model: adding, sorting, --top; and the error of a writer that cannot write. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "report/html.h"

static const char *const columns[] = {
	"key", "count", "sum", "min", "avg", "max", "p50", "p90", "p99", "p999",
};

static void columns_and_formats_have_names(void **state)
{
	static const char *const none[] = { "", "Count", "p99.9", "p100", "key ", "count,sum" };
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		assert_true(report_sort_column(columns[i]) >= 0);
		assert_non_null(strstr(report_sort_columns(), columns[i]));
		for (k = 0; k < i; k++)
			assert_int_not_equal(report_sort_column(columns[i]),
					     report_sort_column(columns[k]));
	}
	for (i = 0; i < ARRAY_SIZE(none); i++)
		assert_int_equal(report_sort_column(none[i]), -EINVAL);
	assert_int_equal(report_format("text"), FORMAT_TEXT);
	assert_int_equal(report_format("json"), FORMAT_JSON);
	assert_int_equal(report_format("csv"), FORMAT_CSV);
	assert_int_equal(report_format("xml"), -EINVAL);
	assert_int_equal(report_format(""), -EINVAL);
	assert_int_equal(report_format("JSON"), -EINVAL);
}

static u64 figure(const struct histogram *h, const char *column)
{
	if (!strcmp(column, "count"))
		return h->count;
	if (!strcmp(column, "sum"))
		return h->sum;
	if (!strcmp(column, "min"))
		return h->min;
	if (!strcmp(column, "max"))
		return h->max;
	if (!strcmp(column, "p50"))
		return histogram__percentile(h, 5000);
	if (!strcmp(column, "p90"))
		return histogram__percentile(h, 9000);
	if (!strcmp(column, "p99"))
		return histogram__percentile(h, 9900);
	if (!strcmp(column, "p999"))
		return histogram__percentile(h, 9990);
	return 0;                       /* key */
}

/* > 0 if a is greater. Averages are quotients, and differ by less than 1. */
static int compare_figures(const struct histogram *a, const struct histogram *b, const char *column)
{
	bool is_mean = !strcmp(column, "avg");
	__int128 x = is_mean ? (__int128)a->sum * b->count : figure(a, column);
	__int128 y = is_mean ? (__int128)b->sum * a->count : figure(b, column);

	return x < y ? -1 : x > y;
}

/* Adds groups whose figures differ or are equal, with many ties; a key is a name and a number. */
static void fill(struct report *r, struct random *random, u32 n)
{
	char name[8];
	u32 i, k;

	for (i = 0; i < n; i++) {
		struct dense d = {};

		for (k = 1 + random__below(random, 4); k; k--)
			dense__add(&d, random__below(random, 2) ? random__below(random, 4) :
								  random__any_size(random) >> 8);
		snprintf(name, sizeof(name), "n%llu", random__below(random, 20));
		add_group(r, FIELDS(text_field("comm", name), number_field("pid", i)), &d);
	}
}

static int compare_keys(const struct report_group *a, const struct report_group *b)
{
	int d = strcmp(a->key[0].text, b->key[0].text);

	if (d)
		return d;
	return a->key[1].number < b->key[1].number ? -1 : a->key[1].number > b->key[1].number;
}

static void every_column_sorts(void **state)
{
	struct random r = { 26 };
	size_t c, i;
	u32 n;
	int d;

	(void)state;
	for (n = 0; n < 300; n++)
		for (c = 0; c < ARRAY_SIZE(columns); c++) {
			struct report report = { .tool = "t" };

			fill(&report, &r, n % 50);
			report__sort_groups(&report, report_sort_column(columns[c]), 0);
			assert_int_equal(report.ngroups, n % 50);
			assert_int_equal(report.hidden, 0);
			for (i = 1; i < report.ngroups; i++) {
				d = compare_figures(&report.group[i - 1].hist, &report.group[i].hist, columns[c]);
				assert_true(d >= 0);            /* largest first */
				if (!d)                         /* then by key, ascending */
					assert_true(compare_keys(&report.group[i - 1],
								 &report.group[i]) < 0);
			}
			report__free(&report);
		}
}

/* Sorting keeps every group exactly once, and complete. */
static void sorting_loses_nothing(void **state)
{
	struct report report = { .tool = "t" };
	struct random r = { 27 };
	u64 sums[500], maxima[500];
	bool seen[500] = {};
	size_t i;
	u64 pid;

	(void)state;
	fill(&report, &r, 500);
	for (i = 0; i < 500; i++) {
		sums[i] = report.group[i].hist.sum;
		maxima[i] = report.group[i].hist.max;
	}
	report__sort_groups(&report, report_sort_column("max"), 0);
	for (i = 0; i < 500; i++) {
		pid = report.group[i].key[1].number;
		assert_false(seen[pid]);
		seen[pid] = true;
		assert_int_equal(report.group[i].hist.sum, sums[pid]);
		assert_int_equal(report.group[i].hist.max, maxima[pid]);
	}
	report__free(&report);
}

static void numbers_sort_as_numbers(void **state)
{
	static const u64 pids[] = { 100, 9, UINT64_MAX, 0, 1ULL << 63, 10 };
	static const u64 sorted[] = { 0, 9, 10, 100, 1ULL << 63, UINT64_MAX };
	struct report report = { .tool = "t" };
	struct dense d = {};
	size_t i;

	(void)state;
	dense__add(&d, 1);
	for (i = 0; i < ARRAY_SIZE(pids); i++)
		add_group(&report, FIELDS(number_field("pid", pids[i])), &d);
	report__sort_groups(&report, report_sort_column("key"), 0);
	for (i = 0; i < ARRAY_SIZE(sorted); i++)
		assert_int_equal(report.group[i].key[0].number, sorted[i]);
	report__free(&report);
}

static void top_keeps_the_first(void **state)
{
	static const size_t tops[] = { 1, 2, 10, 49, 50, 51, 1000, 0 };
	struct random r = { 28 };
	size_t i, k, want;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(tops); i++) {
		struct report all = { .tool = "t" }, cut = { .tool = "t" };

		fill(&all, &r, 50);
		for (k = 0; k < all.ngroups; k++) {
			struct report_group *g = &all.group[k];
			struct dense d = {};

			dense__add(&d, g->hist.sum);
			add_group(&cut, FIELDS(text_field("comm", g->key[0].text),
					       number_field("pid", g->key[1].number)), &d);
		}
		report__sort_groups(&all, report_sort_column("sum"), 0);
		report__sort_groups(&cut, report_sort_column("sum"), tops[i]);
		want = !tops[i] || tops[i] > 50 ? 50 : tops[i];
		assert_int_equal(cut.ngroups, want);
		assert_int_equal(cut.hidden, 50 - want);
		for (k = 0; k < want; k++)
			assert_int_equal(compare_keys(&all.group[k], &cut.group[k]), 0);
		report__free(&all);
		report__free(&cut);
		assert_int_equal(cut.hidden, 0);
	}
}

static void sorting_nothing(void **state)
{
	struct report report = { .tool = "t" };

	(void)state;
	report__sort_groups(&report, report_sort_column("sum"), 5);
	assert_int_equal(report.ngroups, 0);
	assert_int_equal(report.hidden, 0);
	report__free(&report);
}

static struct report small_report(void)
{
	struct report report = { .tool = "t", .value = "v", .has_events = true };
	struct dense d = {};

	dense__add(&d, 1);
	add_group(&report, NULL, 0, &d);
	return report;
}

/* Writes a page to its end, since the writer holds it back until it is complete. */
static int write_whole(struct writer *w, const struct report *r)
{
	int err = writer__write(w, r);

	return err ?: html__end(w);
}

/* Depending on the buffering, the error shows up in fflush() or in the printing before it. */
static const int buffering[] = { _IOFBF, _IOLBF, _IONBF };

static void a_reader_that_has_gone(void **state)
{
	struct report report = small_report();
	enum report_format format;
	int fds[2];
	size_t i;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	for (format = 0; format < FORMAT_FOLDED; format++)
		for (i = 0; i < ARRAY_SIZE(buffering); i++) {
			struct writer w = { .format = format, .separator = ',' };

			assert_int_equal(pipe(fds), 0);
			w.file = fdopen(fds[1], "w");
			assert_non_null(w.file);
			setvbuf(w.file, NULL, buffering[i], 0);
			close(fds[0]);
			assert_int_equal(write_whole(&w, &report), -EPIPE);
			fclose(w.file);
		}
	report__free(&report);
}

static void a_full_disk(void **state)
{
	struct report report = small_report();
	enum report_format format;
	size_t i;

	(void)state;
	for (format = 0; format < FORMAT_FOLDED; format++)
		for (i = 0; i < ARRAY_SIZE(buffering); i++) {
			struct writer w = { .format = format, .separator = ',' };

			w.file = fopen("/dev/full", "w");
			assert_non_null(w.file);
			setvbuf(w.file, NULL, buffering[i], 0);
			assert_int_equal(write_whole(&w, &report), -ENOSPC);
			fclose(w.file);
		}
	report__free(&report);
}

static void the_report_is_flushed(void **state)
{
	struct report report = small_report();
	struct writer w = { .format = FORMAT_JSON };
	char text[4096];
	ssize_t n;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	w.file = fdopen(fds[1], "w");
	assert_non_null(w.file);
	assert_int_equal(writer__write(&w, &report), 0);
	n = read(fds[0], text, sizeof(text));
	assert_true(n > 0);
	assert_int_equal(text[n - 1], '\n');
	fclose(w.file);
	close(fds[0]);
	report__free(&report);
}

static void free_of_nothing(void **state)
{
	struct report report = {};
	struct report_group g = {};
	struct report_row row = {};

	(void)state;
	report__free(&report);
	report_group__free(&g);
	report_row__free(&row);
	assert_int_equal(report.ngroups, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_and_formats_have_names),
		cmocka_unit_test(every_column_sorts),
		cmocka_unit_test(sorting_loses_nothing),
		cmocka_unit_test(numbers_sort_as_numbers),
		cmocka_unit_test(top_keeps_the_first),
		cmocka_unit_test(sorting_nothing),
		cmocka_unit_test(a_reader_that_has_gone),
		cmocka_unit_test(a_full_disk),
		cmocka_unit_test(the_report_is_flushed),
		cmocka_unit_test(free_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
