// SPDX-License-Identifier: BSD-2-Clause
/* Reports as CSV, read back by the rules of RFC 4180 and compared with what went in. */
#include "unit.h"

#include "report/escape.h"

#define MOST_ROWS 64
#define MOST_CELLS 24

struct table {
	size_t nrows, ncells[MOST_ROWS];
	char *cell[MOST_ROWS][MOST_CELLS];
};

/*
 * Quoted fields hold anything, "" is a quote; others hold neither quotes nor separators. Lines
 * end with a newline. Fails on anything else.
 */
static void table__read(struct table *t, const char *text, char separator)
{
	const char *p = text;
	char *cell, *out;

	t->nrows = 0;
	while (*p) {
		assert_true(t->nrows < MOST_ROWS);
		t->ncells[t->nrows] = 0;
		do {
			assert_true(t->ncells[t->nrows] < MOST_CELLS);
			cell = out = malloc(strlen(p) + 1);
			assert_non_null(cell);
			if (*p == '"') {
				for (p++; *p != '"' || p[1] == '"'; p++) {
					assert_true(*p);
					p += *p == '"';
					*out++ = *p;
				}
				p++;
			} else {
				for (; *p && *p != separator && *p != '\n'; p++) {
					assert_true(*p != '"' && *p != '\r');
					*out++ = *p;
				}
			}
			*out = 0;
			t->cell[t->nrows][t->ncells[t->nrows]++] = cell;
			assert_true(*p == separator || *p == '\n');
		} while (*p++ == separator);
		t->nrows++;
	}
}

static void table__free(struct table *t)
{
	size_t i, k;

	for (i = 0; i < t->nrows; i++)
		for (k = 0; k < t->ncells[i]; k++)
			free(t->cell[i][k]);
}

/* Compares digit by digit, from the last one. */
static void assert_number(const char *cell, unsigned __int128 want)
{
	size_t n = strlen(cell);

	do {
		assert_true(n > 0);
		assert_int_equal(cell[--n], '0' + (int)(want % 10));
		want /= 10;
	} while (want);
	assert_int_equal(n, 0);
}

static void assert_text(const char *cell, const char *want)
{
	char *text = escape_string(want);

	assert_string_equal(cell, text);
	free(text);
}

static void assert_header(struct table *t, size_t row, const char *const *names, size_t n)
{
	size_t i;

	assert_int_equal(t->ncells[row], n);
	for (i = 0; i < n; i++)
		assert_string_equal(t->cell[row][i], names[i]);
}

static const char *const names[] = {
	"start_ns", "duration_ns", "pid", "comm", "cgroup", "count", "sum", "min", "avg", "max",
	"p50", "p90", "p99", "p999", "filtered", "lost", "inexact",
};

static void assert_group(char **cell, const struct report *r, const struct report_group *g)
{
	const struct histogram *h = &g->hist;

	assert_number(cell[0], r->start_ns);
	assert_number(cell[1], r->duration_ns);
	assert_number(cell[2], g->key[0].number);
	assert_text(cell[3], g->key[1].text);
	assert_text(cell[4], g->key[2].text);
	assert_number(cell[5], h->count);
	assert_number(cell[6], h->sum);
	assert_number(cell[7], h->min);
	assert_number(cell[8], h->count ? h->sum / h->count : 0);
	assert_number(cell[9], h->max);
	assert_number(cell[10], histogram__percentile(h, 5000));
	assert_number(cell[11], histogram__percentile(h, 9000));
	assert_number(cell[12], histogram__percentile(h, 9900));
	assert_number(cell[13], histogram__percentile(h, 9990));
	assert_number(cell[14], r->counters.filtered);
	assert_number(cell[15], loss__of(&r->counters, LOSS_LOST));
	assert_number(cell[16], loss__of(&r->counters, LOSS_INEXACT));
}

