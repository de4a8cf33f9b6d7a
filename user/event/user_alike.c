// SPDX-License-Identifier: BSD-2-Clause
/* Functions of a file that share a name: static C functions, versions of a symbol, instances of a generic function. */
#include "event/user_resolver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A site whose name another function shares, and the place where its function is defined. */
struct alike {
	struct event_site *site;
	char *file;             /* NULL if unknown */
	u32 line;
};

static int by_name(const void *a, const void *b)
{
	const struct alike *x = a, *y = b;

	return strcmp(x->site->name, y->site->name) ?: (x->site > y->site) - (x->site < y->site);
}

/* Returns the end of the sites from `from` that share a name. Sets *several if they belong to several functions. */
static size_t end_of_name(const struct alike *a, size_t n, size_t from, bool *several)
{
	size_t to = from;

	for (*several = false; to < n && !strcmp(a[to].site->name, a[from].site->name); to++)
		*several |= a[to].site->function != a[from].site->function;
	return to;
}

/* Lists these sites by name. All copies of an inlined function are one function, and have its name. */
static int find_alike(const struct resolver *r, struct alike **found, size_t *nfound)
{
	struct event_site *site = r->sites->site;
	size_t n = 0, i, from, to;
	struct alike *a = calloc(r->sites->n - r->first ?: 1, sizeof(*a));
	bool several;

	if (!a)
		return -ENOMEM;
	for (i = r->first; i < r->sites->n; i++)
		if (site[i].function && !site[i].is_inlined)
			a[n++].site = &site[i];
	qsort(a, n, sizeof(*a), by_name);
	*nfound = 0;
	for (from = 0; from < n; from = to) {
		to = end_of_name(a, n, from, &several);
		for (i = from; i < to && several; i++)
			a[(*nfound)++].site = a[i].site;
	}
	*found = a;
	return 0;
}

/* --- where they are defined -------------------------------------------------------------------- */

static bool is_at(const struct dwarf_function *f, u64 address)
{
	size_t i;

	for (i = 0; i < f->nplaces; i++)
		if (!f->place[i].is_inlined && f->place[i].address == address)
			return true;
	return false;
}

static int find_source(struct alike *a, struct dwarf *d, const char *name)
{
	struct dwarf_functions f = {};
	size_t i;

	if (dwarf_functions__find(&f, d, name))
		return 0;
	for (i = 0; i < f.n && !(f.function[i].file && is_at(&f.function[i], a->site->function)); i++)
		;
	if (i < f.n) {
		a->line = f.function[i].line;
		a->file = strdup(f.function[i].file);
	}
	i = i < f.n && !a->file;
	dwarf_functions__free(&f);
	return i ? -ENOMEM : 0;
}

/* Without debug information the sources remain unknown. A glob may match too many functions to look up each. */
static int find_sources(const struct resolver *r, struct alike *a, size_t n)
{
	struct dwarf *d;
	int err = 0;
	size_t i;

	if (r->is_glob || dwarf__open(&d, r->path))
		return 0;
	for (i = 0; i < n && !err; i++)
		err = find_source(&a[i], d, a[i].site->symbol ?: r->event->function.name);
	dwarf__close(d);
	return err;
}

/* --- their names ------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Two copies of a function from a header are the same function to the user. */
static bool is_same(const struct alike *a, const struct alike *b)
{
	return a->file && b->file && a->line && a->line == b->line && !strcmp(a->file, b->file) &&
	       !a->site->symbol == !b->site->symbol &&
	       (!a->site->symbol || !strcmp(a->site->symbol, b->site->symbol));
}

/* Formats what distinguishes one of n functions: the source file, as the user can type it, or else the address. */
static void tell_difference(char *text, size_t size, const struct alike *a, const struct alike *all, size_t n)
{
	bool by_file = false, by_address = false;
	size_t i;

	for (i = 0; i < n; i++) {
		if (all[i].site->function == a->site->function || is_same(&all[i], a))
			continue;
		if (a->file && all[i].file && strcmp(last_part(all[i].file), last_part(a->file)))
			by_file = true;
		else
			by_address = true;
	}
	text[0] = 0;
	if (by_address)
		snprintf(text, size, " (0x%llx)", a->site->function);
	else if (by_file)
		snprintf(text, size, "@%s", last_part(a->file));
}

/* Inserts the difference before any suffix of the function's name, as in NAME%return. */
static int tell_one_apart(const struct resolver *r, struct event_site *s, const char *difference, char **name)
{
	const struct event_function *f = &r->event->function;
	const char *own = s->name + strlen(r->file) + 1, *end = own + strlen(own);

	if (event_function__has_line(f))
		end = own + strcspn(own, ":;+");
	else if (f->is_return)
		end -= strlen("%return");
	else if (f->offset)
		end = strrchr(own, '+');
	if (!s->symbol) {
		s->symbol = strndup(own, end - own);
		if (!s->symbol)
			return -ENOMEM;
	}
	if (asprintf(name, "%.*s%s%s", (int)(end - s->name), s->name, difference, end) >= 0)
		return 0;
	*name = NULL;
	return -ENOMEM;
}

static int tell_group_apart(const struct resolver *r, struct alike *a, size_t n)
{
	char **names = calloc(n, sizeof(*names)), text[128];
	int err = names ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < n && !err; i++) {
		tell_difference(text, sizeof(text), &a[i], a, n);
		if (text[0])
			err = tell_one_apart(r, a[i].site, text, &names[i]);
	}
	for (i = 0; names && i < n; i++) {
		if (!names[i])
			continue;
		free(a[i].site->name);
		a[i].site->name = names[i];
	}
	free(names);
	return err;
}

int resolver__tell_alike_apart(struct resolver *r)
{
	size_t n = 0, i, from, to;
	struct alike *a = NULL;
	bool several;
	int err = find_alike(r, &a, &n);

	if (!err && n)
		err = find_sources(r, a, n);
	for (from = 0; !err && from < n; from = to) {
		to = end_of_name(a, n, from, &several);
		err = tell_group_apart(r, &a[from], to - from);
	}
	for (i = 0; i < n; i++)
		free(a[i].file);
	free(a);
	return err;
}
