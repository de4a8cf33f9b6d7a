// SPDX-License-Identifier: BSD-2-Clause
/* Options as rows: each kind, its limits and units, values given twice, and messages about wrong ones. */
#include "unit.h"

#include <unistd.h>

#include "cli/option_row.h"
#include "cli/option_table.h"
#include "cli/prescan.h"
#include "host/scope.h"

struct inner {
	u64 depth;
	bool deep;
};

enum color { RED, GREEN = 2 };

struct options {
	bool quiet, has_min;
	u64 min_ns, late_ns, old_ns, ring;
	u32 count;
	const char *text;
	struct scope_glob glob;
	enum color color;
	u32 colors;
	int error;
	char *own;
	u64 own_calls;
	struct inner inner;
};

static const char *const colors[] = { [RED] = "red", [GREEN] = "green" };

static int parse_own(void *row_struct, char *text)
{
	struct options *o = row_struct;

	o->own = text;
	o->own_calls++;
	return text && !strcmp(text, "bad") ? -EINVAL : 0;
}

static const struct option_row inner_rows[] = {
	{ "depth", 0, "N", ROW_COUNT, "Depth", 2, FIELD(struct inner, depth), .least = 1,
	  .wanted = "a number of frames" },
	{ "deep", 'g', NULL, ROW_FLAG, "Deep", 2, FIELD(struct inner, deep) },
	{},
};

static const struct option_row some_rows[] = {
	HEADING("Some:", 1),
	{ "quiet", 'q', NULL, ROW_FLAG, "Less", 1, FIELD(struct options, quiet) },
	ALIAS("calm", 1),
	{ "min", 0, "TIME", ROW_TIME, "Least", 1, FIELD(struct options, min_ns), ALSO(struct options, has_min) },
	{ "late", 0, "TIME", ROW_TIME, "Late", 1, FIELD(struct options, late_ns), .unit_ns = NSEC_PER_USEC },
	{ "old", 'o', "SECONDS", ROW_TIME, "Old", 1, FIELD(struct options, old_ns), .unit_ns = NSEC_PER_SEC,
	  .least = 1, .most = 10 * NSEC_PER_SEC, .wanted = "a time of 10 seconds at most" },
	{ NULL, 'c', "N", ROW_COUNT, "Count", 1, FIELD(struct options, count), .least = 1, .most = 1000 },
	{ "ring", 0, "SIZE", ROW_SIZE, "Ring", 1, FIELD(struct options, ring), .least = 4096 },
	{ "text", 0, "TEXT", ROW_TEXT, "Text", 1, FIELD(struct options, text) },
	{ "glob", 0, "GLOB", ROW_GLOB, "Glob", 1, FIELD(struct options, glob) },
	{ "color", 0, "COLOR", ROW_WORD, "Color", 1, FIELD(struct options, color), WORDS(colors), .noun = "color" },
	{ "off", 0, "COLOR", ROW_WORD, "Off", 1, FIELD(struct options, color), WORDS(colors), .optional = true },
	{ "colors", 0, "COLOR,..", ROW_WORDS, "Colors", 1, FIELD(struct options, colors), WORDS(colors) },
	{ "errno", 0, "NAME", ROW_ERRNO, "Errno", 1, FIELD(struct options, error) },
	{ "more", 0, "COLOR,..", ROW_WORDS, "More", 1, FIELD(struct options, colors), WORDS(colors), .adds = true },
	{ "own", 0, "X", ROW_OWN, "Own", 1, .parse = parse_own, .adds = true },
	{ "secret", 0, "X", ROW_OWN, NULL, 1, .parse = parse_own, .hidden = true },
	INCLUDE(struct options, inner, inner_rows),
	{},
};

static char said[4096];

/* Parses the words of a line. Returns 0 or an error, and stores the messages in said. */
static int parse(struct options *o, const char *line)
{
	char *argv[16] = { "test" }, *text = strdup(line), *rest = text;
	int argc = 1, end, err, kept = dup(STDERR_FILENO);
	FILE *file = tmpfile();
	struct option_rows rows;

	assert_non_null(text);
	assert_non_null(file);
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	memset(o, 0, sizeof(*o));
	option_rows__fill(&rows, some_rows, o);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	err = cli_prescan(&rows.argp, argc, argv, &end) ?:
	      argp_parse(&rows.argp, argc, argv, ARGP_NO_EXIT, NULL, &rows);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = 0;
	fclose(file);
	return err;
}

