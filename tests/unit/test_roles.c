// SPDX-License-Identifier: BSD-2-Clause
/*
 * One table with a column of each role goes through every reader: JSON, OpenMetrics, several intervals as one, a
 * recording, a comparison. Rows that differ in a number of their key stay apart in all of them, and no reader takes
 * such a number for a figure.
 */
#include "unit.h"

#include <jansson.h>
#include <unistd.h>

#include "machine/diff/diff.h"
#include "record/merge.h"
#include "record/store.h"
#include "report/exposition.h"
#include "report/openmetrics.h"
#include "report/role.h"

struct line {
	const char *kind;
	u64 size;               /* size and max_level are keys, although named like figures */
	s64 max_level;
	const char *comm;       /* belongs to the key */
	u64 calls, wait_ns;
	s64 balance;
	u64 max_ns;
	const char *max_at;
	u64 min_ns;
};

/* Two intervals. The last two lines of the first are missing from the second. */
static const struct line first[] = {
	{ "a", 64, -3, "old", 10, 1005, -7, 900, "10:00", 5 },
	{ "a", 128, -3, "other", 20, 4000, 9, 300, "10:01", 3 },
	{ "a", 64, 3, "third", 3, 90, 0, 40, "10:02", 2 },
	{ "b", 64, -3, "third", 1, 50, -1, 50, "10:03", 50 },
};
static const struct line second[] = {
	{ "a", 64, -3, "new", 30, 3000, -5, 800, "11:00", 4 },
	{ "a", 128, -3, "other", 1, 5000, 1, 5000, "11:01", 5000 },
};
/* The sum of both. */
static const struct line both[] = {
	{ "a", 64, -3, "new", 40, 4005, -12, 900, "10:00", 4 },
	{ "a", 128, -3, "other", 21, 9000, 10, 5000, "11:01", 3 },
	{ "a", 64, 3, "third", 3, 90, 0, 40, "10:02", 2 },
	{ "b", 64, -3, "third", 1, 50, -1, 50, "10:03", 50 },
};

#define INTERVAL NSEC_PER_SEC

static void add_line(struct report *r, const struct line *l, u64 duration_ns)
{
	const struct field figures[] = {
		{ .name = "calls", .number = l->calls, .role = ROLE_COUNTER },
		{ .name = "wait", .number = l->wait_ns, .kind = FIELD_TIME, .role = ROLE_COUNTER },
		{ .name = "balance", .number = l->balance, .kind = FIELD_SIGNED, .role = ROLE_COUNTER },
		{ .name = "share", .kind = FIELD_REAL, .decimals = 2, .role = ROLE_PERCENT, .of = "wait",
		  .real = 100.0 * l->wait_ns / duration_ns },
		{ .name = "each", .number = l->wait_ns / l->calls, .kind = FIELD_TIME, .role = ROLE_MEAN,
		  .of = "wait", .per = "calls" },
		{ .name = "longest", .number = l->max_ns, .kind = FIELD_TIME, .role = ROLE_MAXIMUM },
		{ .name = "shortest", .number = l->min_ns, .kind = FIELD_TIME, .role = ROLE_MINIMUM },
	};
	struct report_row row = {};

	assert_int_equal(report_row__add_text(&row, "kind", l->kind), 0);
	assert_int_equal(report_row__add_number(&row, "size", l->size, FIELD_NUMBER), 0);
	assert_int_equal(report_row__add_number(&row, "max_level", l->max_level, FIELD_SIGNED), 0);
	assert_int_equal(report_row__add_text(&row, "comm", l->comm), 0);
	row.cell[3].role = ROLE_LABEL;
	report_row__end_key(&row);
	assert_int_equal(report_row__add_fields(&row, figures, ARRAY_SIZE(figures)), 0);
	assert_int_equal(report_row__add_text(&row, "when", l->max_at), 0);
	row.cell[row.ncells - 1].role = ROLE_AT;
	row.cell[row.ncells - 1].of = "longest";
	assert_int_equal(report__add_row(r, &row), 0);
	r->events += l->calls;
}

static struct report report_of(const struct line *l, size_t n, u64 duration_ns)
{
	struct report r = {
		.tool = "t", .command = "t --by all", .value = "v", .table = true, .has_events = true,
		.start_ns = NSEC_PER_SEC, .duration_ns = duration_ns,
	};

	while (n--)
		add_line(&r, l++, duration_ns);
	return r;
}

#define REPORT(lines, duration_ns) report_of(lines, ARRAY_SIZE(lines), duration_ns)

static char *json_of(const struct report *r)
{
	char *text = NULL;
	size_t n;
	struct writer w = { .file = open_memstream(&text, &n), .format = FORMAT_JSON };

	assert_int_equal(writer__write(&w, r), 0);
	fclose(w.file);
	return text;
}

