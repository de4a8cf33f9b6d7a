// SPDX-License-Identifier: BSD-2-Clause
/* Histograms by key as rows of a table. */
#include "unit.h"

#include "run/tabulate.h"

static const struct tabulation shared = { .share = "cpu_percent" };

/* Three keys: 1000 and 3000 ns under "a", 500 ns under "b", 9 times 100 ns under "c". */
static void fill(struct report *r, enum unit unit)
{
	struct dense a = {}, b = {}, c = {};

	*r = (struct report){ .tool = "t", .unit = unit, .duration_ns = 10000 };
	dense__add(&a, 1000);
	dense__add(&a, 3000);
	dense__add(&b, 500);
	dense__add_many(&c, 100, 9);
	add_group(r, FIELDS(text_field("name", "b"), number_field("cpu", 1)), &b);
	add_group(r, FIELDS(text_field("name", "a"), number_field("cpu", 0)), &a);
	add_group(r, FIELDS(text_field("name", "c"), number_field("cpu", 0)), &c);
}

static struct cli options(enum report_format format)
{
	return (struct cli){ .sort = -1, .format = format };
}

static char *csv(struct report *r)
{
	struct writer w = { .format = FORMAT_CSV, .separator = ',' };
	size_t n;

	return written(&w, r, &n);
}

static void rows_have_all_figures(void **state)
{
	struct cli cli = options(FORMAT_CSV);
	struct report r;
	char *text;

	(void)state;
	fill(&r, UNIT_NS);
	assert_int_equal(report__tabulate(&r, &shared, &cli), 0);
	assert_true(r.table);
	assert_int_equal(r.ngroups, 0);
	text = csv(&r);
	assert_non_null(strstr(text, "name,cpu,count,total,cpu_percent,avg,p50,p99,max\n"));
	assert_non_null(strstr(text, "a,0,2,4000,40"));
	assert_non_null(strstr(text, ",2000,1023,3000,3000\n"));
	assert_non_null(strstr(text, "b,1,1,500,5"));
	assert_non_null(strstr(text, ",500,500,500,500\n"));
	assert_non_null(strstr(text, "c,0,9,900,9"));
	assert_non_null(strstr(text, ",100,100,100,100\n"));
	assert_null(strstr(text, "total,,"));   /* programs compute totals themselves */
	free(text);
	report__free(&r);
}

static const char *name_of(const struct report *r, size_t i)
{
	return r->row[i].cell[0].text;
}

static void order_is_that_of_histograms(void **state)
{
	static const struct {
		const char *column;
		const char *names[3];
	} cases[] = {
		{ NULL, { "a", "c", "b" } },    { "total", { "a", "c", "b" } },
		{ "sum", { "a", "c", "b" } },   { "count", { "c", "a", "b" } },
		{ "max", { "a", "b", "c" } },   { "key", { "a", "b", "c" } },
	};
	struct cli cli = options(FORMAT_JSON);
	struct report r;
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		cli.sort = cases[i].column ? report_sort_column(cases[i].column) : -1;
		fill(&r, UNIT_NS);
		assert_int_equal(report__tabulate(&r, &shared, &cli), 0);
		assert_int_equal(r.nrows, 3);
		for (k = 0; k < 3; k++)
			assert_string_equal(name_of(&r, k), cases[i].names[k]);
		report__free(&r);
	}
}

static void total_is_of_all_keys(void **state)
{
	struct cli cli = options(FORMAT_TEXT);
	const struct field *cell;
	struct report r;

	(void)state;
	cli.top = 1;
	fill(&r, UNIT_NS);
	assert_int_equal(report__tabulate(&r, &shared, &cli), 0);
	assert_int_equal(r.nrows, 2);
	assert_int_equal(r.hidden, 2);
	assert_string_equal(name_of(&r, 0), "a");
	cell = r.row[1].cell;
	assert_true(r.row[1].is_total);
	assert_string_equal(cell[0].text, "total");
	assert_null(cell[1].text);
	assert_int_equal(cell[1].kind, FIELD_NONE);
	assert_int_equal(cell[2].number, 12);
	assert_int_equal(cell[3].number, 5400);
	assert_true(cell[4].real > 53.99 && cell[4].real < 54.01);
	assert_int_equal(cell[5].number, 450);
	assert_int_equal(cell[8].number, 3000);
	report__free(&r);
}