static void random_group(struct random *r, struct report *report)
{
	char comm[40], path[120];
	struct dense d = {};
	u32 k;

	random__hostile(r, comm, sizeof(comm));
	random__hostile(r, path, sizeof(path));
	for (k = random__below(r, 10); k; k--)
		dense__add_many(&d, random__any_size(r), random__any_size(r) >> 5);
	add_group(report, FIELDS(number_field("pid", random__any_size(r)), text_field("comm", comm),
				 text_field("cgroup", path)), &d);
}

/* Tests the separators that --csv accepts: any character except a quote and line ends. */
static void any_bytes_any_separator(void **state)
{
	static const char separators[] = ",;\t|: _=\\-.ax150/'";
	struct random r = { 19 };
	size_t len, i;
	u32 n;

	(void)state;
	for (n = 0; n < 3000; n++) {
		struct writer w = {
			.format = FORMAT_CSV, .separator = separators[n % (sizeof(separators) - 1)],
		};
		struct report report = {
			.tool = "t", .value = "v", .has_events = true,
			.start_ns = random__any_size(&r), .duration_ns = random__any_size(&r),
		};
		struct table t;
		char *text;

		report.counters.filtered = random__any_size(&r);
		report.counters.lost[n % LOSS_REASONS] = random__any_size(&r);
		for (i = 1 + random__below(&r, 3); i; i--)
			random_group(&r, &report);
		text = written(&w, &report, &len);
		table__read(&t, text, w.separator);
		assert_int_equal(t.nrows, 1 + report.ngroups);
		assert_header(&t, 0, names, ARRAY_SIZE(names));
		for (i = 0; i < report.ngroups; i++) {
			assert_int_equal(t.ncells[i + 1], ARRAY_SIZE(names));
			assert_group(t.cell[i + 1], &report, &report.group[i]);
		}
		table__free(&t);
		free(text);
		report__free(&report);
	}
}

static void plain_text_is_not_quoted(void **state)
{
	static const char *const cases[][2] = {
		{ "nginx", "nginx" },   { "", "" },             { "a b", "\"a b\"" },
		{ "a,b", "\"a,b\"" },   { "a\"b", "\"a\"\"b\"" }, { "\"", "\"\"\"\"" },
		{ "a;b", "a;b" },       { "a\nb", "a\\x0ab" },  { "a\tb", "a\\x09b" },
	};
	struct writer w = { .format = FORMAT_CSV, .separator = ',', .header = true };
	char *text, *end;
	size_t i, len;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct report report = { .tool = "t" };

		add_row(&report, FIELDS(text_field("name", cases[i][0])));
		text = written(&w, &report, &len);
		end = strchr(text, '\n');
		assert_non_null(end);
		*end = 0;
		assert_string_equal(text, cases[i][1]);
		free(text);
		report__free(&report);
	}
}

static void one_header_for_all_reports(void **state)
{
	struct writer w = { .format = FORMAT_CSV, .separator = ',' };
	struct report empty = { .tool = "t", .value = "v", .has_events = true };
	struct report full = { .tool = "t", .value = "v", .has_events = true };
	struct random r = { 20 };
	struct table t;
	char *text;
	size_t len, i;

	(void)state;
	random_group(&r, &full);
	random_group(&r, &full);
	w.file = open_memstream(&text, &len);
	assert_non_null(w.file);
	assert_int_equal(writer__write(&w, &empty), 0);
	assert_int_equal(len, 0);
	assert_int_equal(writer__write(&w, &full), 0);
	assert_int_equal(writer__write(&w, &empty), 0);
	assert_int_equal(writer__write(&w, &full), 0);
	fclose(w.file);
	table__read(&t, text, ',');
	assert_int_equal(t.nrows, 5);
	assert_header(&t, 0, names, ARRAY_SIZE(names));
	for (i = 0; i < 4; i++)
		assert_group(t.cell[i + 1], &full, &full.group[i % 2]);
	table__free(&t);
	free(text);
	report__free(&full);
}