/* Compares the JSON, which has everything in a report. */
static void assert_is_both(const struct report *r)
{
	struct report wanted = REPORT(both, 2 * INTERVAL);
	char *text = json_of(r), *expected = json_of(&wanted);

	assert_string_equal(text, expected);
	free(text);
	free(expected);
	report__free(&wanted);
}

static void add(struct merge *m, struct report r)
{
	assert_int_equal(merge__add(m, &r), 0);
	report__free(&r);
}

static void several_intervals(void **state)
{
	struct merge *m = merge__new();

	(void)state;
	add(m, REPORT(first, INTERVAL));
	add(m, REPORT(second, INTERVAL));
	assert_is_both(merge__report(m));
	merge__free(m);
}

static int take_report(void *context, const struct report *r)
{
	return merge__add(context, r);
}

static void record(const char *path, struct report r)
{
	const struct store_origin origin = { "6.1", "host", 2, INTERVAL };
	const struct store_limits limits = {};
	struct store *s = NULL;

	assert_int_equal(store__create(&s, path, &origin, &limits), 0);
	assert_int_equal(store__add_report(s, &r), 0);
	assert_int_equal(store__end_interval(s), 0);
	store__close(s);
	report__free(&r);
}

static void a_recording(void **state)
{
	static const char *const files[] = { "recording", "recording-wal", "recording-shm" };
	const struct store_window window = { 0, UINT64_MAX };
	struct merge *m = merge__new();
	const struct store_reader reader = { .context = m, .report = take_report };
	char folder[] = "/tmp/test_roles.XXXXXX", path[64];
	struct store *s = NULL;
	size_t i;

	(void)state;
	if (!mkdtemp(folder))
		fail();
	snprintf(path, sizeof(path), "%s/%s", folder, files[0]);
	record(path, REPORT(first, INTERVAL));
	record(path, REPORT(second, INTERVAL));
	assert_int_equal(store__open(&s, path), 0);
	assert_int_equal(store__read(s, &window, 0, &reader), 0);
	assert_int_equal(merge__count(m), 2);
	assert_is_both(merge__report(m));
	merge__free(m);
	store__close(s);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		unlink(path);
	}
	rmdir(folder);
}

static void json_says_what_columns_are(void **state)
{
	static const char *const wanted[][4] = {
		{ "kind", "key" }, { "size", "key" }, { "max_level", "key" }, { "comm", "label" },
		{ "calls", "counter" }, { "wait", "counter" }, { "balance", "counter" },
		{ "share", "percent", "wait" }, { "each", "mean", "wait", "calls" }, { "longest", "maximum" },
		{ "shortest", "minimum" }, { "when", "at", "longest" },
	};
	static const char *const members[] = { "role", "of", "per" };
	struct report r = REPORT(first, INTERVAL);
	char *text = json_of(&r);
	json_t *o = json_loads(text, 0, NULL), *columns = json_object_get(o, "columns"), *column;
	const char *said;
	size_t i, k;

	(void)state;
	assert_int_equal(json_object_size(columns), ARRAY_SIZE(wanted));
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		column = json_object_get(columns, wanted[i][0]);
		for (k = 0; k < ARRAY_SIZE(members); k++) {
			said = json_string_value(json_object_get(column, members[k])) ?: "-";
			assert_string_equal(said, wanted[i][1 + k] ?: "-");
		}
	}
	json_decref(o);
	free(text);
	report__free(&r);
}

static char *metrics_of_both(void)
{
	struct openmetrics *m = openmetrics__new(NULL);
	struct exposition *x = exposition__new();
	struct report r = REPORT(first, INTERVAL);
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	assert_int_equal(openmetrics__add(m, &r, 0), 0);
	report__free(&r);
	r = REPORT(second, INTERVAL);
	assert_int_equal(openmetrics__add(m, &r, 0), 0);
	report__free(&r);
	assert_int_equal(openmetrics__put(m, x), 0);
	assert_int_equal(exposition__write(x, f), 0);
	fclose(f);
	exposition__free(x);
	openmetrics__free(m);
	return text;
}

static void metrics(void **state)
{
	char *text = metrics_of_both(), line[256];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(both); i++) {
		snprintf(line, sizeof(line),
			 "\ntally_t_calls_total{kind=\"%s\",size=\"%llu\",max_level=\"%lld\",comm=\"%s\"} %llu\n",
			 both[i].kind, both[i].size, both[i].max_level, both[i].comm, both[i].calls);
		if (!strstr(text, line))
			fail_msg("no%sin\n%s", line, text);
	}
	assert_null(strstr(text, "tally_t_size"));
	assert_null(strstr(text, "tally_t_max_level"));
	free(text);
}

