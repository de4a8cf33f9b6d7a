// SPDX-License-Identifier: BSD-2-Clause
/* Reports as JSON, read back with jansson and compared with what went in. */
#include "unit.h"

#include <jansson.h>

#include "report/escape.h"

static json_t *read_back(struct report *r)
{
	struct writer w = { .format = FORMAT_JSON };
	json_error_t error;
	size_t len;
	char *text = written(&w, r, &len);
	json_t *o;

	assert_true(len > 2);
	assert_true(is_utf8(text, len));
	assert_ptr_equal(strchr(text, '\n'), text + len - 1);   /* one line */
	o = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!o)
		fail_msg("%s: %s", error.text, text);
	free(text);
	return o;
}

/* Expects an integer, or a real if jansson has no integer that large. */
static void assert_number(const json_t *value, __int128 want)
{
	assert_non_null(value);
	if (want <= INT64_MAX) {
		assert_true(json_is_integer(value));
		assert_int_equal(json_integer_value(value), want);
	} else {
		assert_true(json_is_real(value));
		assert_true(json_real_value(value) == (double)want);
	}
}

static void assert_text(const json_t *value, const char *want)
{
	char *text = escape_string(want);

	assert_true(json_is_string(value));
	assert_string_equal(json_string_value(value), text);
	free(text);
}

static void assert_group(const json_t *group, const struct histogram *h)
{
	const json_t *buckets = json_object_get(group, "buckets"), *b;
	size_t i;

	assert_number(json_object_get(group, "count"), h->count);
	assert_number(json_object_get(group, "sum"), h->sum);
	assert_number(json_object_get(group, "min"), h->min);
	assert_number(json_object_get(group, "max"), h->max);
	assert_number(json_object_get(group, "avg"), h->count ? h->sum / h->count : 0);
	assert_number(json_object_get(group, "p50"), histogram__percentile(h, 5000));
	assert_number(json_object_get(group, "p90"), histogram__percentile(h, 9000));
	assert_number(json_object_get(group, "p99"), histogram__percentile(h, 9900));
	assert_number(json_object_get(group, "p999"), histogram__percentile(h, 9990));
	assert_int_equal(json_array_size(buckets), h->nbuckets);
	for (i = 0; i < h->nbuckets; i++) {
		b = json_array_get(buckets, i);
		assert_int_equal(json_array_size(b), 3);
		assert_number(json_array_get(b, 0), histogram_bucket_first(h->bucket[i].index));
		assert_number(json_array_get(b, 1), histogram_bucket_last(h->bucket[i].index));
		assert_number(json_array_get(b, 2), h->bucket[i].count);
	}
}

static void any_bytes_any_numbers(void **state)
{
	char tool[40], source[80], kernel[40], comm[40], path[200];
	struct random r = { 18 };
	u32 n, k, i, groups;

	(void)state;
	for (n = 0; n < 2000; n++) {
		struct report report = {
			.tool = tool, .source = source, .kernel = kernel, .value = "wait",
			.unit = UNIT_NS, .cpus = random__below(&r, 8192), .has_events = true,
			.start_ns = random__any_size(&r) | 1, .duration_ns = random__any_size(&r),
			.events = random__any_size(&r),
		};
		json_t *o, *list, *key;

		random__hostile(&r, tool, sizeof(tool));
		random__hostile(&r, source, sizeof(source));
		random__hostile(&r, kernel, sizeof(kernel));
		report.counters.filtered = random__any_size(&r);
		groups = random__below(&r, 4);
		for (i = 0; i < groups; i++) {
			struct dense d = {};

			random__hostile(&r, comm, sizeof(comm));
			random__hostile(&r, path, sizeof(path));
			for (k = random__below(&r, 10); k; k--)
				dense__add_many(&d, random__any_size(&r),
						random__any_size(&r) >> 5);
			add_group(&report,
				  FIELDS(number_field("pid", random__any_size(&r)),
					 text_field("comm", comm), text_field("cgroup", path)), &d);
		}
		o = read_back(&report);
		assert_text(json_object_get(o, "tool"), tool);
		assert_text(json_object_get(o, "source"), source);
		assert_text(json_object_get(o, "kernel"), kernel);
		assert_number(json_object_get(o, "start_ns"), report.start_ns);
		assert_number(json_object_get(o, "duration_ns"), report.duration_ns);
		assert_number(json_object_get(o, "events"), report.events);
		assert_number(json_object_get(o, "filtered"), report.counters.filtered);
		list = json_object_get(o, "groups");
		assert_int_equal(json_array_size(list), groups);
		for (i = 0; i < groups; i++) {
			const struct report_group *g = &report.group[i];

			assert_group(json_array_get(list, i), &g->hist);
			key = json_object_get(json_array_get(list, i), "key");
			assert_int_equal(json_object_size(key), 3);
			assert_number(json_object_get(key, "pid"), g->key[0].number);
			assert_text(json_object_get(key, "comm"), g->key[1].text);
			assert_text(json_object_get(key, "cgroup"), g->key[2].text);
		}
		json_decref(o);
		report__free(&report);
	}
}

