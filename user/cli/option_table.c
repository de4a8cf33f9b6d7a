// SPDX-License-Identifier: BSD-2-Clause
#include "cli/option_table.h"

#include <ctype.h>
#include <string.h>

/* main: o itself, or the option of which o is an alias. */
static void add(struct option_table *t, const struct argp *argp, const struct argp_option *o,
		const struct argp_option *main)
{
	size_t i = t->n;

	if (i == OPTION_TABLE_MOST)
		return;
	t->name[i] = o->name ?: "";
	t->letter[i] = o->key > 0 && o->key < 128 && isprint(o->key) ? o->key : 0;
	t->takes[i] = !main->arg ? TAKES_NOTHING :
		      main->flags & OPTION_ARG_OPTIONAL ? MAY_TAKE_VALUE : TAKES_VALUE;
	t->argp[i] = argp;
	t->option[i] = o;
	t->row[i] = option_row__of(argp, main);
	t->doc[i] = main->doc;
	t->n++;
}

void option_table__collect(struct option_table *t, const struct argp *argp)
{
	const struct argp_option *o = argp->options, *main = o;
	const struct argp_child *child;

	for (; o && (o->name || o->key || o->doc); o++) {
		if (!(o->flags & OPTION_ALIAS))
			main = o;
		if (o->name || o->key)
			add(t, argp, o, main);
	}
	for (child = argp->children; child && child->argp; child++)
		option_table__collect(t, child->argp);
}

/* Options that argp provides. */
static const struct argp_option argp_own_options[] = {
	{ "help", '?', NULL, 0, "Give this help list", 0 },
	{ "usage", 0, NULL, 0, "Give a short usage message", 0 },
	{ "version", 'V', NULL, 0, "Print program version", 0 },
	{},
};

static const struct argp argp_own = { .options = argp_own_options };

void option_table__fill(struct option_table *t, const struct argp *argp)
{
	*t = (struct option_table){};
	option_table__collect(t, argp);
	option_table__collect(t, &argp_own);
}

int option_table__letter(const struct option_table *t, char letter)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->letter[i] == letter)
			return i;
	return -1;
}

int option_table__name(const struct option_table *t, const char *name, size_t len, int *first,
		       int *other)
{
	int found = -1;
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (!t->name[i][0] || strncmp(t->name[i], name, len))
			continue;
		if (!t->name[i][len])
			return i;
		if (found >= 0) {
			*first = found;
			*other = i;
			return -2;
		}
		found = i;
	}
	return found;
}

bool option_table__is_whole(const struct option_table *t, int i, size_t len)
{
	return !t->name[i][len];
}
