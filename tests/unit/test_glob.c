// SPDX-License-Identifier: BSD-2-Clause
/* Compares globs as automata with a plain recursive matcher and with fnmatch(3). */
#include "unit.h"

#include <fnmatch.h>

#include "host/scope.h"

static bool matches(const char *pattern, const char *text)
{
	struct scope_glob glob;

	if (scope_glob__compile(&glob, pattern))
		fail_msg("'%s' is refused", pattern);
	return scope_glob__matches(&glob, text);
}

static void known_answers(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool match;
	} cases[] = {
		{ "", "", true },               { "", "a", false },
		{ "a", "a", true },             { "a", "b", false },
		{ "a", "", false },             { "a", "aa", false },
		{ "nginx", "nginx", true },     { "nginx", "nginx2", false },
		{ "nginx*", "nginx: worker", true }, { "nginx*", "nginx", true },
		{ "*nginx", "my-nginx", true }, { "*nginx", "nginx-2", false },
		{ "*", "", true },              { "*", "anything", true },
		{ "**", "", true },             { "***", "x", true },
		{ "*a*b*", "xxaxxbxx", true },  { "*a*b*", "xxbxxaxx", false },
		{ "a*a", "a", false },          { "a*a", "aa", true },
		{ "?", "a", true },             { "?", "", false },
		{ "?", "ab", false },           { "???", "abc", true },
		{ "?*", "", false },            { "*?", "a", true },
		{ "[abc]", "b", true },         { "[abc]", "d", false },
		{ "[a-c]", "b", true },         { "[a-c]", "-", false },
		{ "[!a-c]", "b", false },       { "[!a-c]", "d", true },
		{ "[^a-c]", "b", false },       { "[^a-c]", "d", true },
		{ "[!a]", "", false },          { "[]]", "]", true },
		{ "[]a]", "a", true },          { "[!]]", "]", false },
		{ "[!]]", "a", true },          { "[-a]", "-", true },
		{ "[a-]", "-", true },          { "[a-]", "b", false },
		{ "[c-a]", "b", false },        { "[a!]", "!", true },
		{ "[*?]", "*", true },          { "[*?]", "x", false },
		{ "[[]", "[", true },           { "[0-9][0-9]", "42", true },
		{ "kworker/[0-9]*:*", "kworker/3:1H", true },
		{ "kworker/[0-9]*:*", "kworker/u8:1", false },
		{ "\\*", "*", true },           { "\\*", "a", false },
		{ "\\?", "a", false },          { "\\[a]", "[a]", true },
		{ "\\\\", "\\", true },         { "\\a", "a", true },
		{ "a\\", "a\\", true },         /* nothing to quote: a literal backslash */
		{ "[\\]]", "]", true },         { "[\\]]", "\\", false },
		{ "[\\\\]", "\\", true },       { "[a\\-c]", "-", true },
		{ "[a\\-c]", "b", false },      { "[\\!a]", "!", true },
		{ "]", "]", true },             { "a]", "a]", true },
		{ "Nginx", "nginx", false },    /* case-sensitive */
		{ "?", "\x80", true },          { "[\x80-\xff]", "\xc3", true },
		{ "[!\x80-\xff]", "\xff", false }, { "\xff", "\xff", true },
		{ ".*", ".x", true },           { "*", ".x", true },
		{ "*/b", "a/b", true },         /* not a path: / is an ordinary character */
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (matches(cases[i].pattern, cases[i].text) != cases[i].match)
			fail_msg("'%s' with '%s'", cases[i].pattern, cases[i].text);
}

static void every_byte_by_itself(void **state)
{
	char pattern[8], text[2] = {};
	int c, d;

	(void)state;
	for (c = 1; c < 256; c++) {
		snprintf(pattern, sizeof(pattern), "\\%c", c);
		for (d = 1; d < 256; d++) {
			text[0] = d;
			assert_int_equal(matches(pattern, text), c == d);
		}
	}
}

static void unclosed_sets_are_refused(void **state)
{
	static const char *const bad[] = {
		"[", "[]", "[!", "[^", "[!]", "[^]", "[a", "[a-", "[a-z", "a*[bc", "[a]b[", "[[",
		"[]a", "[\\]", "[a\\]", "[\\",
	};
	struct scope_glob glob, untouched;
	size_t i;

	(void)state;
	memset(&glob, 0x5a, sizeof(glob));
	untouched = glob;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (scope_glob__compile(&glob, bad[i]) != -EINVAL)
			fail_msg("'%s' is not refused", bad[i]);
		assert_memory_equal(&glob, &untouched, sizeof(glob));
	}
}

