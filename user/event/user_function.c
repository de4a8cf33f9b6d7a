// SPDX-License-Identifier: BSD-2-Clause
/* Functions of programs and libraries: PATH:FUNC, or FUNC with -x BINARY. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "event/user_binary.h"
#include "event/user_resolver.h"

/* Claims paths, and with -x also bare names that no other source claims. */
static bool claims(const struct event_context *ctx, const struct event_word *w)
{
	size_t path = event_word__path(w);

	(void)ctx;
	if (path)
		return !event_word__is_sdt(w, path + 1);
	return w->len && (w->text[0] == '/' || (w->text[0] == '.' && memchr(w->text, '/', w->len)));
}

/* Parses NAME or NAME@SOURCE, then ;PATTERN or the suffixes that any function may have. */
static int parse_function(struct event *e, const struct event_word *w, size_t from,
			  struct complaint *c)
{
	bool is_code_name = code_name__is_not_c(w->text + from, w->len - from);
	size_t at = is_code_name ? from + code_name__length(w->text + from, w->len - from) :
				   event_word__find(w, from, "@;+:%"), end;
	const struct event_word name = { w->text, w->at, at };
	int err = 0;

	if (is_code_name && at == from)
		return complain(c, -EINVAL, w->at + at, 1, "a function name is missing here");
	if (is_code_name) {
		e->function.name = event_word__copy(w, from, at);
		err = e->function.name ? 0 : -ENOMEM;
	} else {
		err = event__parse_function(e, &name, from, false, c);
	}
	if (err || at == w->len)
		return err;
	if (w->text[at] == '@') {
		end = event_word__find(w, at + 1, ";+:%");
		if (end == at + 1)
			return complain(c, -EINVAL, w->at + at, 1, "a source file must follow the '@'");
		e->function.source = event_word__copy(w, at + 1, end);
		at = end;
	}
	if (at == w->len || w->text[at] != ';')
		return event__parse_place(&e->function, w, at, c);
	if (at + 1 == w->len)
		return complain(c, -EINVAL, w->at + at, 1,
				"a pattern for the line must follow the ';'");
	e->function.pattern = event_word__copy(w, at + 1, w->len);
	return 0;
}

static int parse(struct event *e, const struct event_context *ctx, const struct event_word *w,
		 struct complaint *c)
{
	size_t from;
	int err;

	(void)ctx;
	err = event__take_path(e, w, &from, c);
	if (err)
		return err;
	if (!e->binary || (!from && event__begins_path(w->text))) {
		complain(c, 0, w->at + w->len, 0, "a function is missing after the file");
		return complain_hint(c, -EINVAL, "PATH:FUNCTION, like /bin/bash:readline");
	}
	return parse_function(e, w, from, c);
}

/* --- resolving -------------------------------------------------------------------------------- */

static int is_unread(const struct resolver *r)
{
	const struct event *e = r->event;

	if (event_function__needs_dwarf(&e->function))
		complain(r->c, 0, e->at, e->len, "lines and source files need debug information: %s %s", r->path,
			 r->unread->why);
	else
		complain(r->c, 0, e->at, e->len, "no known function %s '%s' in %s, which %s",
			 event_is_glob(e->function.name) ? "like" : "named", e->function.name, r->path, r->unread->why);
	return complain_hint(r->c, -ENOENT, "%s%s", r->unread->hint, event_function__needs_dwarf(&e->function) ?
			     "; FUNCTION+OFFSET works without it" : "");
}

static int no_debug_information(const struct resolver *r, int err)
{
	const struct event *e = r->event;

	if (err == -EOPNOTSUPP)
		complain(r->c, 0, e->at, e->len, "lines and source files need debug information, "
			 "which this build cannot read (it lacks libdw)");
	else
		complain(r->c, 0, e->at, e->len, "lines and source files need debug information: "
			 "%s has none",
			 r->path);
	return complain_hint(r->c, -EOPNOTSUPP, "%s works without it; or build the program with -g, or install its "
						"-dbgsym or -debuginfo package", "FUNCTION+OFFSET");
}

/* Complains that only functions of another class, or with other parameters, exist. */
static int no_code_name(struct resolver *r)
{
	const struct event *e = r->event;
	struct binary_functions all = {};
	char word[256], glob[300], near[384];

	complain(r->c, 0, e->at, e->len, "no function %s '%s' in %s",
		 event_is_glob(e->function.name) ? "like" : "named", e->function.name, r->path);
	code_name__last_word(e->function.name, word, sizeof(word));
	snprintf(glob, sizeof(glob), "*::%s", word);
	if (!binary_functions__search(&all, r->path, user_symbol__is_named, glob) && all.n) {
		resolver__tell_name(r, near, sizeof(near), all.function[0].name, CODE_NAME_FULL);
		complain_hint(r->c, 0, "there is %s", near);
	} else {
		complain_hint(r->c, 0, "`list --functions -x %s '*'` shows them",
			      r->file);
	}
	binary_functions__free(&all);
	return -ENOENT;
}

static int not_found(struct resolver *r)
{
	const struct event *e = r->event;
	struct binary_functions all = {};
	const char **names, *near = NULL;
	size_t i;

	if (r->unread && event_function__needs_dwarf(&e->function))
		return is_unread(r);
	if (code_name__is_at(e->function.name, strlen(e->function.name)) && !strstr(e->function.name, ".("))
		return no_code_name(r);

	complain(r->c, 0, e->at, e->len, "no function %s '%s' in %s",
		 event_is_glob(e->function.name) ? "like" : "named", e->function.name, r->path);
	if (!binary_functions__find(&all, r->path, NULL)) {
		names = calloc(all.n ?: 1, sizeof(*names));
		for (i = 0; names && i < all.n; i++)
			names[i] = all.function[i].name;
		if (names)
			near = nearest(e->function.name, names, all.n);
		if (r->unread && !near)
			is_unread(r);
		else if (near)
			complain_hint(r->c, 0, "did you mean %s?", near);
		else if (!all.n)
			complain_hint(r->c, 0, "it has no symbols at all (stripped)");
		free(names);
	}
	binary_functions__free(&all);
	return -ENOENT;
}

