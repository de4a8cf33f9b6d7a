// SPDX-License-Identifier: BSD-2-Clause
/*
 * Comparison of saved runs: histograms, tables and stacks with known answers, files that tally does
 * not write, and unescaping.
 */
#include "unit.h"

#include <fcntl.h>
#include <jansson.h>
#include <unistd.h>

#include "machine/diff/diff.h"
#include "report/escape.h"

#define HEADER                                                                                     \
	"\"tool\":\"runqlat\",\"value\":\"wait\",\"unit\":\"ns\",\"duration_ns\":1000000000,"      \
	"\"events\":3,\"lost\":{\"map_full\":1,\"missed\":2},"

static char path[2][32];

/* Writes two files. */
static void save(const char *before, const char *after)
{
	const char *const text[] = {before, after};
	int i, fd;

	for (i = 0; i < 2; i++) {
		strcpy(path[i], "/tmp/test_diff.XXXXXX");
		fd = mkstemp(path[i]);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, text[i], strlen(text[i])), strlen(text[i]));
		close(fd);
	}
}

/* Hides diagnostics, which are not tested here. */
static int quietly(int (*what)(void *), void *with)
{
	int null = open("/dev/null", O_WRONLY), saved = dup(STDERR_FILENO), err;

	fflush(stderr);
	dup2(null, STDERR_FILENO);
	err = what(with);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	return err;
}

struct request {
	enum report_format format;
	size_t top;
	char *text;
};

static int do_compare(void *with)
{
	struct request *q = with;
	struct saved before, after = {};
	size_t n = 0;
	struct writer w = {
		.file = open_memstream(&q->text, &n),
		.format = q->format,
		.separator = ',',
	};
	int err = saved__read(&before, path[0]);

	if (!err)
		err = saved__read(&after, path[1]);
	if (!err)
		err = diff__write(&w, &before, &after, q->top);
	fclose(w.file);
	saved__free(&before);
	saved__free(&after);
	unlink(path[0]);
	unlink(path[1]);
	return err;
}

/* Returns the comparison of two files as text, which the caller frees. */
static char *compared_as(enum report_format format, size_t top, const char *before,
			 const char *after)
{
	struct request q = {format, top, NULL};

	save(before, after);
	assert_int_equal(quietly(do_compare, &q), 0);
	return q.text;
}

static json_t *compared(const char *before, const char *after)
{
	char *text = compared_as(FORMAT_JSON, 0, before, after);
	json_t *o = json_loads(text, 0, NULL);

	assert_non_null(o);
	free(text);
	return o;
}

static int refused(const char *before, const char *after)
{
	struct request q = {FORMAT_JSON, 0, NULL};
	int err;

	save(before, after);
	err = quietly(do_compare, &q);
	free(q.text);
	return err;
}

static bool is_text(const json_t *row, const char *name, const char *text)
{
	const char *value = json_string_value(json_object_get(row, name));

	return value && !strcmp(value, text);
}

/* Returns the row whose member name is text, and whose figure or part is the given one. */
static json_t *row_of(json_t *report, const char *name, const char *text, const char *figure)
{
	json_t *rows = json_object_get(report, "rows"), *row, *found = NULL;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if ((name && !is_text(row, name, text)) ||
		    (!is_text(row, "figure", figure) && !is_text(row, "part", figure)))
			continue;
		assert_null(found);
		found = row;
	}
	assert_non_null(found);
	return found;
}

