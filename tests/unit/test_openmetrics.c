// SPDX-License-Identifier: BSD-2-Clause
/* Reports as OpenMetrics: totals over reports, the keys that are shown, bounds, escapes. */
#include "unit.h"

#include "report/exposition.h"
#include "report/openmetrics.h"

static struct report new_report(bool table)
{
	return (struct report){
		.tool = "a-tool", .value = "time of it", .unit = UNIT_NS, .table = table,
		.start_ns = 1, .duration_ns = 1500000000, .has_events = true,
	};
}

static void add_task(struct report *r, u64 tid, const char *comm, const u64 *values, size_t n)
{
	struct field key[] = { number_field("tid", tid), text_field("comm", comm) };
	struct dense *d = calloc(1, sizeof(*d));
	size_t i;

	key[1].role = ROLE_LABEL;
	for (i = 0; i < n; i++)
		dense__add(d, values[i]);
	add_group(r, key, ARRAY_SIZE(key), d);
	free(d);
	r->events += n;
}

static void add_call(struct report *r, const char *name, u64 calls, u64 ns, u64 max)
{
	struct field cell[] = {
		text_field("call", name), number_field("calls", calls), number_field("time", ns),
		number_field("max", max),
	};

	cell[1].role = cell[2].role = ROLE_COUNTER;
	cell[2].kind = FIELD_TIME;
	cell[3].kind = FIELD_DURATION;
	add_row(r, cell, ARRAY_SIZE(cell));
}

/* A measurement, and how its reports become metrics. */
struct told {
	struct openmetrics *metrics;
	const char *measurement;        /* its label, or NULL */
	u64 top;
};

static char *text_of(struct exposition *x, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	assert_non_null(f);
	assert_int_equal(exposition__write(x, f), 0);
	fclose(f);
	exposition__free(x);
	return text;
}

static void tell(struct told *w, struct report *r)
{
	if (!w->metrics)
		w->metrics = openmetrics__new(w->measurement);
	assert_non_null(w->metrics);
	assert_int_equal(openmetrics__add(w->metrics, r, w->top), 0);
	report__free(r);
}

static char *write_one(struct told *w, struct report *r)
{
	struct exposition *x = exposition__new();
	size_t len;
	char *text;

	tell(w, r);
	assert_int_equal(openmetrics__put(w->metrics, x), 0);
	text = text_of(x, &len);
	assert_true(len > 6 && !strcmp(text + len - 6, "# EOF\n"));
	assert_true(is_utf8(text, len));
	return text;
}

static void assert_line(const char *text, const char *line)
{
	char *whole;

	assert_true(asprintf(&whole, "\n%s\n", line) > 0);
	if (!strstr(text, whole))
		fail_msg("no line '%s' in\n%s", line, text);
	free(whole);
}

#define NAME "tally_a_tool_time_of_it_seconds"

static void totals_of_all_reports(void **state)
{
	struct told w = {};
	struct report r = new_report(false);
	char *text;

	(void)state;
	add_task(&r, 7, "first", (u64[]){ 1023, 1024, 1ULL << 40 }, 3);
	r.counters.lost[LOSS_MAP_FULL] = 2;
	free(write_one(&w, &r));
	r = new_report(false);
	add_task(&r, 7, "now", (u64[]){ 5 }, 1);
	add_task(&r, 8, "other", (u64[]){ 2000 }, 1);
	r.counters.lost[LOSS_MAP_FULL] = 1;
	r.counters.lost[LOSS_TRUNCATED] = 5;
	text = write_one(&w, &r);

	/* The name has changed, but the task is the same. */
	assert_null(strstr(text, "first"));
	assert_line(text, NAME "_bucket{tid=\"7\",comm=\"now\",le=\"0.000001023\"} 2");
	assert_line(text, NAME "_bucket{tid=\"7\",comm=\"now\",le=\"0.000002047\"} 3");
	assert_line(text, NAME "_bucket{tid=\"7\",comm=\"now\",le=\"34.359738367\"} 3");
	assert_line(text, NAME "_bucket{tid=\"7\",comm=\"now\",le=\"+Inf\"} 4");
	assert_line(text, NAME "_sum{tid=\"7\",comm=\"now\"} 1099.511629828");
	assert_line(text, NAME "_count{tid=\"7\",comm=\"now\"} 4");
	assert_line(text, NAME "_count{tid=\"8\",comm=\"other\"} 1");
	assert_line(text, "tally_lost_total{tool=\"a-tool\",reason=\"map_full\"} 3");
	assert_line(text, "tally_inexact_total{tool=\"a-tool\",reason=\"truncated\"} 5");
	assert_null(strstr(text, "tally_lost_total{tool=\"a-tool\",reason=\"truncated\"}"));
	assert_line(text, "tally_events_total{tool=\"a-tool\"} 5");
	assert_line(text, "tally_measured_seconds_total{tool=\"a-tool\"} 3.0");
	assert_line(text, "# UNIT " NAME " seconds");
	free(text);
	openmetrics__free(w.metrics);
}

