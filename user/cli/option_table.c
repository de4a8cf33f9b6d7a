// SPDX-License-Identifier: BSD-2-Clause
#include "cli/option_table.h"

#include <ctype.h>
#include <string.h>

static void add(struct option_table *t, const char *name, int key, enum option_takes takes)
{
	if (t->n == OPTION_TABLE_MOST)
		return;
	t->name[t->n] = name ?: "";
	t->letter[t->n] = key > 0 && key < 128 && isprint(key) ? key : 0;
	t->takes[t->n++] = takes;
}

static void collect(struct option_table *t, const struct argp *argp)
{
	const struct argp_option *o = argp->options;
	const struct argp_child *child;
	enum option_takes takes = TAKES_NOTHING;

	for (; o && (o->name || o->key || o->doc); o++) {
		if (!(o->flags & OPTION_ALIAS))
			takes = !o->arg ? TAKES_NOTHING :
				o->flags & OPTION_ARG_OPTIONAL ? MAY_TAKE_VALUE : TAKES_VALUE;
		if (o->name || o->key)
			add(t, o->name, o->key, takes);
	}
	for (child = argp->children; child && child->argp; child++)
		collect(t, child->argp);
}

void option_table__fill(struct option_table *t, const struct argp *argp)
{
	*t = (struct option_table){};
	collect(t, argp);
	add(t, "help", '?', TAKES_NOTHING);
	add(t, "usage", 0, TAKES_NOTHING);
	add(t, "version", 'V', TAKES_NOTHING);
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