static s64 integer(const json_t *row, const char *name)
{
	const json_t *v = json_object_get(row, name);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static double real(const json_t *row, const char *name)
{
	const json_t *v = json_object_get(row, name);

	assert_true(json_is_real(v));
	return json_real_value(v);
}

#define SAYS(row, text)                                                                            \
	assert_string_equal(json_string_value(json_object_get(row, "verdict")), text)

/* Two intervals before and one after, with a key that appears and one that disappears. */
static void histograms(void **state)
{
	static const char before[] =
		"{" HEADER
		"\"groups\":[{\"key\":{\"comm\":\"a\"},\"count\":60,\"sum\":6000,\"min\":100,"
		"\"avg\":100,\"max\":100,\"p50\":1,\"buckets\":[[100,103,60]]}]}\n"
		"{" HEADER
		"\"groups\":[{\"key\":{\"comm\":\"gone\"},\"count\":1,\"sum\":5,\"min\":5,"
		"\"avg\":5,\"max\":5,\"p50\":5,\"buckets\":[[5,5,1]]},"
		"{\"key\":{\"comm\":\"a\"},\"count\":140,\"sum\":27900,\"min\":100,"
		"\"avg\":1,\"max\":200,\"p50\":1,\"buckets\":[[100,103,1],[200,207,139]]}]}\n";
	static const char after[] =
		"{" HEADER
		"\"groups\":[{\"key\":{\"comm\":\"new\"},\"count\":1,\"sum\":5,\"min\":5,"
		"\"avg\":5,\"max\":5,\"p50\":5,\"buckets\":[[5,5,1]]},"
		"{\"key\":{\"comm\":\"a\"},\"count\":100,\"sum\":50000,\"min\":208,"
		"\"avg\":500,\"max\":1000,\"p50\":1,\"buckets\":[[208,215,60],[992,1023,40]]}]}\n";
	json_t *r = compared(before, after), *row;

	(void)state;
	row = row_of(r, "comm", "a", "count");
	assert_int_equal(integer(row, "before"), 200);
	assert_int_equal(integer(row, "after"), 100);
	assert_true(real(row, "change_percent") == -50);
	row = row_of(r, "comm", "a", "avg");
	assert_int_equal(integer(row, "before"), 33900 / 200);
	assert_int_equal(integer(row, "after"), 500);
	row = row_of(r, "comm", "a", "p50");
	assert_int_equal(integer(row, "before"), 200); /* 207 without the maximum */
	assert_int_equal(integer(row, "after"), 215);
	SAYS(row, "within a bucket");
	row = row_of(r, "comm", "a", "p90");
	assert_int_equal(integer(row, "before"), 200);
	assert_int_equal(integer(row, "after"), 1000);
	SAYS(row, "grew by 800 ns, to 5.00 times");
	SAYS(row_of(r, "comm", "a", "p99.9"), "too few values to tell");
	row = row_of(r, "comm", "a", "max");
	assert_int_equal(integer(row, "after"), 1000);
	SAYS(row_of(r, "comm", "new", "count"), "new");
	assert_true(json_is_null(json_object_get(row_of(r, "comm", "new", "p50"), "before")));
	SAYS(row_of(r, "comm", "gone", "count"), "gone");
	assert_true(json_is_null(json_object_get(row_of(r, "comm", "gone", "max"), "after")));
	json_decref(r);

	r = compared(after, after);
	SAYS(row_of(r, "comm", "a", "p99"), "same");
	SAYS(row_of(r, "comm", "a", "max"), "same");
	json_decref(r);
}

/* Any histogram that our writer has written is read back unchanged, up to 2^64 - 1. */
static void all_histograms_read_back(void **state)
{
	struct random random = {7};
	int trial, k;

	(void)state;
	for (trial = 0; trial < 30; trial++) {
		struct dense *d = calloc(1, sizeof(*d));
		struct report r = {
			.tool = "t",
			.value = "v",
			.unit = UNIT_NS,
			.start_ns = 1,
			.has_events = true,
		};
		struct report_group g = {};
		struct histogram h;
		char *text = NULL;
		size_t n = 0;
		struct writer w = {.file = open_memstream(&text, &n), .format = FORMAT_JSON};
		json_t *o;

		for (k = 0; k < 20; k++)
			dense__add_many(d, random__any_size(&random),
					1 + random__below(&random, 99));
		if (trial == 0)
			dense__add(d, UINT64_MAX);
		h = dense__histogram(d);
		g.hist = dense__histogram(d);
		assert_int_equal(report__add_group(&r, &g), 0);
		assert_int_equal(writer__write(&w, &r), 0);
		fclose(w.file);
		o = compared(text, text);
		assert_int_equal(integer(row_of(o, NULL, NULL, "count"), "before"), d->count);
		for (k = 0; k < 4; k++) {
			u64 p = histogram__percentile(&h, report_percentiles[k].per_10k), read;

			assert_int_equal(
				saved_member(row_of(o, NULL, NULL, report_percentiles[k].text),
					     "after", &read),
				0);
			/* A number above 2^63 is a JSON real, which is inexact above 2^53. */
			assert_true(p <= INT64_MAX ? read == p : read - p + 2048 <= 4096);
		}
		json_decref(o);
		histogram__free(&h);
		report__free(&r);
		free(text);
		free(d);
	}
}

/* Histograms with bounds of their own have signs, but no percentiles. */
static void histograms_with_own_bounds(void **state)
{
	static const char run[] =
		"{" HEADER "\"groups\":[{\"key\":{},\"count\":3,\"sum\":-30,\"min\":-20,"
		"\"avg\":-10,\"max\":-1,\"buckets\":[[null,-1,3]]}]}\n";
	json_t *r = compared(run, run);

	(void)state;
	assert_int_equal(integer(row_of(r, NULL, NULL, "count"), "before"), 3);
	assert_int_equal(integer(row_of(r, NULL, NULL, "avg"), "after"), -10);
	assert_int_equal(integer(row_of(r, NULL, NULL, "max"), "after"), -1);
	assert_int_equal(json_array_size(json_object_get(r, "rows")), 3);
	json_decref(r);
}

static void tables(void **state)
{
	static const char before[] =
		"{\"tool\":\"schedlat\",\"value\":\"v\",\"rows\":[{\"tid\":1,\"comm\":\"x\","
		"\"runtime\":10,"
		"\"switches\":2,\"avg\":5,\"max\":7,\"max_at\":\"12:00\"}]}\n"
		"{\"tool\":\"schedlat\",\"value\":\"v\",\"rows\":[{\"tid\":1,\"comm\":\"y\","
		"\"runtime\":5,"
		"\"switches\":3,\"avg\":9,\"max\":6,\"max_at\":\"12:01\"},"
		"{\"tid\":2,\"comm\":\"y\",\"runtime\":1,\"switches\":1,\"avg\":null,\"max\":null,"
		"\"max_at\":null}]}\n";
	static const char after[] = "{\"tool\":\"schedlat\",\"value\":\"v\",\"rows\":[{\"tid\":1,"
				    "\"comm\":\"x\",\"runtime\":30,"
				    "\"switches\":2,\"avg\":4,\"max\":9,\"max_at\":\"13:00\"}]}\n";
	json_t *r = compared(before, after), *row, *rows = json_object_get(r, "rows");
	size_t i;

	(void)state;
	assert_int_equal(integer(json_array_get(rows, 0), "tid"), 1); /* changed most */
	json_array_foreach(rows, i, row)
	{
		bool first = integer(row, "tid") == 1;
		const json_t *was = json_object_get(row, "before"),
			     *is = json_object_get(row, "after");

		SAYS(row, first ? "" : "gone");
		if (!first)
			continue;
		if (is_text(row, "figure", "runtime")) {
			assert_int_equal(json_integer_value(was), 15);
			assert_int_equal(json_integer_value(is), 30);
			assert_true(real(row, "change_percent") == 100);
		} else if (is_text(row, "figure", "switches")) {
			assert_int_equal(json_integer_value(was), 5);
		} else if (is_text(row, "figure", "avg")) {
			assert_true(json_is_null(was)); /* unknown for two intervals */
			assert_int_equal(json_integer_value(is), 4);
		} else {
			assert_true(is_text(row, "figure", "max"));
			assert_int_equal(json_integer_value(was), 7);
			assert_int_equal(json_integer_value(is), 9);
		}
	}
	assert_int_equal(i, 4 + 2);
	json_decref(r);
}

/* Sums above and below zero stay integers, up to the limits of 64 bits. */
static void signed_sums_of_tables(void **state)
{
#define SUM(n) "{\"tool\":\"probe\",\"value\":\"v\",\"rows\":[{\"event\":\"e\",\"sum\":" n "}]}\n"
	static const char before[] = SUM("5") SUM("-9007199254740993") SUM("-9");
	static const char after[] = SUM("-9223372036854775807") SUM("-9");
	json_t *r = compared(before, after), *row = json_array_get(json_object_get(r, "rows"), 0);

	(void)state;
	assert_true(is_text(row, "figure", "sum"));
	assert_int_equal(integer(row, "before"), -9007199254740997);
	assert_true(real(row, "after") == -0x1p63);
	json_decref(r);
#undef SUM
}

/* Units are those that the report names, for any tool. Without them, figures are plain numbers. */
static void units_of_tables(void **state)
{
#define TABLE(units, rows) "{\"tool\":\"filetop\",\"value\":\"v\"," units "\"rows\":[" rows "]}\n"
#define UNITS "\"units\":{\"time\":\"ns\",\"bytes\":\"bytes\",\"growth\":\"bytes\"},"
	static const char before[] =
		TABLE(UNITS, "{\"comm\":\"x\",\"reads\":1500,\"time\":1000,\"bytes\":1024,\"growth\":-2048}")
		TABLE(UNITS, "{\"comm\":\"x\",\"reads\":500,\"time\":1500000,\"bytes\":3072,\"growth\":null}");
	static const char after[] =
		TABLE(UNITS, "{\"comm\":\"x\",\"reads\":4000,\"time\":3002000,\"bytes\":0,\"growth\":1024}");
	static const char plain[] = TABLE("", "{\"comm\":\"x\",\"time\":3002000}");
	static const char wrong[] = TABLE("\"units\":[1],", "{\"comm\":\"x\",\"time\":3002000}")
		TABLE("\"units\":{\"time\":7},", "{\"comm\":\"x\",\"time\":1}");
	char *text = compared_as(FORMAT_TEXT, 0, before, after);
	json_t *r = compared(before, after);

	(void)state;
	assert_non_null(strstr(text, "1.50 ms"));       /* two intervals, added up */
	assert_non_null(strstr(text, "3.00 ms"));
	assert_non_null(strstr(text, "4.00 KiB"));
	assert_non_null(strstr(text, "2,000"));
	assert_non_null(strstr(text, "-2.00 KiB"));
	free(text);
	assert_int_equal(integer(row_of(r, NULL, NULL, "time"), "before"), 1501000);
	assert_int_equal(integer(row_of(r, NULL, NULL, "growth"), "before"), -2048);
	assert_true(real(row_of(r, NULL, NULL, "reads"), "change_percent") == 100);
	json_decref(r);
	text = compared_as(FORMAT_TEXT, 0, plain, wrong);
	assert_non_null(strstr(text, "3,002,000"));
	assert_non_null(strstr(text, "3,002,001"));
	free(text);
}

/* The writer names units, but only those of columns that have the same unit in all rows. */
static void units_are_written(void **state)
{
	struct report r = { .tool = "t", .value = "v", .table = true, .start_ns = 1 };
	const enum field_kind kinds[][2] = {
		{ FIELD_DURATION, FIELD_TIME }, { FIELD_SIZE, FIELD_NONE },
		{ FIELD_NUMBER, FIELD_TIME }, { FIELD_NUMBER, FIELD_NUMBER },
	};
	static const char *const names[] = { "a", "b", "c", "d" };
	char *text = NULL;
	size_t n, i, k;
	struct writer w = { .file = open_memstream(&text, &n), .format = FORMAT_JSON };
	json_t *o, *units;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct report_row row = {};
		int err = report_row__add_text(&row, "name", "x");

		for (k = 0; k < ARRAY_SIZE(kinds); k++)
			err = err ?: report_row__add_number(&row, names[k], 1, kinds[k][i]);
		assert_int_equal(report__end_row(&r, &row, err), 0);
	}
	assert_int_equal(writer__write(&w, &r), 0);
	fclose(w.file);
	o = json_loads(text, 0, NULL);
	units = json_object_get(o, "units");
	assert_int_equal(json_object_size(units), 2);
	assert_true(is_text(units, "a", "ns") && is_text(units, "b", "bytes"));
	json_decref(o);
	report__free(&r);
	free(text);
}