static void as_many_elements_as_there_are_bits(void **state)
{
	struct scope_glob glob, untouched;
	char pattern[256], text[64];
	u32 i;

	(void)state;
	memset(text, 'a', sizeof(text));
	text[SCOPE_GLOB_MAX] = 0;
	assert_true(matches(text, text));
	memset(pattern, '?', SCOPE_GLOB_MAX);
	pattern[SCOPE_GLOB_MAX] = 0;
	assert_true(matches(pattern, text));
	text[SCOPE_GLOB_MAX - 1] = 0;
	assert_false(matches(pattern, text));

	/* A star may be the last element. A set is one element, and so is a run of stars. */
	text[SCOPE_GLOB_MAX - 1] = 0;
	snprintf(pattern, sizeof(pattern), "%s*", text);
	assert_true(matches(pattern, text));
	assert_true(matches(pattern, pattern));
	pattern[0] = 0;
	for (i = 0; i < SCOPE_GLOB_MAX; i++)
		strcat(pattern, "[a-c]");
	strcpy(text, "abcabcabcabcabcabcabcabcabcabca");
	assert_int_equal(strlen(text), SCOPE_GLOB_MAX);
	assert_true(matches(pattern, text));
	memset(pattern, '*', 200);
	strcpy(pattern + 200, "b");
	assert_true(matches(pattern, "aaab"));

	memset(&glob, 0x5a, sizeof(glob));
	untouched = glob;
	strcat(text, "b");
	assert_int_equal(scope_glob__compile(&glob, text), -E2BIG);
	text[SCOPE_GLOB_MAX] = '*';
	assert_int_equal(scope_glob__compile(&glob, text), -E2BIG);
	assert_memory_equal(&glob, &untouched, sizeof(glob));
}

/* Returns whether c is in the set at p, which is after its '['. *rest is the text after it, NULL if unclosed. */
static bool in_set(const char *p, unsigned char c, const char **rest)
{
	bool negated = *p == '!' || *p == '^', in = false, first = true;
	unsigned char from, to;

	p += negated;
	*rest = NULL;
	for (;; first = false) {
		if (!*p)
			return false;
		if (*p == ']' && !first)
			break;
		if (*p == '\\' && p[1])
			p++;
		from = to = *p++;
		if (*p == '-' && p[1] && p[1] != ']') {
			p++;
			if (*p == '\\' && p[1])
				p++;
			to = *p++;
		}
		in |= c >= from && c <= to;
	}
	*rest = p + 1;
	return in != negated;
}

static bool unclosed(const char *p)
{
	while (p && *p) {
		if (*p == '\\' && p[1])
			p += 2;
		else if (*p == '[')
			in_set(p + 1, 'a', &p);
		else
			p++;
	}
	return !p;
}

static bool reference(const char *p, const char *t)
{
	const char *rest;
	bool in;

	if (!*p)
		return !*t;
	if (*p == '*')
		return reference(p + 1, t) || (*t && reference(p, t + 1));
	if (!*t)
		return false;
	if (*p == '?')
		return reference(p + 1, t + 1);
	if (*p == '[') {
		in = in_set(p + 1, *t, &rest);
		return in && reference(rest, t + 1);
	}
	if (*p == '\\' && p[1])
		p++;
	return *p == *t && reference(p + 1, t + 1);
}

static void random__text(struct random *r, const char *alphabet, char *text, u32 longest)
{
	u32 n = random__below(r, longest + 1), letters = strlen(alphabet);

	while (n--)
		*text++ = alphabet[random__below(r, letters)];
	*text = 0;
}

static void random_globs(void **state)
{
	static const struct {
		const char *pattern, *text;     /* alphabets */
	} kinds[] = {
		{ "ab*", "ab" },                { "ab*?", "ab" },
		{ "ab**??[]", "ab" },           { "abc-[]!*?", "abc-!" },
		{ "ab[]^-\\*", "ab[]^-\\*" },   { "a[]\\", "a[]\\" },
		{ "\xc3\xa9[]-!*?", "\xc3\xa9-" },
	};
	struct random r = { 16 };
	char pattern[16], text[12];
	u64 refused = 0, matched = 0;
	struct scope_glob glob;
	u32 n, k, i;
	bool want;
	int err;

	(void)state;
	for (n = 0; n < 100000; n++) {
		k = n % ARRAY_SIZE(kinds);
		random__text(&r, kinds[k].pattern, pattern, 10);
		err = scope_glob__compile(&glob, pattern);
		if (err != (unclosed(pattern) ? -EINVAL : 0))
			fail_msg("'%s': %d", pattern, err);
		refused += err != 0;
		for (i = 0; i < 10 && !err; i++) {
			random__text(&r, kinds[k].text, text, 8);
			want = reference(pattern, text);
			matched += want;
			if (scope_glob__matches(&glob, text) != want)
				fail_msg("'%s' with '%s' is %d", pattern, text, want);
			/* fnmatch(3) lets a backslash at the end match nothing. */
			if (pattern[0] && pattern[strlen(pattern) - 1] == '\\')
				continue;
			if (want != !fnmatch(pattern, text, 0))
				fail_msg("'%s' with '%s' is %d, not so fnmatch", pattern, text,
					 want);
		}
	}
	assert_true(matched > 20000);   /* enough cases match to mean something */
	assert_true(refused > 1000);
}

/* A pattern that takes forever with a backtracking matcher takes as long as any other. */
static void many_stars_are_cheap(void **state)
{
	static char text[100001];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	assert_false(matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
	text[sizeof(text) - 2] = 'b';
	assert_true(matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(every_byte_by_itself),
		cmocka_unit_test(unclosed_sets_are_refused),
		cmocka_unit_test(as_many_elements_as_there_are_bits),
		cmocka_unit_test(random_globs),
		cmocka_unit_test(many_stars_are_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
