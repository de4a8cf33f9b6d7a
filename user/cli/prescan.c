// SPDX-License-Identifier: BSD-2-Clause
#include "cli/prescan.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/nearest.h"
#include "out/diag.h"

#define MOST_OPTIONS 128

enum takes {
	TAKES_NOTHING,
	TAKES_VALUE,
	MAY_TAKE_VALUE,
};

struct option_table {
	size_t n;
	const char *name[MOST_OPTIONS];         /* long name or "" */
	int letter[MOST_OPTIONS];               /* 0: none */
	enum takes takes[MOST_OPTIONS];
};

static void add(struct option_table *t, const char *name, int key, enum takes takes)
{
	if (t->n == MOST_OPTIONS)
		return;
	t->name[t->n] = name ?: "";
	t->letter[t->n] = key > 0 && key < 128 && isprint(key) ? key : 0;
	t->takes[t->n++] = takes;
}

static void collect(struct option_table *t, const struct argp *argp)
{
	const struct argp_option *o = argp->options;
	const struct argp_child *child;
	enum takes takes = TAKES_NOTHING;

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

/* A long option may be cut short as long as it means one thing. Returns its index or -1. */
static int find_long(const struct option_table *t, const char *name, size_t len)
{
	int found = -1;
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (!t->name[i][0] || strncmp(t->name[i], name, len))
			continue;
		if (!t->name[i][len])
			return i;
		if (found >= 0) {
			diag_error("'--%.*s' could be --%s or --%s", (int)len, name, t->name[found],
				   t->name[i]);
			return -2;
		}
		found = i;
	}
	return found;
}

static void unknown_long(const struct option_table *t, const char *name, size_t len)
{
	char text[64];
	const char *near;

	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	memcpy(text, name, len);
	text[len] = 0;
	diag_error("unknown option '--%s'", text);
	near = nearest(text, t->name, t->n);
	if (near && near[0])
		diag_hint("did you mean '--%s'?", near);
	else
		diag_hint("--help lists the options");
}

/* Checks argv[i], a long option. Returns how many elements it takes, or -EINVAL. */
static int check_long(const struct option_table *t, int argc, char **argv, int i)
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
	if (has_value || t->takes[k] != TAKES_VALUE)
		return 1;
	if (i + 1 >= argc) {
		diag_error("'--%s' needs a value", t->name[k]);
		return -EINVAL;
	}
	return 2;
}

/* The same for a cluster of letters, -Tp 1. */
static int check_short(const struct option_table *t, int argc, char **argv, int i)
{
	const char *p;
	size_t k;

	for (p = argv[i] + 1; *p; p++) {
		for (k = 0; k < t->n && t->letter[k] != *p; k++)
			;
		if (k == t->n) {
			diag_error("unknown option '-%c'", *p);
			diag_hint("--help lists the options");
			return -EINVAL;
		}
		if (t->takes[k] == MAY_TAKE_VALUE || (t->takes[k] == TAKES_VALUE && p[1]))
			return 1;
		if (t->takes[k] == TAKES_VALUE) {
			if (i + 1 < argc)
				return 2;
			diag_error("'-%c' needs a value", *p);
			return -EINVAL;
		}
	}
	return 1;
}

int cli_prescan(const struct argp *argp, int argc, char **argv, int *end)
{
	struct option_table t = {};
	int i, n;

	collect(&t, argp);
	add(&t, "help", '?', TAKES_NOTHING);
	add(&t, "usage", 0, TAKES_NOTHING);
	add(&t, "version", 'V', TAKES_NOTHING);
	for (i = 1; i < argc; i += n) {
		if (!strcmp(argv[i], "--"))
			break;
		if (!strncmp(argv[i], "--", 2))
			n = check_long(&t, argc, argv, i);
		else if (argv[i][0] == '-' && argv[i][1])
			n = check_short(&t, argc, argv, i);
		else
			n = 1;
		if (n < 0)
			return n;
	}
	*end = i;
	return 0;
}