static void without_keys(void **state)
{
	static const char *const no_keys[] = {
		"start_ns", "duration_ns", "count", "sum", "min", "avg", "max", "p50", "p90", "p99",
		"p999", "filtered", "lost", "inexact",
	};
	struct writer w = { .format = FORMAT_CSV, .separator = ',' };
	struct report report = { .tool = "t", .value = "v", .start_ns = 5, .duration_ns = 6 };
	struct dense d = {};
	struct table t;
	char *text;
	size_t len;

	(void)state;
	dense__add_many(&d, 20, 3);
	add_group(&report, NULL, 0, &d);
	text = written(&w, &report, &len);
	assert_string_equal(strchr(text, '\n') + 1, "5,6,3,60,20,20,20,20,20,20,20,0,0,0\n");
	table__read(&t, text, ',');
	assert_int_equal(t.nrows, 2);
	assert_header(&t, 0, no_keys, ARRAY_SIZE(no_keys));
	table__free(&t);
	free(text);
	report__free(&report);
}

static void tables(void **state)
{
	static const char *const cells[] = { "name", "n", "text" };
	struct writer w = { .format = FORMAT_CSV, .separator = 'e' };
	struct report empty = { .tool = "t" }, report = { .tool = "t" };
	char name[60], words[60], *text;
	struct random r = { 21 };
	struct table t;
	size_t i, len;

	(void)state;
	w.file = open_memstream(&text, &len);
	assert_non_null(w.file);
	for (i = 0; i < 20; i++) {
		random__hostile(&r, name, sizeof(name));
		random__hostile(&r, words, sizeof(words));
		add_row(&report, FIELDS(text_field("name", name),
					number_field("n", random__next(&r)),
					text_field("text", words)));
	}
	assert_int_equal(writer__write(&w, &empty), 0);
	assert_int_equal(writer__write(&w, &report), 0);
	assert_int_equal(writer__write(&w, &report), 0);
	fclose(w.file);
	table__read(&t, text, 'e');
	assert_int_equal(t.nrows, 41);
	assert_header(&t, 0, cells, ARRAY_SIZE(cells));
	for (i = 0; i < 40; i++) {
		const struct field *f = report.row[i % 20].cell;

		assert_int_equal(t.ncells[i + 1], 3);
		assert_text(t.cell[i + 1][0], f[0].text);
		assert_number(t.cell[i + 1][1], f[1].number);
		assert_text(t.cell[i + 1][2], f[2].text);
	}
	table__free(&t);
	free(text);
	report__free(&report);
}

static void columns_without_rows(void **state)
{
	struct writer w = { .format = FORMAT_CSV, .separator = ',' };
	struct report table = { .tool = "t", .table = true }, groups = { .tool = "t", .value = "v" };
	struct report_row row = {};
	char *text;
	size_t len;

	(void)state;
	assert_int_equal(report_row__add_number(&row, "n", 0, FIELD_NUMBER), 0);
	assert_int_equal(report__add_row(&table, &row), 0);
	assert_int_equal(report__keep_columns(&table, 0), 0);
	assert_int_equal(table.nrows, 0);
	w.file = open_memstream(&text, &len);
	assert_non_null(w.file);
	assert_int_equal(writer__write(&w, &table), 0);
	assert_int_equal(writer__write(&w, &table), 0);
	fclose(w.file);
	assert_string_equal(text, "start_ns,duration_ns,n\n");
	free(text);
	report__free(&table);

	w.header = false;
	assert_int_equal(report_row__add_text(&row, "comm", "cat"), 0);
	assert_int_equal(report__end_columns(&groups, &row, 0), 0);
	text = written(&w, &groups, &len);
	assert_string_equal(text, "start_ns,duration_ns,comm,count,sum,min,avg,max,p50,p90,p99,p999,filtered,lost,"
				  "inexact\n");
	free(text);
	report__free(&groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_bytes_any_separator),
		cmocka_unit_test(plain_text_is_not_quoted),
		cmocka_unit_test(one_header_for_all_reports),
		cmocka_unit_test(without_keys),
		cmocka_unit_test(tables),
		cmocka_unit_test(columns_without_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