static void tables(void **state)
{
	struct told w = { .top = 1 };
	struct report r = new_report(true);
	char *text;

	(void)state;
	add_call(&r, "\"a\\b\"\n", 10, 100, 60);
	add_call(&r, "c", 9, 90, 50);
	text = write_one(&w, &r);
	/* A backslash in the text becomes \x5c (report/escape.h), whose own backslash is doubled. */
	assert_line(text, "tally_a_tool_calls_total{call=\"\\\"a\\\\x5cb\\\"\\\\x0a\"} 10");
	assert_null(strstr(text, "call=\"c\""));
	assert_line(text, "tally_hidden_groups{tool=\"a-tool\"} 1");
	free(text);
	r = new_report(true);
	add_call(&r, "c", 2, 1, 20);
	text = write_one(&w, &r);
	/* The call now has more, including the counts that were hidden. The maximum is that of the interval. */
	assert_line(text, "tally_a_tool_calls_total{call=\"c\"} 11");
	assert_line(text, "tally_a_tool_time_seconds_total{call=\"c\"} 0.000000091");
	assert_line(text, "tally_a_tool_max_seconds{call=\"c\"} 2e-08");
	assert_null(strstr(text, "call=\"\\\""));
	free(text);
	openmetrics__free(w.metrics);
}

static void bounds_with_signs(void **state)
{
	static const s64 bounds[] = { -10, 0, 1000000000 };
	struct told w = {};
	struct report r = new_report(false);
	struct histogram_totals totals = { .sum = 1, .max = 1ULL << 63, .min_inv = ~0ULL };
	struct report_group g = {};
	char *text;

	(void)state;
	assert_int_equal(histogram__init(&g.hist, (u64[]){ 1, 2, 3, 4 }, 0, 4, &totals), 0);
	histogram__set_bounds(&g.hist, bounds, ARRAY_SIZE(bounds));
	assert_int_equal(report__add_group(&r, &g), 0);
	text = write_one(&w, &r);
	assert_line(text, NAME "_bucket{le=\"-0.000000011\"} 1");
	assert_line(text, NAME "_bucket{le=\"-0.000000001\"} 3");
	assert_line(text, NAME "_bucket{le=\"0.999999999\"} 6");
	assert_line(text, NAME "_bucket{le=\"+Inf\"} 10");
	assert_null(strstr(text, NAME "_sum"));
	assert_null(strstr(text, NAME "_count"));
	free(text);
	openmetrics__free(w.metrics);
}

static void names_that_are_taken(void **state)
{
	struct told w = {};
	struct report r = new_report(false);
	struct report_group g = {};
	struct report_row key = {};
	char *text;

	(void)state;
	r.value = "$count";
	r.unit = UNIT_COUNT;
	assert_int_equal(report_row__add_number(&key, "le", 1, FIELD_NUMBER), 0);
	assert_int_equal(report_row__add_number(&key, "A b", 2, FIELD_NUMBER), 0);
	assert_int_equal(report_row__add_number(&key, "a-b", (u64)-3, FIELD_SIGNED), 0);
	assert_int_equal(report_row__add_number(&key, "$", 4, FIELD_NUMBER), 0);
	g.key = key.cell;
	g.nkey = key.ncells;
	assert_int_equal(report__add_group(&r, &g), 0);
	text = write_one(&w, &r);
	assert_line(text, "tally_a_tool_count_value_count"
			  "{le_=\"1\",a_b=\"2\",a_b_=\"-3\",key=\"4\"} 0");
	free(text);
	openmetrics__free(w.metrics);
}

static bool has_call(const char *text, const char *name)
{
	char *label;
	bool has;

	assert_true(asprintf(&label, "{call=\"%s\"}", name) > 0);
	has = strstr(text, label) != NULL;
	free(label);
	return has;
}

/* New keys are shown however many old ones there are, and old ones are eventually dropped. */
static void new_keys_find_room(void **state)
{
	struct told w = { .top = 2 };
	struct report r;
	char *text, name[16];
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		r = new_report(true);
		snprintf(name, sizeof(name), "of %d", i);
		add_call(&r, name, i < 10 ? 1000000 : 1, 1, 1);
		if (i < 30)
			add_call(&r, "steady", 5, 1, 1);
		text = write_one(&w, &r);
		assert_true(has_call(text, name));
		assert_true(has_call(text, "steady") == (i <= 30));
		if (i >= 30)
			assert_line(text, "tally_hidden_groups{tool=\"a-tool\"} 18");
		free(text);
	}
	/* One call is known from before; the other was forgotten and starts anew. */
	r = new_report(true);
	add_call(&r, "of 99", 1, 1, 1);
	add_call(&r, "of 0", 1, 1, 1);
	text = write_one(&w, &r);
	assert_line(text, "tally_a_tool_calls_total{call=\"of 99\"} 2");
	assert_line(text, "tally_a_tool_calls_total{call=\"of 0\"} 1");
	free(text);
	openmetrics__free(w.metrics);
}