static void accept(struct options *o, const char *line)
{
	assert_int_equal(parse(o, line), 0);
	assert_string_equal(said, "");
}

static void refuse(const char *line, const char *message)
{
	struct options o;

	assert_int_not_equal(parse(&o, line), 0);
	if (!strstr(said, message))
		fail_msg("'%s': '%s' is not in '%s'", line, message, said);
}

static void flags(void **state)
{
	struct options o;

	(void)state;
	accept(&o, "-q");
	assert_true(o.quiet);
	accept(&o, "--calm");
	assert_true(o.quiet);
	accept(&o, "-g --quiet -g");
	assert_true(o.quiet && o.inner.deep);
	refuse("--quiet=1", "takes no value");
}

static void times(void **state)
{
	struct options o;

	(void)state;
	accept(&o, "--min 5");
	assert_int_equal(o.min_ns, 5 * NSEC_PER_MSEC);
	assert_true(o.has_min);
	accept(&o, "--min 0 --late 1.5 -o 2");
	assert_int_equal(o.min_ns, 0);
	assert_int_equal(o.late_ns, 1500);
	assert_int_equal(o.old_ns, 2 * NSEC_PER_SEC);
	accept(&o, "--min 5us --late 2s --old 10ms");
	assert_int_equal(o.min_ns, 5000);
	assert_int_equal(o.late_ns, 2 * NSEC_PER_SEC);
	refuse("--min x", "--min: 'x' is not a time, like 10ms, 500us (a number alone is in ms)");
	refuse("--late -1", "--late: '-1' is not a time, like 5us, 300ns (a number alone is in us)");
	refuse("-o 11", "-o: '11' is not a time of 10 seconds at most");
	refuse("-o 0", "-o: '0' is not a time of 10 seconds at most");
	assert_false(o.has_min && !o.min_ns);
}

static void numbers(void **state)
{
	struct options o;

	(void)state;
	accept(&o, "-c 1000 --ring 16M --depth 3");
	assert_int_equal(o.count, 1000);
	assert_int_equal(o.ring, 16 << 20);
	assert_int_equal(o.inner.depth, 3);
	refuse("-c 1001", "-c: '1001' is not a number from 1 to 1000");
	refuse("-c 0", "-c: '0' is not a number from 1 to 1000");
	refuse("--ring 1K", "--ring: '1K' is not a number of at least 4096");
	refuse("--depth x", "--depth: 'x' is not a number of frames");
	refuse("--depth 18446744073709551616", "--depth: '18446744073709551616' is not a number of frames");
}

static void texts(void **state)
{
	struct options o;

	(void)state;
	accept(&o, "--text a --glob n[ab]*");
	assert_string_equal(o.text, "a");
	assert_true(scope_glob__matches(&o.glob, "nb1"));
	accept(&o, "--errno ENOENT");
	assert_int_equal(o.error, ENOENT);
	refuse("--errno ENOTHING", "--errno: no error 'ENOTHING'");
	refuse("--glob [a", "--glob: '[a' is not a glob: [ is not closed");
}

static void words(void **state)
{
	struct options o;

	(void)state;
	accept(&o, "--color green");
	assert_int_equal(o.color, GREEN);
	accept(&o, "--off=green");
	assert_int_equal(o.color, GREEN);
	accept(&o, "--off");
	assert_int_equal(o.color, RED);
	accept(&o, "--colors green,red");
	assert_int_equal(o.colors, 1 << RED | 1 << GREEN);
	refuse("--colors green --colors red", "--colors is given twice");
	accept(&o, "--more green --more red");
	assert_int_equal(o.colors, 1 << RED | 1 << GREEN);
	refuse("--color blue", "--color: unknown color 'blue'; expected one of red, green");
	refuse("--color ", "--color: unknown color ''; expected one of red, green");
	refuse("--off=blue", "--off: 'blue' is not one of red, green");
	refuse("--colors red,blue,green", "--colors: 'blue' is not one of red, green");
	refuse("--colors red,", "--colors: '' is not one of red, green");
}

