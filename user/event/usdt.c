// SPDX-License-Identifier: BSD-2-Clause
/*
 * USDT probes: sdt_PROVIDER:NAME and sdt:NAME (any provider) in -x BINARY or after PATH:, and
 * PROVIDER:NAME if the binary of -x has such a probe. Provider and name may be globs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "event/event.h"
#include "event/user_binary.h"
#include "event/user_code.h"
#include "types/binary.h"

/* Splits the word, starting at `from`, into provider and name; an empty provider means any. */
static int split(const struct event_word *w, size_t from, char **provider, char **name)
{
	size_t colon, end;

	if (event_word__is_sdt(w, from))
		from += w->text[from + 3] == '_' ? 4 : 3;
	colon = event_word__find(w, from, ":");
	end = colon < w->len ? event_word__find(w, colon + 1, ":") : colon;
	*provider = colon > from ? event_word__copy(w, from, colon) : strdup("*");
	*name = colon < w->len ? event_word__copy(w, colon + 1, end) : strdup("");
	if (*provider && *name)
		return 0;
	free(*provider);
	free(*name);
	return -ENOMEM;
}

static bool has_probe_in(const char *path, const struct event_word *w)
{
	char *provider, *name;
	struct usdt_probes found;
	bool has = false;

	if (split(w, 0, &provider, &name))
		return false;
	if (!usdt_probes__find(&found, path, provider, name)) {
		has = found.n;
		usdt_probes__free(&found);
	}
	free(provider);
	free(name);
	return has;
}

/* True if the binary that -p or the command maps has such a probe. Otherwise PROVIDER:NAME is a tracepoint. */
static bool has_probe(const struct event_context *ctx, const struct event_word *w)
{
	struct event_binaries binaries;
	bool has = false;
	size_t i;

	if (event_binaries__find(&binaries, ctx->binary, ctx))
		return false;
	for (i = 0; i < binaries.n && !has; i++)
		has = has_probe_in(binaries.path[i], w);
	event_binaries__free(&binaries);
	return has;
}

static bool claims(const struct event_context *ctx, const struct event_word *w)
{
	size_t path = event_word__path(w), colon = event_word__find(w, 0, ":");

	if (path)
		return event_word__is_sdt(w, path + 1);
	if (event_word__is_sdt(w, 0) && colon < w->len)
		return true;
	if (!ctx->binary || !colon || colon + 1 >= w->len)
		return false;
	return has_probe(ctx, w);
}

static int parse(struct event *e, const struct event_context *ctx, const struct event_word *w,
		 struct complaint *c)
{
	size_t from, name, end;
	int err;

	(void)ctx;
	err = event__take_path(e, w, &from, c);
	if (err)
		return err;
	if (!e->binary) {
		complain(c, 0, w->at, w->len,
			 "a USDT probe needs a program or library");
		return complain_hint(c, -EINVAL, "use -x BINARY, or PATH:sdt_PROVIDER:NAME");
	}
	name = event_word__find(w, from, ":") + 1;
	end = name < w->len ? event_word__find(w, name, ":") : name;
	if (name >= w->len || end == name)
		return complain_hint(c, complain(c, -EINVAL, w->at + w->len, 0,
			"the name of the probe is missing"),
			"sdt_PROVIDER:NAME, both may be globs");
	if (split(w, from, &e->system, &e->tracepoint))
		return complain(c, -ENOMEM, w->at, w->len, "no memory");
	return end < w->len ? event__parse_modifiers(e, w, end + 1, c) : 0;
}

