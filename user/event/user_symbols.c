// SPDX-License-Identifier: BSD-2-Clause
/* Finds functions by the symbols of a file. */
#include "event/user_resolver.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/code_name.h"
#include "event/user_binary.h"

/* Returns the best of a function's names: the typed one, else the one with the fewest leading underscores. */
static const char *best_name(const struct binary_function *f, size_t n, const char *typed)
{
	const char *best = f->name;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!strcmp(f[i].name, typed))
			return f[i].name;
		if (strspn(f[i].name, "_") < strspn(best, "_"))
			best = f[i].name;
	}
	return best;
}

/* An IFUNC symbol is a resolver: it selects the function, and is not called with its arguments. */
static int refuse_indirect(const struct resolver *r)
{
	const struct event *e = r->event;

	complain(r->c, 0, e->at, e->len, "%s is an IFUNC, which selects a function at program start: a probe on it "
					 "would see the selection, not the calls", e->function.name);
	return complain_hint(r->c, -EOPNOTSUPP, "probe the functions it selects from; `list --functions -x %s "
						"'*%s*'` shows them", r->file, e->function.name);
}

/* Sets the symbol of the sites starting at index `from`. */
int resolver__set_symbols(struct resolver *r, size_t from, const char *symbol)
{
	for (; from < r->sites->n; from++) {
		struct event_site *site = &r->sites->site[from];

		if (!site->symbol && symbol)
			site->symbol = strdup(symbol);
		if (!site->symbol && symbol)
			return -ENOMEM;
	}
	return 0;
}

/* Formats the name into text[size]; prints symbols that are not C++ or Rust unchanged. */
void resolver__tell_name(struct resolver *r, char *text, size_t size, const char *symbol, enum code_name_form form)
{
	char *demangled = malloc(DEMANGLED_MAX);

	if (demangled && demangler__ask(&r->demangler, symbol, demangled, DEMANGLED_MAX))
		code_name__form(text, size, demangled, form);
	else
		snprintf(text, size, "%s", symbol);
	free(demangled);
}

/* Callback of confined_work: demangles there, since symbols may be crafted to attack the demangler. */
bool user_symbol__is_named(const char *symbol, const void *typed)
{
	char *demangled;
	bool is = false;

	if (event_is_glob(typed) && !fnmatch(typed, symbol, 0))
		return true;
	if (!code_name__may_match(typed, symbol))
		return false;
	demangled = malloc(DEMANGLED_MAX);
	if (demangled && demangle(symbol, demangled, DEMANGLED_MAX))
		is = code_name__matches(typed, demangled);
	free(demangled);
	return is;
}

/* Returns the short names of all functions found, or NULL if out of memory. */
static char **tell_all(struct resolver *r, const struct binary_functions *all)
{
	char **told = calloc(all->n ?: 1, sizeof(*told)), text[TOLD_MOST];
	size_t i;

	for (i = 0; told && i < all->n; i++) {
		resolver__tell_name(r, text, sizeof(text), all->function[i].name, CODE_NAME_SHORT);
		told[i] = strdup(text);
	}
	return told;
}

static void free_told(char **told, size_t n)
{
	size_t i;

	for (i = 0; told && i < n; i++)
		free(told[i]);
	free(told);
}

/* Names overloaded functions with parameters, and all others without. */
static void tell_shortly(struct resolver *r, char *text, size_t size, const struct binary_functions *all, size_t which)
{
	const char *name = r->told[which];
	size_t i;

	for (i = 0; i < all->n && name; i++)
		if (all->function[i].address != all->function[which].address && r->told[i] &&
		    !strcmp(r->told[i], name))
			name = NULL;
	if (name)
		snprintf(text, size, "%s", name);
	else
		resolver__tell_name(r, text, size, all->function[which].name, CODE_NAME_FULL);
}

static int add_symbol(struct resolver *r, const struct binary_functions *all, const struct binary_function *f,
		      size_t aliases)
{
	const struct event_function *e = &r->event->function;
	const char *name = best_name(f, aliases, e->name), *symbol = r->told ? name : NULL;
	char text[384], offset[32] = "", told[TOLD_MOST];
	size_t before = r->sites->n;
	u64 size = 0;
	size_t i;
	int err;

	for (i = 0; i < aliases; i++) {
		if (f[i].is_indirect)
			return r->is_glob ? 0 : refuse_indirect(r);
		if (f[i].size > size)
			size = f[i].size;
	}
	if (e->offset && size && e->offset >= size)
		return complain(r->c, -EINVAL, r->event->at, r->event->len,
				"%s has only %llu bytes", name, size);
	if (e->offset)
		snprintf(offset, sizeof(offset), "+0x%llx", e->offset);
	snprintf(told, sizeof(told), "%s", name);
	if (symbol)
		for (i = 0; i < aliases; i++)
			if (f[i].name == name)
				tell_shortly(r, told, sizeof(told), all, f - all->function + i);
	snprintf(text, sizeof(text), "%s%s%s", told, offset, e->is_return ? "%return" : "");
	if (e->is_return) {
		err = resolver__add_ends(r, name, text, f->address, f->file_offset);
	} else {
		err = e->offset ? resolver__check_place(r, text, f->address + e->offset, false) : 0;
		err = err ?: resolver__add_place(r, text, f->address, e->offset, f->file_offset);
	}
	return err ?: resolver__set_symbols(r, before, symbol && strcmp(symbol, told) ? symbol : NULL);
}

#define ANY_TYPES "[...]"

/* main.Map[...], as Go's runtime writes it, selects all instances of a generic function. */
static int find_instances(struct binary_functions *found, const struct resolver *r)
{
	const char *name = r->event->function.name, *types = strstr(name, ANY_TYPES);
	char *glob;
	int err;

	if (!types)
		return 0;
	if (asprintf(&glob, "%.*s[[]*[]]%s", (int)(types - name), name, types + strlen(ANY_TYPES)) < 0)
		return -ENOMEM;
	binary_functions__free(found);
	err = binary_functions__find(found, r->path, glob);
	free(glob);
	return err;
}

static int find_symbols(struct binary_functions *found, const struct resolver *r)
{
	const char *name = r->event->function.name;
	int err;

	if (r->by_code_name)
		err = binary_functions__search(found, r->path, user_symbol__is_named, name);
	else
		err = binary_functions__find(found, r->path, name);
	return err ?: found->n ? 0 : find_instances(found, r);
}

int resolver__add_symbols(struct resolver *r)
{
	struct binary_functions found = {};
	size_t i, next;
	int err = find_symbols(&found, r);

	if (err)
		return event__complain_binary(r->event, r->path, err, r->c);
	if (found.n && !strcmp(found.function[0].name, r->event->function.name))
		r->is_glob = r->by_code_name = false;
	r->told = r->by_code_name ? tell_all(r, &found) : NULL;
	if (r->by_code_name && !r->told)
		err = -ENOMEM;
	for (i = 0; i < found.n && !err; i = next) {
		for (next = i + 1; next < found.n; next++)
			if (found.function[next].address != found.function[i].address)
				break;
		err = add_symbol(r, &found, &found.function[i], next - i);
	}
	free_told(r->told, found.n);
	r->told = NULL;
	binary_functions__free(&found);
	return err;
}
