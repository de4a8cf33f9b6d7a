// SPDX-License-Identifier: BSD-2-Clause
/* Flame graphs: widths and levels of frames, hostile names, the size of the file. */
#include "stack_fixture.h"

static char *flame(struct stacks_fixture *f, size_t *n)
{
	struct writer w = { .format = FORMAT_FLAME };

	return written(&w, &f->report, n);
}

static size_t occurrences(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* Tags are closed in order, and '&' only begins one of the four entities. The script is not checked. */
static void assert_well_formed(const char *text)
{
	char open[32][16];
	size_t depth = 0, len;

	text = strstr(text, "<svg");
	assert_non_null(text);
	for (; *text; text++) {
		if (*text == '&') {
			assert_true(!strncmp(text, "&amp;", 5) || !strncmp(text, "&lt;", 4) ||
				    !strncmp(text, "&gt;", 4) || !strncmp(text, "&quot;", 6));
			continue;
		}
		if (*text != '<')
			continue;
		if (!strncmp(text, "<![CDATA[", 9)) {
			text = strstr(text, "]]>");
			assert_non_null(text);
			continue;
		}
		if (text[1] == '/') {
			assert_true(depth > 0);
			depth--;
			len = strlen(open[depth]);
			assert_memory_equal(text + 2, open[depth], len);
			assert_int_equal(text[2 + len], '>');
			continue;
		}
		len = strcspn(text + 1, " >/");
		assert_true(len && len < sizeof(open[0]));
		assert_true(depth < ARRAY_SIZE(open));
		memcpy(open[depth], text + 1, len);
		open[depth][len] = 0;
		text += strcspn(text, ">");
		if (text[-1] != '/')
			depth++;
	}
	assert_int_equal(depth, 0);
}

static void frames_have_their_share(void **state)
{
	struct stacks_fixture f;
	u32 key, a, b, k;
	char *text;
	size_t n;

	(void)state;
	fixture__make(&f, 8);
	key = add_key(&f, "comm");
	a = add_frame(&f, "alpha", "m", 0, FRAME_USER);
	b = add_frame(&f, "beta", "m", 0, FRAME_JIT);
	k = add_frame(&f, "gamma", "[kernel]", 0, FRAME_KERNEL);
	STACK(&f, key, 3, a, b);
	STACK(&f, key, 1, a, k);
	text = flame(&f, &n);
	assert_well_formed(text);
	assert_true(is_utf8(text, n));
	assert_int_equal(occurrences(text, "<g class="), 5);
	assert_non_null(strstr(text, "<title>all\n4 samples, 100.00%</title>"));
	assert_non_null(strstr(text, "<title>alpha\n4 samples, 100.00%</title>"));
	assert_non_null(strstr(text, "<g class=\"j"));
	assert_non_null(strstr(text, "<title>beta\n3 samples, 75.00%</title>"
				     "<rect x=\"10.00\" y=\"64\" width=\"884.60\""));
	assert_non_null(strstr(text, "<g class=\"k"));
	assert_non_null(strstr(text, "<title>gamma\n1 samples, 25.00%</title>"
				     "<rect x=\"895.00\" y=\"64\" width=\"294.60\""));
	assert_null(strstr(text, "tiny"));
	free(text);
	fixture__free(&f);
}

/* Each kind of frame has a class, and the style has a colour for it. */
static void kinds_have_colours(void **state)
{
	struct stacks_fixture f;
	char *text, style[16];
	const char *class;
	u32 key, kind;
	size_t n;

	(void)state;
	for (kind = 0; kind < FRAME_KINDS; kind++) {
		fixture__make(&f, 2);
		key = add_key(&f, NULL);
		STACK(&f, key, 1, add_frame(&f, "function", "m", 0, kind));
		text = flame(&f, &n);
		class = strstr(text, "<title>function");
		while (strncmp(class, "class=\"", 7))
			class--;
		snprintf(style, sizeof(style), ".%.2s", class + 7);
		assert_int_equal(occurrences(text, style), 1);
		free(text);
		fixture__free(&f);
	}
}

static void hostile_names_are_inert(void **state)
{
	static const char *const names[] = {
		"</title><script>alert(1)</script>", "]]>", "a\"onload=\"x", "&amp;", "\x1b[2J", "<!--",
		"\xef\xbf\xbe\xef\xbf\xbf", "\xe2\x80\xae", "\xff\xfe", "a\nb", "'", "",
	};
	struct random r = { 7 };
	char random[60][80], *text;
	struct stacks_fixture f;
	size_t n, i;
	u32 key;

	(void)state;
	fixture__make(&f, 100);
	key = add_key(&f, "</svg><b>");
	for (i = 0; i < ARRAY_SIZE(names); i++)
		STACK(&f, key, 10, add_frame(&f, names[i], names[i], 0, FRAME_USER));
	for (i = 0; i < ARRAY_SIZE(random); i++) {
		random__hostile(&r, random[i], sizeof(random[i]));
		STACK(&f, key, 10, add_frame(&f, random[i], NULL, 0, FRAME_KERNEL));
	}
	text = flame(&f, &n);
	assert_well_formed(text);
	assert_true(is_utf8(text, n));
	assert_int_equal(occurrences(text, "<script"), 1);
	assert_int_equal(occurrences(text, "</svg>"), 1);
	assert_int_equal(occurrences(text, "]]>"), 1);
	assert_null(strchr(text, '\x1b'));
	assert_null(strstr(text, "\xef\xbf\xbe"));
	assert_null(strstr(text, "\xef\xbf\xbf"));
	free(text);
	fixture__free(&f);
}

/* A flame graph is read without the notes of the text report, so it counts broken stacks itself. */
static void broken_stacks_are_told(void **state)
{
	struct stacks_fixture f;
	char *text;
	size_t n;

	(void)state;
	fixture__make_broken(&f);
	text = flame(&f, &n);
	assert_non_null(strstr(text, "<title>profile: CPU time, 8 samples, 62.5% [incomplete]</title>"));
	assert_non_null(strstr(text, " during 1.50 s, lost 0, 62.5% [incomplete]; a timer"));
	free(text);
	f.report.stacks->compared = true;
	text = flame(&f, &n);
	assert_int_equal(occurrences(text, ", [incomplete] 25.0% before and 62.5% after</t"), 2);
	free(text);
	fixture__free(&f);
}

#define MANY 50000

/* Even with long names, few of them equal, 50,000 stacks of about 30 frames make a file of less than 2 MB. */
static void many_stacks_are_a_small_file(void **state)
{
	struct random r = { 1 };
	u32 frame[60], key, n, i;
	struct stacks_fixture f;
	char *text, *name;
	size_t bytes, k;

	(void)state;
	fixture__make(&f, MANY);
	key = add_key(&f, "big");
	for (i = 0; i < 20000; i++) {
		assert_true(asprintf(&name, "std::vector<std::pair<unsigned long, f%u> >::emplace_back", i) > 0);
		add_frame(&f, name, "big", 0, FRAME_USER);
	}
	for (k = 0; k < MANY; k++) {
		n = 10 + random__below(&r, 40);
		for (i = 0; i < n; i++)
			frame[i] = i < 5 ? i : i + random__below(&r, i < 10 ? 5 : 15000);
		add_stack(&f, key, frame, n, 1 + random__below(&r, 20));
	}
	text = flame(&f, &bytes);
	assert_true(bytes < 2000000);
	assert_true(bytes > 1000);
	assert_non_null(strstr(text, "tiny frames merged</title>"));
	assert_well_formed(text);
	free(text);
	for (i = 0; i < 20000; i++)
		free((char *)f.frame[i].name);
	fixture__free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_have_their_share),
		cmocka_unit_test(kinds_have_colours),
		cmocka_unit_test(hostile_names_are_inert),
		cmocka_unit_test(broken_stacks_are_told),
		cmocka_unit_test(many_stacks_are_a_small_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