/* If a measurement has a name for metrics, its sentence is in no metric's name. Some cells are no metrics. */
static void names_are_no_sentences(void **state)
{
	struct told w = {};
	struct report r = new_report(true);
	struct field cell[] = {
		text_field("call", "read"), number_field("total", 5000), number_field("p99", 1000),
		number_field("max", 2000), number_field("max_at", 70), number_field("ratio", 3),
	};
	char *text;

	(void)state;
	cell[1].role = ROLE_COUNTER;
	cell[1].kind = FIELD_TIME;
	cell[2].kind = cell[3].kind = cell[4].kind = FIELD_DURATION;
	cell[3].role = ROLE_MAXIMUM;
	cell[4].role = ROLE_AT;
	cell[4].of = "max";
	cell[5].no_metric = true;
	add_row(&r, cell, ARRAY_SIZE(cell));
	r.metric = "wait";
	text = write_one(&w, &r);
	assert_line(text, "tally_a_tool_wait_seconds_total{call=\"read\"} 0.000005");
	assert_line(text, "tally_a_tool_wait_p99_seconds{call=\"read\"} 1e-06");
	assert_line(text, "tally_a_tool_wait_max_seconds{call=\"read\"} 2e-06");
	assert_null(strstr(text, "max_at"));
	assert_null(strstr(text, "ratio"));
	free(text);
	openmetrics__free(w.metrics);

	w = (struct told){};
	r = new_report(false);
	add_task(&r, 7, "first", (u64[]){ 1023 }, 1);
	r.metric = "wait";
	text = write_one(&w, &r);
	assert_non_null(strstr(text, "# TYPE tally_a_tool_wait_seconds histogram\n"));
	assert_null(strstr(text, NAME));
	free(text);
	openmetrics__free(w.metrics);
}

static size_t times(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* Two measurements of one tool: a family occurs once, and its samples are together and name their measurement. */
static void several_in_one_text(void **state)
{
	struct told w[] = { { .measurement = "a-tool --by \"x\"" }, { .measurement = "a-tool" } };
	struct exposition *x = exposition__new();
	struct report r;
	size_t len, i;
	char *text;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		r = new_report(true);
		add_call(&r, "c", i + 1, 2, 3);
		tell(&w[i], &r);
		assert_int_equal(openmetrics__put(w[i].metrics, x), 0);
	}
	assert_true(exposition__series(x) > 8);
	text = text_of(x, &len);
	assert_int_equal(times(text, "# TYPE tally_a_tool_calls counter\n"), 1);
	assert_int_equal(times(text, "# HELP tally_a_tool_calls "), 1);
	assert_int_equal(times(text, "# EOF\n"), 1);
	assert_line(text, "tally_a_tool_calls_total{measurement=\"a-tool --by \\\"x\\\"\",call=\"c\"} 1\n"
			  "tally_a_tool_calls_total{measurement=\"a-tool\",call=\"c\"} 2");
	assert_line(text, "tally_events_total{measurement=\"a-tool\",tool=\"a-tool\"} 0");
	for (i = 0; i < ARRAY_SIZE(w); i++)
		openmetrics__free(w[i].metrics);
	free(text);
}

/* A metric that is a counter in one report and a gauge in another gets two names. */
static void types_do_not_clash(void **state)
{
	char first[METRIC_NAME_SPACE] = "tally_x", second[METRIC_NAME_SPACE] = "tally_x",
	     third[METRIC_NAME_SPACE] = "tally_x";
	struct exposition *x = exposition__new();
	size_t len;
	char *text;

	(void)state;
	fputs("tally_x_total 1\n", exposition__family(x, first, "counter", NULL, "a \\ b", NULL));
	fprintf(exposition__family(x, second, "gauge", NULL, "c", NULL), "%s 2\n", second);
	fprintf(exposition__family(x, third, "gauge", NULL, "d", NULL), "%s{a=\"1\"} 3\n", third);
	assert_int_equal(exposition__series(x), 3);
	assert_non_null(exposition__family(x, (char[METRIC_NAME_SPACE]){ "tally_y" }, "gauge", NULL, "nothing", NULL));
	text = text_of(x, &len);
	assert_string_equal(text, "# TYPE tally_x counter\n# HELP tally_x a \\\\x5c b\ntally_x_total 1\n"
				  "# TYPE tally_x_gauge gauge\n# HELP tally_x_gauge c\ntally_x_gauge 2\n"
				  "tally_x_gauge{a=\"1\"} 3\n# EOF\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_of_all_reports),
		cmocka_unit_test(tables),
		cmocka_unit_test(bounds_with_signs),
		cmocka_unit_test(names_that_are_taken),
		cmocka_unit_test(new_keys_find_room),
		cmocka_unit_test(names_are_no_sentences),
		cmocka_unit_test(several_in_one_text),
		cmocka_unit_test(types_do_not_clash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
