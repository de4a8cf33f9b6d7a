// SPDX-License-Identifier: BSD-2-Clause
#include "cli/prescan.h"

#include <errno.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/option_table.h"
#include "cli/tools.h"
#include "report/diag.h"

/* The last value of each option. */
struct values {
	const char *of[OPTION_TABLE_MOST];
};

/*
 * A long option may be abbreviated if it is unambiguous and not the full name of another tool's
 * option.
 */
static int find_long(const struct option_table *t, const char *name, size_t len)
{
	int first, other, i = option_table__name(t, name, len, &first, &other);

	if (i == -2)
		diag_error("'--%.*s' could be --%s or --%s", (int)len, name, t->name[first],
			   t->name[other]);
	if (i >= 0 && !option_table__is_whole(t, i, len) && cli_tools.with_option &&
	    cli_tools.with_option(name, len, NULL))
		return -1;
	return i;
}

static void unknown_long(const struct option_table *t, const char *name, size_t len)
{
	char text[64], tools[TOOLS_WITH_OPTION];
	const char *near;

	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	memcpy(text, name, len);
	text[len] = 0;
	diag_error("unknown option '--%s'", text);
	if (cli_tools.with_option && cli_tools.with_option(text, len, tools)) {
		diag_hint("it is an option of %s", tools);
		return;
	}
	near = nearest(text, t->name, t->n);
	if (near && near[0])
		diag_hint("did you mean '--%s'?", near);
	else
		diag_hint("--help lists the options");
}

/* Notes the value of an option. The same value may be repeated. */
static int note_value(const struct option_table *t, struct values *values, int k, const char *value)
{
	const char *before = values->of[k];

	values->of[k] = value;
	if (!before || !t->row[k] || !option_row__takes_one(t->row[k]) || option_row__same(t->row[k], before, value))
		return 0;
	if (t->letter[k])
		diag_error("-%c is given twice: '%s' and '%s'", t->letter[k], before, value);
	else
		diag_error("--%s is given twice: '%s' and '%s'", t->name[k], before, value);
	return -EINVAL;
}

/* Checks the long option argv[i]. Returns the number of elements it takes, or -EINVAL. */
static int check_long(const struct option_table *t, struct values *values, int argc, char **argv,
		      int i)
{
	const char *name = argv[i] + 2;
	size_t len = strcspn(name, "=");
	bool has_value = name[len] == '=';
	int k = find_long(t, name, len);

	if (k == -1)
		unknown_long(t, name, len);
	if (k < 0)
		return -EINVAL;
	if (has_value && t->takes[k] == TAKES_NOTHING) {
		diag_error("'--%s' takes no value", t->name[k]);
		return -EINVAL;
	}
	if (t->takes[k] != TAKES_VALUE)
		return 1;
	if (has_value)
		return note_value(t, values, k, name + len + 1) ?: 1;
	if (i + 1 >= argc) {
		diag_error("'--%s' needs a value", t->name[k]);
		return -EINVAL;
	}
	return note_value(t, values, k, argv[i + 1]) ?: 2;
}

/* Checks a group of letters, such as -Tp 1. Returns the number of elements it takes, or -EINVAL. */
static int check_short(const struct option_table *t, struct values *values, int argc, char **argv,
		       int i)
{
	const char *p;
	int k;

	for (p = argv[i] + 1; *p; p++) {
		k = option_table__letter(t, *p);
		if (k < 0) {
			diag_error("unknown option '-%c'", *p);
			diag_hint("--help lists the options");
			return -EINVAL;
		}
		if (t->takes[k] == MAY_TAKE_VALUE)
			return 1;
		if (t->takes[k] == TAKES_VALUE && p[1])
			return note_value(t, values, k, p + 1) ?: 1;
		if (t->takes[k] == TAKES_VALUE) {
			if (i + 1 < argc)
				return note_value(t, values, k, argv[i + 1]) ?: 2;
			diag_error("'-%c' needs a value", *p);
			return -EINVAL;
		}
	}
	return 1;
}

int cli_prescan(const struct argp *argp, int argc, char **argv, int *end)
{
	struct values values = {};
	struct option_table t;
	int i, n;

	option_table__fill(&t, argp);
	for (i = 1; i < argc; i += n) {
		if (!strcmp(argv[i], "--"))
			break;
		if (!strncmp(argv[i], "--", 2))
			n = check_long(&t, &values, argc, argv, i);
		else if (argv[i][0] == '-' && argv[i][1])
			n = check_short(&t, &values, argc, argv, i);
		else
			n = 1;
		if (n < 0)
			return n;
	}
	*end = i;
	return 0;
}