static void subtotals_are_of_what_has_several_rows(void **state)
{
	static const struct tabulation t = { .subtotals = true };
	struct dense one = {}, two = {};
	struct cli cli = options(FORMAT_TEXT);
	struct report r = { .tool = "t", .unit = UNIT_NS, .duration_ns = 10000 };

	(void)state;
	dense__add(&one, 1000);
	dense__add_many(&two, 300, 2);
	add_group(&r, FIELDS(text_field("state", "out"), text_field("why", "x")), &one);
	add_group(&r, FIELDS(text_field("state", "in"), text_field("why", "-")), &one);
	add_group(&r, FIELDS(text_field("state", "out"), text_field("why", "y")), &two);
	cli.top = 1;
	assert_int_equal(report__tabulate(&r, &t, &cli), 0);
	assert_int_equal(r.nrows, 3);
	assert_string_equal(name_of(&r, 1), "out");
	assert_string_equal(r.row[1].cell[1].text, "total");
	assert_int_equal(r.row[1].cell[2].number, 3);
	assert_int_equal(r.row[1].cell[3].number, 1600);
	assert_string_equal(name_of(&r, 2), "total");
	assert_int_equal(r.row[2].cell[2].number, 4);
	report__free(&r);
}

static void kinds_follow_the_unit(void **state)
{
	static const struct tabulation plain = {};
	struct cli cli = options(FORMAT_JSON);
	struct report r;

	(void)state;
	fill(&r, UNIT_BYTES);
	assert_int_equal(report__tabulate(&r, &plain, &cli), 0);
	assert_int_equal(r.row[0].ncells, 8);
	assert_int_equal(r.row[0].cell[3].kind, FIELD_SIZE);
	report__free(&r);
	fill(&r, UNIT_COUNT);
	assert_int_equal(report__tabulate(&r, &plain, &cli), 0);
	assert_int_equal(r.row[0].cell[3].kind, FIELD_NUMBER);
	assert_int_equal(r.row[0].cell[4].kind, FIELD_REAL);
	assert_true(r.row[0].cell[4].real == 2000);
	report__free(&r);
	cli.milliseconds = true;
	fill(&r, UNIT_NS);
	assert_int_equal(report__tabulate(&r, &plain, &cli), 0);
	assert_int_equal(r.row[0].cell[3].kind, FIELD_TIME);
	report__free(&r);
}

/* Full tables have all figures of --table, and the one that rows are sorted by. */
static void full_tables_have_more_columns(void **state)
{
	static const struct tabulation full = { .full = true };
	struct cli cli = options(FORMAT_CSV);
	struct report r;
	char *text;

	(void)state;
	fill(&r, UNIT_NS);
	assert_int_equal(report__tabulate(&r, &full, &cli), 0);
	text = csv(&r);
	assert_non_null(strstr(text, "name,cpu,count,total,avg,p50,p90,p99,max\n"));
	assert_non_null(strstr(text, "a,0,2,4000,2000,1023,3000,3000,3000\n"));
	free(text);
	report__free(&r);
	cli.sort = report_sort_column("min");
	fill(&r, UNIT_NS);
	assert_int_equal(report__tabulate(&r, &full, &cli), 0);
	text = csv(&r);
	assert_non_null(strstr(text, "count,total,min,avg,p50,p90,p99,max\n"));
	assert_non_null(strstr(text, "a,0,2,4000,1000,2000,"));
	free(text);
	report__free(&r);
	cli.sort = report_sort_column("p999");
	fill(&r, UNIT_NS);
	assert_int_equal(report__tabulate(&r, &full, &cli), 0);
	text = csv(&r);
	assert_non_null(strstr(text, "count,total,avg,p50,p90,p99,p999,max\n"));
	free(text);
	report__free(&r);
}

/* Adds keys, each with one value. */
static void add_keys(struct report *r, u64 n)
{
	struct dense d = {};

	dense__add(&d, 7);
	while (n--)
		add_group(r, FIELDS(number_field("cpu", n)), &d);
	r->events = r->ngroups;
}