static void save(char path[32], const char *text)
{
	FILE *f;

	strcpy(path, "/tmp/test_roles.XXXXXX");
	f = fdopen(mkstemp(path), "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static json_t *compared(const char *before, const char *after)
{
	char path[2][32], *text = NULL;
	struct saved run[2] = {};
	size_t n, i;
	struct writer w = { .file = open_memstream(&text, &n), .format = FORMAT_JSON };
	json_t *o;

	save(path[0], before);
	save(path[1], after);
	for (i = 0; i < 2; i++)
		assert_int_equal(saved__read(&run[i], path[i]), 0);
	assert_int_equal(diff__write(&w, &run[0], &run[1], 0), 0);
	fclose(w.file);
	for (i = 0; i < 2; i++) {
		saved__free(&run[i]);
		unlink(path[i]);
	}
	o = json_loads(text, 0, NULL);
	free(text);
	return o;
}

/* Two intervals equal one that is as long as both; each figure of each key has a row of its own. */
static void a_comparison(void **state)
{
	static const char *const figures[] = { "calls", "wait", "balance", "share", "each", "longest", "shortest" };
	struct report a = REPORT(first, INTERVAL), b = REPORT(second, INTERVAL);
	struct report whole = REPORT(both, 2 * INTERVAL);
	char *one = json_of(&a), *other = json_of(&b), *after = json_of(&whole), *before;
	json_t *o, *row;
	size_t i;

	(void)state;
	assert_true(asprintf(&before, "%s%s", one, other) > 0);
	o = compared(before, after);
	assert_int_equal(json_array_size(json_object_get(o, "rows")), ARRAY_SIZE(both) * ARRAY_SIZE(figures));
	json_array_foreach(json_object_get(o, "rows"), i, row) {
		assert_true(json_is_string(json_object_get(row, "kind")));
		assert_true(json_is_integer(json_object_get(row, "size")));
		assert_true(json_is_integer(json_object_get(row, "max_level")));
		assert_string_equal(json_string_value(json_object_get(row, "figure")),
				    figures[i % ARRAY_SIZE(figures)]);
		if (!json_equal(json_object_get(row, "before"), json_object_get(row, "after")))
			fail_msg("%s", json_dumps(row, 0));
	}
	json_decref(o);
	free(one);
	free(other);
	free(before);
	free(after);
	report__free(&a);
	report__free(&b);
	report__free(&whole);
}

/* A mean that cannot be computed is empty; a mean of unknown parts stays if it is equal. */
static void means(void **state)
{
	struct field cells[] = {
		{ .name = "sum", .number = 7, .role = ROLE_COUNTER },
		{ .name = "n", .number = 2, .role = ROLE_COUNTER },
		{ .name = "mean", .kind = FIELD_REAL, .role = ROLE_MEAN, .of = "sum", .per = "n" },
		{ .name = "part", .kind = FIELD_REAL, .role = ROLE_PERCENT, .of = "n", .per = "sum+n" },
		{ .name = "other", .kind = FIELD_REAL, .real = 5, .role = ROLE_MEAN, .of = "nosuch", .per = "n" },
	};
	struct report_row row = { .cell = cells, .ncells = ARRAY_SIZE(cells) };

	(void)state;
	report_row__derive(&row, 0);
	assert_true(cells[2].kind == FIELD_REAL && cells[2].real == 3.5);
	assert_float_equal(cells[3].real, 100 * 2 / 9.0, 1e-12);
	assert_true(cells[4].kind == FIELD_REAL && cells[4].real == 5);
	cells[1].number = 0;
	report_row__derive(&row, 0);
	assert_int_equal(cells[2].kind, FIELD_NONE);
	cells[1] = (struct field){ .name = "n", .number = -1, .kind = FIELD_SIGNED, .role = ROLE_COUNTER };
	cells[0].kind = FIELD_TIME;
	report_row__derive(&row, 0);
	assert_true(cells[2].kind == FIELD_TIME && (s64)cells[2].number == -7);
}

static void names(void **state)
{
	enum field_role role;

	(void)state;
	assert_int_equal(field_role_named(NULL), ROLE_UNSAID);
	assert_int_equal(field_role_named("nosuch"), ROLE_UNSAID);
	for (role = ROLE_KEY; role < FIELD_ROLES; role++)
		assert_int_equal(field_role_named(field_role_name(role)), role);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_intervals), cmocka_unit_test(a_recording),
		cmocka_unit_test(json_says_what_columns_are), cmocka_unit_test(metrics),
		cmocka_unit_test(a_comparison), cmocka_unit_test(means), cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