#define FRAME(name) "{\"name\":\"" name "\",\"module\":\"m\",\"offset\":1,\"addr\":\"0x1\"}"
#define STACK(frames, value)                                                                       \
	"{\"key\":{\"comm\":\"c\"},\"frames\":[" frames "],\"value\":" value "}"
#define PROFILE "{\"tool\":\"profile\",\"value\":\"CPU time\",\"unit\":\"count\",\"stacks\":["

static const char stacks_before[] =
	PROFILE STACK(FRAME("main") "," FRAME("f") "," FRAME("f"),
		      "30") "," STACK(FRAME("main") "," FRAME("gone"), "70") "]}\n";
static const char stacks_after[] =
	PROFILE STACK(FRAME("main") "," FRAME("f") "," FRAME("f"),
		      "60") "," STACK(FRAME("main") "," FRAME("f"),
				      "20") "," STACK(FRAME("<b>\\\\x3cb\\\\x5c"), "120") "]}\n";

static void stacks(void **state)
{
	json_t *r = compared(stacks_before, stacks_after), *row;

	(void)state;
	row = row_of(r, "name", "f", "self");
	assert_int_equal(integer(row, "before"), 30);
	assert_int_equal(integer(row, "after"), 80);
	assert_true(real(row, "before_percent") == 30 && real(row, "after_percent") == 40);
	assert_true(real(row, "points") == 10);
	row = row_of(r, "name", "f", "total");
	assert_int_equal(integer(row, "before"), 30); /* twice in the stack, once in the sum */
	assert_int_equal(integer(row, "after"), 80);
	row = row_of(r, "name", "main", "total");
	assert_int_equal(integer(row, "before"), 100);
	assert_true(real(row, "points") == -60);
	row = row_of(r, "name", "gone", "self");
	assert_int_equal(integer(row, "after"), 0);
	row = row_of(r, "name", "c;main;f;f", "stack");
	assert_int_equal(integer(row, "before"), 30);
	assert_int_equal(integer(row, "after"), 60);
	/* Text is unescaped and escaped again, so characters that need no escape become plain. */
	row_of(r, "name", "<b><b\\x5c", "self");
	json_decref(r);
}