static void own_parsers(void **state)
{
	struct options o;

	(void)state;
	accept(&o, "--own a --own b --secret c");
	assert_string_equal(o.own, "c");
	assert_int_equal(o.own_calls, 3);
	refuse("--own bad", "");
}

static void values_given_twice(void **state)
{
	struct options o;

	(void)state;
	accept(&o, "--min 1 --min 1");
	refuse("--min 1 --min 2", "--min is given twice: '1' and '2'");
	refuse("-c 1 -c2", "-c is given twice: '1' and '2'");
	refuse("--text a --text=b", "--text is given twice: 'a' and 'b'");
	refuse("--depth 1 --depth 2", "--depth is given twice");
	refuse("--secret 1 --secret 2", "--secret is given twice");
}

/* The table that --help, completion and cli/prescan.h see. */
static void table_of_argp(void **state)
{
	struct option_table t;
	struct option_rows rows;
	char *help;
	int i;

	(void)state;
	option_rows__fill(&rows, some_rows, NULL);
	option_table__fill(&t, &rows.argp);
	i = option_table__letter(&t, 'g');
	assert_ptr_equal(t.row[i], &inner_rows[1]);
	assert_true(t.takes[option_table__letter(&t, 'c')] == TAKES_VALUE);
	i = option_table__name(&t, "calm", 4, &i, &i);
	assert_string_equal(t.doc[i], "Less");
	assert_ptr_equal(t.row[i], &some_rows[1]);
	i = option_table__name(&t, "off", 3, &i, &i);
	assert_true(t.takes[i] == MAY_TAKE_VALUE);
	i = option_table__name(&t, "secret", 6, &i, &i);
	assert_true(t.option[i]->flags & OPTION_HIDDEN);
	i = option_table__name(&t, "late", 4, &i, &i);
	help = rows.argp.help_filter(t.option[i]->key, t.doc[i], &rows);
	assert_string_equal(help, "Late; us without a unit");
	free(help);
	i = option_table__letter(&t, 'o');
	assert_ptr_equal(rows.argp.help_filter(t.option[i]->key, t.doc[i], &rows), t.doc[i]);
	i = option_table__name(&t, "help", 4, &i, &i);
	assert_null(t.row[i]);
}

static void same_values(void **state)
{
	const struct option_row *time = &some_rows[4], *size = &some_rows[7], *text = &some_rows[8];

	(void)state;
	assert_true(option_row__same(time, "5", "5us"));
	assert_true(option_row__same(time, "1s", "1000ms"));
	assert_false(option_row__same(time, "5", "5ms"));
	assert_true(option_row__same(size, "4K", "4096"));
	assert_false(option_row__same(size, "4K", "4M"));
	assert_false(option_row__same(size, "none", "no"));
	assert_false(option_row__same(text, "1s", "1000ms"));
	assert_true(option_row__same(text, "a", "a"));
}

static void rows_of_others_come_first(void **state)
{
	static const struct option_row others[] = {
		{ "text", 0, "TEXT", ROW_TEXT, "Other", 1, FIELD(struct options, text) },
		{ "else", 0, NULL, ROW_FLAG, "Else", 1, FIELD(struct options, quiet) },
		{},
	};
	struct option_rows rows, own;

	(void)state;
	option_rows__fill(&own, some_rows, NULL);
	option_rows__fill(&rows, NULL, NULL);
	option_rows__add(&rows, others, &own);
	assert_int_equal(rows.n, 1);
	assert_ptr_equal(rows.row[0], &others[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags),
		cmocka_unit_test(times),
		cmocka_unit_test(numbers),
		cmocka_unit_test(texts),
		cmocka_unit_test(words),
		cmocka_unit_test(own_parsers),
		cmocka_unit_test(values_given_twice),
		cmocka_unit_test(table_of_argp),
		cmocka_unit_test(same_values),
		cmocka_unit_test(rows_of_others_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