static void every_byte_in_a_key(void **state)
{
	struct report report = { .tool = "t", .value = "v" };
	char text[] = "a?b";
	struct dense d = {};
	json_t *o, *list;
	int c;

	(void)state;
	for (c = 1; c < 256; c++) {
		text[1] = c;
		add_group(&report, FIELDS(text_field("comm", text)), &d);
	}
	o = read_back(&report);
	list = json_object_get(o, "groups");
	for (c = 1; c < 256; c++) {
		text[1] = c;
		assert_text(json_object_get(json_object_get(json_array_get(list, c - 1), "key"),
					    "comm"), text);
	}
	json_decref(o);
	report__free(&report);
}

static void the_largest_numbers(void **state)
{
	struct report report = {
		.tool = "t", .value = "v", .has_events = true, .events = UINT64_MAX,
		.start_ns = UINT64_MAX, .duration_ns = UINT64_MAX, .hidden = SIZE_MAX,
	};
	struct dense d = {};
	json_t *o;
	u32 i;

	(void)state;
	dense__add_many(&d, 0, 1ULL << 63);
	dense__add_many(&d, UINT64_MAX, (1ULL << 63) - 1);
	memset(&report.counters, 0xff, sizeof(report.counters));
	add_group(&report, FIELDS(number_field("pid", UINT64_MAX), number_field("tid", INT64_MAX),
				  number_field("cpu", 1ULL << 63)), &d);
	o = read_back(&report);
	assert_number(json_object_get(o, "events"), UINT64_MAX);
	assert_number(json_object_get(o, "hidden"), UINT64_MAX);
	assert_number(json_object_get(o, "unaccounted"), UINT64_MAX);
	for (i = 0; i < LOSS_REASONS; i++)
		assert_number(json_object_get(json_object_get(o, loss_kind_name(loss_kind(i))),
					      loss_name(i)), UINT64_MAX);
	assert_group(json_array_get(json_object_get(o, "groups"), 0), &report.group[0].hist);
	json_decref(o);
	report__free(&report);
}

static void all_reasons_of_loss(void **state)
{
	static const struct {
		const char *kind, *name;
	} reasons[] = {                         /* docs/json.md */
		{"lost", "map_full"}, {"lost", "no_memory"}, {"lost", "missed"}, {"inexact", "no_state"},
		{"lost", "unmatched"}, {"lost", "read_fault"}, {"lost", "negative"}, {"lost", "recursion"},
		{"inexact", "stacks_full"}, {"inexact", "truncated"}, {"inexact", "nesting"},
		{"lost", "ring_full"}, {"lost", "no_buffer"}, {"lost", "unwound"}, {"lost", "no_result"},
		{"lost", "bad_arithmetic"}, {"lost", "text_too_long"}, {"lost", "no_storage"},
		{"inexact", "stack_memory"}, {"inexact", "incomplete"}, {"lost", "no_end"}, {"lost", "too_deep"},
	};
	struct report report = { .tool = "t", .value = "v", .has_events = true };
	json_t *o;
	u32 i;

	(void)state;
	assert_int_equal(LOSS_REASONS, ARRAY_SIZE(reasons));
	o = read_back(&report);
	assert_int_equal(json_object_size(json_object_get(o, "lost")) +
			 json_object_size(json_object_get(o, "inexact")), LOSS_REASONS);
	for (i = 0; i < LOSS_REASONS; i++)
		assert_number(json_object_get(json_object_get(o, reasons[i].kind), reasons[i].name), 0);
	json_decref(o);

	report.counters.filtered = 100;
	report.counters.unaccounted = 200;
	for (i = 0; i < LOSS_REASONS; i++)
		report.counters.lost[i] = i + 1;
	o = read_back(&report);
	for (i = 0; i < LOSS_REASONS; i++)
		assert_number(json_object_get(json_object_get(o, reasons[i].kind), reasons[i].name), i + 1);
	assert_number(json_object_get(o, "filtered"), 100);
	assert_number(json_object_get(o, "unaccounted"), 200);
	json_decref(o);
	report__free(&report);
}