static void flame_graph(void **state)
{
	char *text = compared_as(FORMAT_FLAME, 10, stacks_before, stacks_after);

	(void)state;
	assert_non_null(strstr(text, "<g class=\"b3\"><title>main\n80 events, 40.00%\n"
				     "before: 100 events, 100.00%; -60.00 points</title>"));
	assert_non_null(strstr(text,
			       "<g class=\"r3\"><title>&lt;b&gt;&lt;b\\x5c\n120 events, 60.00%\n"
			       "before: 0 events, 0.00%; +60.00 points</title>"));
	assert_null(strstr(text, "<title>gone\n"));
	assert_non_null(strstr(text, "only in before, not drawn: 70 events, 70.00% of before"));
	assert_null(strstr(text, "<b>"));
	free(text);
	text = compared_as(FORMAT_FLAME, 10, stacks_before, PROFILE "]}\n");
	assert_non_null(strstr(text, "</svg>"));
	free(text);
}

static void top_and_text(void **state)
{
	static const char run[] =
		"{\"tool\":\"stat\",\"value\":\"v\",\"rows\":[{\"event\":\"a\",\"count\":1},"
		"{\"event\":\"b\\\\x1b[2J\",\"count\":2}]}\n";
	char *text = compared_as(FORMAT_TEXT, 1, run, run);

	(void)state;
	assert_non_null(strstr(text, "1 more not shown (--top)"));
	free(text);
	text = compared_as(FORMAT_TEXT, 0, run, run);
	assert_non_null(strstr(text, "b\\x1b[2J"));
	assert_null(strchr(text, '\x1b'));
	free(text);
}