/* Suggests the nearest probe. */
static int not_found(const struct event *e, const char *path, struct complaint *c)
{
	struct usdt_probes all = {};
	const char **names, *near = NULL;
	size_t i, k;

	complain(c, 0, e->at, e->len, "%s has no probe %s:%s", path, e->system, e->tracepoint);
	if (usdt_probes__find(&all, path, NULL, NULL))
		return -ENOENT;
	names = calloc(all.n ?: 1, sizeof(*names));
	for (i = 0; names && i < all.n; i++)
		names[i] = all.probe[i].name;
	if (names)
		near = nearest(e->tracepoint, names, all.n);
	for (k = 0; near && k < all.n && all.probe[k].name != near; k++)
		;
	if (near)
		complain_hint(c, 0, "did you mean sdt_%s:%s?", all.probe[k].provider, near);
	else if (!all.n)
		complain_hint(c, 0, "it has no USDT probes");
	free(names);
	usdt_probes__free(&all);
	return -ENOENT;
}

/* True for a duplicate note of one probe: the linker keeps the notes of functions it merged. */
static bool is_double(const struct usdt_probes *found, size_t i)
{
	const struct usdt_probe *p = &found->probe[i], *q;

	for (q = found->probe; q < p; q++)
		if (q->pc == p->pc && !strcmp(q->name, p->name) &&
		    !strcmp(q->provider, p->provider))
			return true;
	return false;
}

static int add_site(struct event_sites *sites, const struct event *e, const char *path,
		    const struct usdt_probe *p)
{
	struct event_site *site;
	char name[512];

	snprintf(name, sizeof(name), "sdt_%s:%s", p->provider, p->name);
	site = event_sites__add(sites, e, name);
	if (!site)
		return -ENOMEM;
	site->address = site->pc = p->pc;
	site->file_offset = p->file_offset;
	site->semaphore = p->semaphore;
	site->path = strdup(path);
	site->arguments = strdup(p->arguments);
	return site->path && site->arguments ? 0 : -ENOMEM;
}

/* Accepts a note's address if a no-op is there, as in probes, or an instruction begins there. */
static int check_place(struct user_code *code, const struct event *e, const struct usdt_probe *p,
		       struct complaint *c)
{
	struct code_neighbours near;

	if (code && (user_code__is_nop(code, p->file_offset) || !user_code__check(code, p->pc, &near)))
		return 0;
	complain(c, 0, e->at, e->len, "the note of sdt_%s:%s points to 0x%llx, which may not be the start of an "
				      "instruction", p->provider, p->name, p->pc);
	return complain_hint(c, -EILSEQ, "the file is damaged, or was changed after it was linked");
}

static int resolve_in(struct event_sites *sites, const struct event *e, const char *path, u32 most,
		      struct complaint *c)
{
	struct user_code *code = NULL;
	struct usdt_probes found;
	size_t i, n = 0;
	int err;

	err = usdt_probes__find(&found, path, e->system, e->tracepoint);
	if (err)
		return event__complain_binary(e, path, err, c);
	if (found.n && user_code__open(&code, path))
		code = NULL;
	for (i = 0; i < found.n && !err; i++) {
		if (n == most)
			err = event__complain_sites(e, most, c);
		else if (!is_double(&found, i) && ++n)
			err = check_place(code, e, &found.probe[i], c) ?:
			      add_site(sites, e, path, &found.probe[i]);
	}
	user_code__close(code);
	if (!found.n)
		err = not_found(e, path, c);
	usdt_probes__free(&found);
	return err;
}

static int resolve(struct event_sites *sites, const struct event *e,
		   const struct event_context *ctx, struct complaint *c)
{
	struct event_binaries binaries;
	size_t i;
	int err;

	err = event__locate_binaries(&binaries, e, ctx, c);
	event__look_elsewhere(sites, e, ctx, &binaries);
	err = err ?: event__note_lacking(sites, &binaries);
	for (i = 0; i < binaries.n && !err; i++)
		err = resolve_in(sites, e, binaries.path[i], ctx->max_sites ?: EVENT_MAX_SITES, c);
	event_binaries__free(&binaries);
	return err == -ENOMEM ? complain(c, err, e->at, e->len, "no memory") : err;
}

const struct event_source event_usdt = {
	.type = EVENT_USDT,
	.name = "USDT",
	.claims = claims,
	.parse = parse,
	.resolve = resolve,
};
