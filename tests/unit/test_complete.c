// SPDX-License-Identifier: BSD-2-Clause
/* Completion: which option a word is the value of, and which words are offered next. */
#include "unit.h"

#include <string.h>

#include "cli/complete.h"
#include "cli/options.h"

static const char *const kinds[] = { "one", "two", NULL, "three" };
static const char *const offs[] = { "all", "some" };

/* Adds odd words, which anybody may have made. */
static void add_odd(struct completion *c)
{
	completion__add(c, "with blank", "a\tb\n");
	completion__add(c, "with\ttab", "");
	completion__add(c, "with\x1b[31m", "");
	completion__add(c, "with\\", "");
	completion__add(c, "with\xff", "");
	completion__add(c, "with,comma", "");
	completion__add(c, "", "");
}

static void add_arguments(struct completion *c)
{
	char text[64];

	snprintf(text, sizeof(text), "argument%zu-%s", c->position, c->first ?: "none");
	completion__add(c, text, "");
}

static const struct cli_spec spec = { .groups = CLI_COMMAND, .arguments = add_arguments };
static const struct cli_spec runs_nothing = {};

struct fields {
	bool quiet, calm, secret, letter;
	int off;
	const char *sort, *input;
};

static int parse_kind(void *own, char *text)
{
	(void)own;
	(void)text;
	return 0;
}

static const struct option_row option_rows[] = {
	{ "kind", 'k', "KIND,..", ROW_OWN, "Kinds", 1, .parse = parse_kind, WORDS(kinds), .complete = add_odd,
	  .separators = "," },
	{ "sort", 's', "COL", ROW_TEXT, "In that order", 1, FIELD(struct fields, sort) },
	{ "off", 'o', "WHAT", ROW_WORD, "Off", 1, FIELD(struct fields, off), WORDS(offs), .optional = true },
	{ "quiet", 'q', NULL, ROW_FLAG, "Less", 1, FIELD(struct fields, quiet) },
	{ .name = "calm", .letter = 'c', .kind = ROW_ALIAS, .heading = 1 },
	{ "secret", 'x', NULL, ROW_FLAG, "Not told", 1, FIELD(struct fields, secret), .hidden = true },
	{ "input", 'i', "FILE", ROW_TEXT, "From there", 1, FIELD(struct fields, input) },
	{ NULL, 'L', NULL, ROW_FLAG, "Long", 1, FIELD(struct fields, letter) },
	{},
};

static void check_of(const struct cli_spec *s, const char *line, const char *expected)
{
	char text[256], *argv[32] = { "tool", COMPLETE_OPTION }, *rest = text, *answer;
	struct option_rows rows;
	int argc = 2;

	snprintf(text, sizeof(text), "%s", line);
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	option_rows__fill(&rows, option_rows, NULL);
	answer = complete__answer(s, &rows.argp, argc, argv);
	assert_non_null(answer);
	assert_string_equal(answer, expected);
	free(answer);
}

static void check(const char *line, const char *expected)
{
	check_of(&spec, line, expected);
}

static void names_and_letters(void **state)
{
	(void)state;
	check("--q", "--quiet\tLess\n");
	check("--ca", "--calm\tLess\n");
	check("--se", "");
	check("-x", "");
	check("-q", "-q\tLess\n");
	check("-L", "-L\tLong\n");
	check("--v", "--version\tPrint program version\n");
	check("-",
	      "--kind\tKinds\n--sort\tIn that order\n--off\tOff\n--quiet\tLess\n--calm\tLess\n--input\tFrom there\n-L\tLong\n"
	      "--help\tGive this help list\n--usage\tGive a short usage message\n--version\tPrint program version\n");
}

static void values_of_options(void **state)
{
	(void)state;
	check("--kind t", "two\t\nthree\t\n");
	check("--kind=t", "--kind=two\t\n--kind=three\t\n");
	check("--ki=t", "--ki=two\t\n--ki=three\t\n");
	check("-k t", "two\t\nthree\t\n");
	check("-qk t", "two\t\nthree\t\n");
	check("-kt", "-ktwo\t\n-kthree\t\n");
	check("-qkt", "-qktwo\t\n-qkthree\t\n");
	check("--off s", "");
	check("-o s", "");
	check("--off=s", "--off=some\t\n");
	check("-os", "-osome\t\n");
	check("--sort ", "");
	check("--nothing=", "");
	check("--input ", "\tfiles\n");
	check("--kind --q", "");
}

static void lists_of_values(void **state)
{
	(void)state;
	check("--kind one,t", "one,two\t\none,three\t\n");
	check("--kind two,one,t", "two,one,three\t\n");
	check("--kind=two,t", "--kind=two,three\t\n");
	check("--kind thre,t", "thre,two\t\nthre,three\t\n");
	check("--off=all,", "");
}

static void words_that_would_be_misread(void **state)
{
	(void)state;
	check("--kind w", "with blank\ta\\x09b\\x0a\n");
}

static void arguments(void **state)
{
	(void)state;
	check("", "argument0-none\t\n");
	check("--kind one arg", "argument0-none\t\n");
	check("a -q b arg", "argument2-a\t\n");
	check("a --off b arg", "argument2-a\t\n");
	check("- arg", "argument1--\t\n");
	check("x", "");
	check_of(&runs_nothing, "", "");
}

static void commands(void **state)
{
	(void)state;
	check("-- ", "\tcommand\n");
	check("-q -- sleep --k", "\tcommand\n");
	check("--kind -- t", "");       /* "--" is a value, and no argument begins with "t" */
	check_of(&runs_nothing, "-- ", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_letters),
		cmocka_unit_test(values_of_options),
		cmocka_unit_test(lists_of_values),
		cmocka_unit_test(words_that_would_be_misread),
		cmocka_unit_test(arguments),
		cmocka_unit_test(commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