#define RUN(rest) "{" HEADER rest "}\n"
#define GROUP(rest) RUN("\"groups\":[{\"key\":{}," rest "}]")
#define FIGURES "\"sum\":1,\"min\":1,\"max\":1,\"p50\":1,"

/* None of these is a report; the last ones are not two runs of the same thing. */
static void malformed_files(void **state)
{
	static const char good[] = GROUP("\"count\":1," FIGURES "\"buckets\":[[1,1,1]]");
	static const char *const bad[] = {
		"",
		"\n\n",
		"nonsense\n",
		"[]\n",
		"{}\n",
		"1\n",
		"{\"tool\":\"runqlat\"}\n",
		"{\"tool\":5,\"groups\":[]}\n",
		RUN("\"groups\":{}"),
		RUN("\"groups\":[],\"rows\":[]"),
		RUN("\"groups\":[]") RUN("\"groups\":[],\"tool\":\"other\""),
		RUN("\"groups\":[5]"),
		RUN("\"groups\":[],\"hidden\":-1"),
		RUN("\"groups\":[],\"hidden\":\"x\""),
		GROUP("\"count\":1"),
		GROUP("\"count\":2," FIGURES "\"buckets\":[[1,1,1]]"),
		GROUP("\"count\":-1," FIGURES "\"buckets\":[[1,1,-1]]"),
		GROUP("\"count\":1," FIGURES "\"buckets\":[[33,33,1]]"),
		GROUP("\"count\":1," FIGURES "\"buckets\":[[1,1]]"),
		GROUP("\"count\":1," FIGURES "\"buckets\":[[1.5,1,1]]"),
		GROUP("\"count\":1," FIGURES "\"buckets\":[[-1,1,1]]"),
		GROUP("\"count\":2," FIGURES "\"buckets\":[[1,1,1],[1,1,1]]"),
		GROUP("\"count\":2," FIGURES "\"buckets\":[[1,1,1],[0,0,1]]"),
		GROUP("\"count\":1," FIGURES "\"buckets\":[[5,5,1]]"),
		GROUP("\"count\":0," FIGURES "\"buckets\":[[1,1,9223372036854775807],[2,2,1e19]]"),
		RUN("\"groups\":[{\"key\":[],\"count\":1," FIGURES "\"buckets\":[[1,1,1]]}]"),
		RUN("\"groups\":[{\"key\":{\"a\":{}},\"count\":1," FIGURES
		    "\"buckets\":[[1,1,1]]}]"),
		RUN("\"groups\":[{\"key\":{\"\\u001b\":1},\"count\":1," FIGURES
		    "\"buckets\":[[1,1,1]]}]"),
	};
	char *deep = malloc(200002);
	size_t i;

	(void)state;
	assert_int_equal(refused(good, good), 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_true(refused(bad[i], good) < 0);
		assert_true(refused(good, bad[i]) < 0);
	}
	memset(deep, '[', 200000);
	strcpy(deep + 200000, "\n");
	assert_int_equal(refused(good, deep), -EINVAL);
	free(deep);
	/* Each file is valid by itself, but the two have nothing in common. */
	assert_int_equal(refused(good, stacks_after), -EINVAL);
	assert_int_equal(refused(good, "{"
				       "\"tool\":\"runqlat\",\"value\":\"wait\",\"unit\":\"bytes\","
				       "\"groups\":[]}\n"),
			 -EINVAL);
	assert_int_equal(refused(good, RUN("\"groups\":[{\"key\":{\"pid\":1},\"count\":1," FIGURES
					   "\"buckets\":[[1,1,1]]}]")),
			 -EINVAL);
}