static int resolve_in(struct resolver *r)
{
	const struct event_function *f = &r->event->function;
	bool needed = event_function__needs_dwarf(f);
	size_t endless = r->sites->endless;
	int err = 0, dwarf;

	if (!needed)
		err = resolver__add_symbols(r);
	if (err || (f->is_call && (r->sites->n > r->first || r->sites->endless > endless)))
		return err;
	if (r->is_one_of_several && !needed && r->sites->n == r->first)
		return -ENOENT;
	/* A glob selects out-of-line functions, not all inlined copies. */
	if (!r->is_glob || needed) {
		r->c->what[0] = 0;
		dwarf = resolver__add_from_dwarf(r);
		if (needed && dwarf && r->c->what[0])
			return dwarf;   /* the callee has already complained */
		if (needed && dwarf == -EPROTONOSUPPORT)
			return is_unread(r);
		if (needed && (dwarf == -ENODATA || dwarf == -EOPNOTSUPP))
			return no_debug_information(r, dwarf);
		if (dwarf == -ENOMEM || dwarf == -E2BIG)
			return dwarf;
		if (needed && dwarf)
			return event__complain_binary(r->event, r->path, dwarf, r->c);
	}
	/* A plain name may be a C++ function outside any namespace, which has a different symbol. */
	if (r->sites->n == r->first && !r->by_code_name && !needed) {
		r->by_code_name = true;
		err = resolver__add_symbols(r);
	}
	return err ?: r->sites->n > r->first ? 0 : not_found(r);
}

/* True for errors of a single file of a glob: the search continues with the others. */
static bool is_of_one_file(int err)
{
	return err == -ENOENT || err == -ENOEXEC || err == -EBADMSG || err == -EACCES || err == -ENODATA;
}

/* Notes a file if several define a plain name: all are probed, and the report lists the files. */
static int note_file(struct event_sites *sites, const char *file)
{
	const char *at = sites->several;
	size_t n = strlen(file);
	char *longer;

	for (; at; at = strstr(at, ", ") ? strstr(at, ", ") + 2 : NULL)
		if (!strncmp(at, file, n) && (!at[n] || !strncmp(at + n, ", ", 2)))
			return 0;
	if (asprintf(&longer, "%s%s%s", sites->several ?: "", sites->several ? ", " : "", file) < 0)
		return -ENOMEM;
	free(sites->several);
	sites->several = longer;
	return 0;
}

static int in_none(const struct event *e, size_t files, struct complaint *c)
{
	bool all = !strcmp(e->binary, EVENT_ALL_BINARIES);

	complain(c, 0, e->at, e->len, "no function %s '%s' in %sany of the %zu files that the processes of -p "
		 "have mapped", event_is_glob(e->function.name) ? "like" : "named", e->function.name,
		 all ? "the kernel, nor in " : "", files);
	return complain_hint(c, -ENOENT, "`list --functions -x FILE '*'` shows the functions of a file");
}

/* one_of_several: see struct resolver. */
static int resolve_in_all(struct resolver *r, const struct event_binaries *binaries, bool one_of_several)
{
	bool is_glob = event_is_glob(r->event->binary);
	const char *name = r->event->function.name;
	size_t i;
	int err = 0;

	for (i = 0; i < binaries->n && !err; i++) {
		r->path = binaries->path[i];
		r->file = binaries->name[i];
		r->first = r->sites->n;
		r->code = NULL;
		r->unread = NULL;
		r->is_32_bit = binary__is_32_bit(r->path);
		r->is_glob = event_is_glob(name);
		r->by_code_name = code_name__is_at(name, strlen(name));
		r->is_one_of_several = one_of_several;
		err = resolve_in(r) ?: resolver__tell_alike_apart(r);
		user_code__close(r->code);
		if (is_glob && is_of_one_file(err))
			err = 0;
		else if (is_glob && !err && r->sites->n > r->first)
			err = note_file(r->sites, r->file);
	}
	return err;
}

static int resolve(struct event_sites *sites, const struct event *e,
		   const struct event_context *ctx, struct complaint *c)
{
	bool is_glob = event_is_glob(e->binary);
	size_t before = sites->n;
	struct resolver r = { .sites = sites, .event = e, .c = c,
			      .most = ctx->max_sites ?: EVENT_MAX_SITES };
	struct event_binaries binaries;
	int err;

	demangler__init(&r.demangler);
	err = event__locate_binaries(&binaries, e, ctx, c);
	event__look_elsewhere(sites, e, ctx, &binaries);
	err = err ?: event__note_lacking(sites, &binaries);
	err = err ?: resolve_in_all(&r, &binaries, is_glob);
	/*
	 * No file has such a symbol: a method by its last name, or an inlined function, needs debug information of
	 * all files.
	 */
	if (is_glob && !err && sites->n == before)
		err = resolve_in_all(&r, &binaries, false);
	if (is_glob && !err && sites->n == before)
		err = in_none(e, binaries.n, c);
	event_binaries__free(&binaries);
	demangler__end(&r.demangler);
	return err == -ENOMEM ? complain(c, err, e->at, e->len, "no memory") : err;
}

const struct event_source event_user_function = {
	.type = EVENT_USER_FUNCTION,
	.name = "user function",
	.claims = claims,
	.parse = parse,
	.resolve = resolve,
};
