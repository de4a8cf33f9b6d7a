// SPDX-License-Identifier: BSD-2-Clause
#include "cli/complete.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_table.h"
#include "cli/options.h"
#include "report/escape.h"

bool complete__is_asked(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[1], COMPLETE_OPTION);
}

/*
 * --- the answer --------------------------------------------------------------------------------
 */

/* True if the list already contains the word, before the value being typed. */
static bool is_listed(const struct completion *c, const char *word)
{
	const char *p = c->listed;
	size_t len, all = strlen(word);

	for (; p < c->typed; p += len + 1) {
		len = strcspn(p, c->separators);
		if (len == all && !strncmp(p, word, len))
			return true;
	}
	return false;
}

/* True if the word is safe to print and fits the lines of the answer. */
static bool is_plain(const char *word)
{
	char *escaped = escape_string(word);
	bool plain = escaped && *word && !strcmp(escaped, word);

	free(escaped);
	return plain;
}

void completion__add(struct completion *c, const char *word, const char *help)
{
	char *text;

	if (strncmp(word, c->typed, strlen(c->typed)) || strpbrk(word, c->separators) || !is_plain(word) ||
	    is_listed(c, word))
		return;
	text = escape_string(help);
	fprintf(c->out, "%.*s%s\t%s\n", (int)(c->typed - c->current), c->current, word, text ?: "");
	free(text);
}

void completion__leave(struct completion *c, const char *what)
{
	fprintf(c->out, "\t%s\n", what);
}

/*
 * --- values ------------------------------------------------------------------------------------
 */

void complete_key(struct completion *c)
{
	completion__add(c, "key", "");
}

/* Leaves files and users to the shell. called: name of the value in the option table. */
static void leave_values(struct completion *c, const char *called)
{
	if (!strcmp(called, "FILE") || !strcmp(called, "BINARY") || !strcmp(called, "PATH"))
		completion__leave(c, "files");
	else if (!strcmp(called, "USER"))
		completion__leave(c, "users");
}

/* Adds the values of option k. typed: beginning of the value in c->current. */
static void add_values(struct completion *c, const struct option_table *t, int k, const char *typed)
{
	const struct option_row *row = t->row[k];
	const char *p;
	size_t i;

	c->typed = c->listed = typed;
	if (!row || !(row->nwords || row->complete)) {
		leave_values(c, t->option[k]->arg ?: "");
		return;
	}
	c->separators = (row->kind == ROW_WORDS ? "," : row->separators) ?: "";
	while ((p = strpbrk(c->typed, c->separators)))
		c->typed = p + 1;
	for (i = 0; i < row->nwords; i++)
		if (row->words[i])
			completion__add(c, row->words[i], "");
	if (row->complete)
		row->complete(c);
}

/*
 * --- options -----------------------------------------------------------------------------------
 */

static bool is_hidden(const struct option_table *t, size_t i)
{
	return t->option[i]->flags & OPTION_HIDDEN;
}

/* True if an earlier option has the same name: a tool's own option hides the common one. */
static bool is_repeated(const struct option_table *t, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (!is_hidden(t, k) && (t->name[i][0] ? !strcmp(t->name[k], t->name[i]) :
					 !t->name[k][0] && t->letter[k] == t->letter[i]))
			return true;
	return false;
}

/* Adds a word with its description from --help, which may depend on the tool. */
static void add_option(struct completion *c, const struct option_table *t, size_t i, const char *word)
{
	const struct argp *argp = t->argp[i];
	const char *doc = t->doc[i] ?: "";
	char *text = (char *)doc;

	if (argp->help_filter)
		text = argp->help_filter(t->option[i]->key, doc, option_rows__of(argp));
	completion__add(c, word, text ?: "");
	if (text != doc)
		free(text);
}

/* Adds long names, the letters of options without a long name, and any letter that is typed in full. */
static void add_options(struct completion *c, const struct option_table *t)
{
	char letter[] = "-x", name[OPTION_NAME_SPACE];
	bool is_letter = c->typed[0] && c->typed[1] && c->typed[1] != '-';
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (is_hidden(t, i) || is_repeated(t, i))
			continue;
		letter[1] = t->letter[i];
		if (letter[1] && (is_letter || !t->name[i][0]))
			add_option(c, t, i, letter);
		snprintf(name, sizeof(name), "--%s", t->name[i]);
		if (t->name[i][0])
			add_option(c, t, i, name);
	}
}

/*
 * --- the line ----------------------------------------------------------------------------------
 */

/*
 * Returns the index of the option whose value is in this word or the next one, or -1 if there is none. Sets *value to
 * the value in this word, or to NULL.
 */
static int find_value(const struct option_table *t, const char *word, const char **value)
{
	size_t len = strcspn(word, "=");
	int k, first, other;

	*value = NULL;
	if (word[0] != '-' || !word[1])
		return -1;
	if (word[1] == '-') {
		k = option_table__name(t, word + 2, len - 2, &first, &other);
		if (word[len])
			*value = word + len + 1;
		return k >= 0 && t->takes[k] != TAKES_NOTHING && (*value || t->takes[k] == TAKES_VALUE) ? k : -1;
	}
	while (*++word) {
		k = option_table__letter(t, *word);
		if (k < 0)
			return -1;
		if (t->takes[k] == TAKES_NOTHING)
			continue;
		if (word[1])
			*value = word + 1;
		return *value || t->takes[k] == TAKES_VALUE ? k : -1;
	}
	return -1;
}

static void complete_current(struct completion *c, const struct option_table *t, int waiting)
{
	const char *value;
	int k;

	if (waiting >= 0) {
		add_values(c, t, waiting, c->current);
		return;
	}
	k = find_value(t, c->current, &value);
	if (value && k >= 0)
		add_values(c, t, k, value);
	else if (c->current[0] == '-')
		add_options(c, t);
	else if (c->spec->arguments)
		c->spec->arguments(c);
}

/* Walks the words before the current one, by the rules of getopt_long(3). */
static void complete_line(struct completion *c, const struct argp *root, int argc, char **argv)
{
	struct option_table t;
	const char *value;
	int i, waiting = -1;

	option_table__fill(&t, root);
	for (i = 2; i < argc - 1; i++) {
		if (waiting >= 0) {
			waiting = -1;
			continue;
		}
		if (!strcmp(argv[i], "--")) {
			if (c->spec->groups & CLI_COMMAND)
				completion__leave(c, "command");
			return;
		}
		if (argv[i][0] != '-' || !argv[i][1]) {
			c->first = c->first ?: argv[i];
			c->position++;
			continue;
		}
		waiting = find_value(&t, argv[i], &value);
		if (value)
			waiting = -1;
	}
	complete_current(c, &t, waiting);
}

char *complete__answer(const struct cli_spec *spec, const struct argp *root, int argc, char **argv)
{
	const char *current = argc > 2 ? argv[argc - 1] : "";
	struct completion c = {
		.spec = spec, .current = current, .typed = current, .listed = current, .separators = "",
	};
	char *text = NULL;
	size_t n;

	c.out = open_memstream(&text, &n);
	if (!c.out)
		return NULL;
	complete_line(&c, root, argc, argv);
	if (fclose(c.out)) {
		free(text);
		return NULL;
	}
	return text;
}