/* Events of a stream may precede the report, and empty lines are ignored. */
static void other_lines(void **state)
{
	static const char run[] = "{\"time_ns\":1,\"comm\":\"x\",\"values\":{}}\n\n"
				  "{\"tool\":\"t\",\"value\":\"v\",\"rows\":[]}";

	(void)state;
	assert_int_equal(refused(run, run), 0);
}

static void escapes_are_undone(void **state)
{
	static const char *const same[] = {"", "x", "\\", "\\x", "\\x5", "\\x00", "\\xZZ", "\\x5C"};
	struct random random = {3};
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(same); i++) {
		char text[16];

		strcpy(text, same[i]);
		escape_undo(text);
		assert_string_equal(text, same[i]);
	}
	for (i = 0; i < 2000; i++) {
		char raw[32] = "", *escaped;

		for (k = 0; k < random__below(&random, 20); k++)
			raw[k] = 1 + random__below(&random, 255);
		escaped = escape_string(raw);
		escape_undo(escaped);
		assert_string_equal(escaped, raw);
		free(escaped);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histograms),
		cmocka_unit_test(all_histograms_read_back),
		cmocka_unit_test(histograms_with_own_bounds),
		cmocka_unit_test(tables),
		cmocka_unit_test(signed_sums_of_tables),
		cmocka_unit_test(units_of_tables),
		cmocka_unit_test(units_are_written),
		cmocka_unit_test(stacks),
		cmocka_unit_test(flame_graph),
		cmocka_unit_test(top_and_text),
		cmocka_unit_test(malformed_files),
		cmocka_unit_test(other_lines),
		cmocka_unit_test(escapes_are_undone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
