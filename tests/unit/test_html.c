// SPDX-License-Identifier: BSD-2-Clause
/* A page has a bounded size, says what it leaves out, and contains no foreign markup. */
#include "stack_fixture.h"

#include "report/html.h"

static char *page_of(struct writer *w)
{
	char *text = NULL;
	size_t n = 0;

	w->file = open_memstream(&text, &n);
	assert_non_null(w->file);
	assert_int_equal(html__end(w), 0);
	assert_null(w->html);
	fclose(w->file);
	w->file = NULL;
	return text;
}

static size_t times(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void add_rows(struct report *r, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct report_row row = {};
		int err = report_row__add_text(&row, "comm", name);

		if (!err)
			err = report_row__add_sum(&row, "time_ns", 1500000 + i, FIELD_NUMBER);
		assert_int_equal(report__end_row(r, &row, err), 0);
	}
}

static void a_page_is_bounded(void **state)
{
	char line[32], name[4000];
	struct writer w = { .format = FORMAT_HTML };
	size_t i, k;
	char *text;

	(void)state;
	memset(name, '<', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	for (i = 0; i < 60; i++) {
		struct report r = { .tool = "table", .command = line, .value = "times", .table = true, .start_ns = 1,
			.duration_ns = 1, .has_events = true, .events = 400 };

		snprintf(line, sizeof(line), "table %zu", i);
		add_rows(&r, name, 400);
		for (k = 0; k < 40; k++)
			assert_int_equal(writer__write(&w, &r), 0);
		report__free(&r);
	}
	text = page_of(&w);
	assert_in_range(strlen(text), 1000000, 3000000);
	assert_true(times(text, "150 of 400 rows are on this page") > 0);
	assert_true(times(text, " of 40 intervals are on this page") == 60);
	assert_true(times(text, "<section id=") == 60);
	free(text);
}

static void flame_graphs_share_the_room(void **state)
{
	static char names[4000][100];
	struct stacks_fixture f;
	struct writer w = { .format = FORMAT_HTML };
	size_t i, drawn;
	char line[32], *text;
	u32 key;

	(void)state;
	fixture__make(&f, 4000);
	key = add_key(&f, NULL);
	for (i = 0; i < 4000; i++) {
		snprintf(names[i], sizeof(names[i]),
			 "function_%zu_with_a_name_of_some_length_as_they_are_in_real_programs", i);
		STACK(&f, key, 1 + i % 7, add_frame(&f, names[i], "a.out", 0, FRAME_USER));
	}
	f.report.command = line;
	for (i = 0; i < 20; i++) {
		snprintf(line, sizeof(line), "profile %zu", i);
		assert_int_equal(writer__write(&w, &f.report), 0);
	}
	text = page_of(&w);
	drawn = times(text, "class=\"plot\"");
	assert_true(strlen(text) < 3300000);
	assert_in_range(drawn, 4, 20);
	assert_int_equal(drawn + times(text, "has no room for this flame graph") +
				 times(text, "has no room for this report"),
			 20);
	free(text);
	fixture__free(&f);
}

static void broken_stacks_are_told_beside_the_graph(void **state)
{
	struct writer w = { .format = FORMAT_HTML };
	struct stacks_fixture f;
	char *text;

	(void)state;
	fixture__make_broken(&f);
	assert_int_equal(writer__write(&w, &f.report), 0);
	text = page_of(&w);
	assert_int_equal(times(text, "<p class=\"left\">8 samples, 62.5% [incomplete]</p>"), 1);
	free(text);
	fixture__free(&f);
}

static void figures_are_exact_and_names_inert(void **state)
{
	static const char hostile[] = "</td><script>x()</script>\"'&\xff\xe2\x80\xae\x1b]]>";
	struct writer w = { .format = FORMAT_HTML, .host = hostile };
	struct report r = { .tool = hostile, .command = hostile, .source = hostile, .caveat = hostile, .value = hostile,
		.kernel = hostile, .table = true, .start_ns = 1, .duration_ns = 2 };
	char *text, *at;

	(void)state;
	add_rows(&r, hostile, 2);
	assert_int_equal(writer__write(&w, &r), 0);
	report__free(&r);
	assert_int_equal(html__add_absent(&w, hostile), 0);
	text = page_of(&w);
	assert_int_equal(times(text, "<script"), 1);
	assert_int_equal(times(text, "]]>"), 0);
	assert_null(strchr(text, '\x1b'));
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_true(
		times(text, "&lt;/td&gt;&lt;script&gt;x()&lt;/script&gt;&quot;'&amp;\\xff\\xe2\\x80\\xae\\x1b]]&gt;") >=
		8);
	assert_non_null(strstr(text, "data-v=\"1500001\" title=\"1500001 ns\">1.50 ms</td>"));
	at = strstr(text, "script-src 'nonce-");
	assert_non_null(at);
	free(text);
}

static void nothing_is_no_page(void **state)
{
	struct writer w = { .format = FORMAT_HTML };
	char *text = page_of(&w);

	(void)state;
	assert_int_equal(strlen(text), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_is_bounded),
		cmocka_unit_test(flame_graphs_share_the_room),
		cmocka_unit_test(broken_stacks_are_told_beside_the_graph),
		cmocka_unit_test(figures_are_exact_and_names_inert),
		cmocka_unit_test(nothing_is_no_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