static void members_as_documented(void **state)
{
	struct report report = {
		.tool = "runqlat", .source = "tp_btf", .value = "wait", .unit = UNIT_NS,
		.kernel = "6.1", .cpus = 4, .start_ns = 1, .duration_ns = 2, .has_events = true,
	};
	json_t *o, *g;
	struct dense d = {};

	(void)state;
	dense__add(&d, 1000);
	add_group(&report, NULL, 0, &d);
	o = read_back(&report);
	assert_text(json_object_get(o, "value"), "wait");
	assert_text(json_object_get(o, "unit"), "ns");
	assert_number(json_object_get(o, "cpus"), 4);
	assert_text(json_object_get(o, "start"), "1970-01-01T00:00:00.000000001Z");
	assert_null(json_object_get(o, "hidden"));
	assert_null(json_object_get(o, "rows"));
	g = json_array_get(json_object_get(o, "groups"), 0);
	assert_int_equal(json_object_size(json_object_get(g, "key")), 0);
	assert_true(json_is_object(json_object_get(g, "key")));
	assert_null(json_object_get(g, "min_exact"));
	assert_null(json_object_get(g, "max_exact"));
	json_decref(o);

	report.group[0].hist.min_exact = report.group[0].hist.max_exact = false;
	report.hidden = 3;
	o = read_back(&report);
	g = json_array_get(json_object_get(o, "groups"), 0);
	assert_true(json_is_false(json_object_get(g, "min_exact")));
	assert_true(json_is_false(json_object_get(g, "max_exact")));
	assert_number(json_object_get(o, "hidden"), 3);
	json_decref(o);
	report__free(&report);
}

static void tables_are_rows(void **state)
{
	struct report report = { .tool = "doctor" };
	json_t *o, *rows, *row;

	(void)state;
	o = read_back(&report);
	assert_int_equal(json_array_size(json_object_get(o, "rows")), 0);
	assert_true(json_is_array(json_object_get(o, "rows")));
	assert_null(json_object_get(o, "groups"));
	assert_null(json_object_get(o, "events"));
	assert_null(json_object_get(o, "lost"));
	json_decref(o);

	add_row(&report, FIELDS(text_field("name", "a\n\"b\"\xff"), number_field("n", UINT64_MAX)));
	add_row(&report, FIELDS(text_field("name", ""), number_field("n", 0)));
	o = read_back(&report);
	rows = json_object_get(o, "rows");
	assert_int_equal(json_array_size(rows), 2);
	row = json_array_get(rows, 0);
	assert_text(json_object_get(row, "name"), "a\n\"b\"\xff");
	assert_number(json_object_get(row, "n"), UINT64_MAX);
	row = json_array_get(rows, 1);
	assert_text(json_object_get(row, "name"), "");
	assert_number(json_object_get(row, "n"), 0);
	json_decref(o);
	report__free(&report);
}

static void one_line_per_report(void **state)
{
	struct report report = { .tool = "t\n", .source = "a\r\nb\xe2\x80\xa8", .value = "v" };
	struct writer w = { .format = FORMAT_JSON };
	struct dense d = {};
	char *text, *line;
	size_t len;
	u32 i;

	(void)state;
	add_group(&report, FIELDS(text_field("comm", "x\ny\xc2\x85z")), &d);
	w.file = open_memstream(&text, &len);
	assert_non_null(w.file);
	for (i = 0; i < 3; i++)
		assert_int_equal(writer__write(&w, &report), 0);
	fclose(w.file);
	for (i = 0, line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), i++) {
		json_t *o = json_loads(line, 0, NULL);

		assert_non_null(o);
		json_decref(o);
	}
	assert_int_equal(i, 3);
	free(text);
	report__free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_bytes_any_numbers),
		cmocka_unit_test(every_byte_in_a_key),
		cmocka_unit_test(the_largest_numbers),
		cmocka_unit_test(all_reasons_of_loss),
		cmocka_unit_test(members_as_documented),
		cmocka_unit_test(tables_are_rows),
		cmocka_unit_test(one_line_per_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