/* Shapes a report with that many keys, then one with a single key. Returns two bits: whether each is a table. */
static int shape_of(u64 keys, const struct cli *cli, const struct writer *writer, enum cli_form usual,
		    const char **told)
{
	static const struct tabulation plain = {};
	struct measurement measurement = { .cli = (struct cli *)cli, .writer = (struct writer *)writer };
	struct report first = { .tool = "t" }, second = { .tool = "t" };
	struct measure m = {};
	int tables;

	add_keys(&first, keys);
	add_keys(&second, 1);
	assert_int_equal(measure__shape(&m, &measurement, &first, &plain, usual), 0);
	assert_int_equal(measure__shape(&m, &measurement, &second, &plain, usual), 0);
	*told = first.no_table;
	assert_null(second.no_table);
	tables = first.table | second.table << 1;
	report__free(&first);
	report__free(&second);
	return tables;
}

static void many_keys_are_a_table_on_a_terminal(void **state)
{
	struct writer terminal = { .terminal = { .columns = 80 } }, pipe = {}, json = terminal;
	struct cli usual = options(FORMAT_TEXT), heat = usual, table = usual, hist = usual, first = usual;
	const char *told;

	(void)state;
	json.format = FORMAT_JSON;
	heat.heat = true;
	table.form = FORM_TABLE;
	hist.form = FORM_HISTOGRAMS;
	first.top = TABULATE_KEYS;
	assert_int_equal(shape_of(TABULATE_KEYS, &usual, &terminal, FORM_USUAL, &told), 0);
	assert_null(told);
	assert_int_equal(shape_of(TABULATE_KEYS + 1, &usual, &terminal, FORM_USUAL, &told), 3);
	assert_string_equal(told, "--hist");
	assert_int_equal(shape_of(TABULATE_KEYS + 1, &usual, &pipe, FORM_USUAL, &told), 0);
	assert_int_equal(shape_of(TABULATE_KEYS + 1, &usual, &json, FORM_USUAL, &told), 0);
	assert_int_equal(shape_of(TABULATE_KEYS + 1, &first, &terminal, FORM_USUAL, &told), 0);
	assert_int_equal(shape_of(TABULATE_KEYS + 1, &hist, &terminal, FORM_USUAL, &told), 0);
	assert_int_equal(shape_of(TABULATE_KEYS + 1, &heat, &terminal, FORM_TABLE, &told), 0);
	assert_int_equal(shape_of(1, &table, &pipe, FORM_USUAL, &told), 3);
	assert_int_equal(shape_of(1, &usual, &pipe, FORM_TABLE, &told), 3);
	assert_int_equal(shape_of(1, &hist, &terminal, FORM_TABLE, &told), 0);
	assert_null(told);
}

/* A run without keys has one group, with or without values. */
static void one_row_needs_no_total(void **state)
{
	struct report r = { .tool = "t", .unit = UNIT_NS };
	struct cli cli = options(FORMAT_TEXT);
	struct dense none = {};

	(void)state;
	assert_int_equal(report__tabulate(&r, &shared, &cli), 0);
	assert_int_equal(r.nrows, 0);
	add_group(&r, NULL, 0, &none);
	assert_int_equal(report__tabulate(&r, &shared, &cli), 0);
	assert_int_equal(r.nrows, 1);
	assert_int_equal(r.row[0].cell[0].number, 0);
	assert_int_equal(r.row[0].cell[2].kind, FIELD_NONE);    /* no time has passed */
	assert_int_equal(r.row[0].cell[3].kind, FIELD_NONE);
	report__free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_all_figures),
		cmocka_unit_test(order_is_that_of_histograms),
		cmocka_unit_test(total_is_of_all_keys),
		cmocka_unit_test(subtotals_are_of_what_has_several_rows),
		cmocka_unit_test(kinds_follow_the_unit),
		cmocka_unit_test(one_row_needs_no_total),
		cmocka_unit_test(full_tables_have_more_columns),
		cmocka_unit_test(many_keys_are_a_table_on_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
