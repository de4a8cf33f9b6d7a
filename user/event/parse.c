// SPDX-License-Identifier: BSD-2-Clause
/* Parses the typed text into events: lists, groups, alternatives, and the source of each word. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"
#include "event/code_name.h"
#include "event/event.h"
#include "event/sampling_terms.h"
#include "event/user_binary.h"

const struct event_source *const event_sources[] = {
	&event_hardware,   &event_software,      &event_raw,  &event_pmu,
	&event_breakpoint, &event_user_function, &event_usdt, &event_tracepoint,
	&event_kernel_function,
};

const size_t event_source_count = ARRAY_SIZE(event_sources);

struct parser {
	struct events *events;
	const struct event_context *ctx;
	const char *text;
	size_t pos;
	int group;              /* of the next events; -1 if none */
	struct complaint *c;
};

static void skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)p->text[p->pos]))
		p->pos++;
}

static int no_memory(struct parser *p, size_t at)
{
	return complain(p->c, -ENOMEM, at, 0, "no memory");
}

/*
 * Returns the length of NAME/terms/ or SYSTEM:NAME/terms/ at text, or 0 if text does not begin with one. Commas
 * between the slashes do not separate list items. A path, or an address with a length (mem:1/4), has a colon before
 * or between its slashes.
 */
static size_t pmu_len(const char *text)
{
	size_t name, terms;
	bool is_tracepoint;

	if (event__begins_path(text))
		return 0;
	name = strcspn(text, "/,:{} \t");
	is_tracepoint = text[name] == ':';
	if (is_tracepoint)
		name += 1 + strcspn(text + name + 1, "/,:{} \t");
	if (!name || text[name] != '/')
		return 0;
	terms = strcspn(text + name + 1, "/:{}");
	if (text[name + 1 + terms] != '/')
		return 0;
	/* PMU terms rarely lack a value; net/http.F[net/url.URL] is a Go name. */
	if (!memchr(text + name, '=', terms) && (is_tracepoint || memchr(text + name, '[', terms)))
		return 0;
	return name + terms + 2;
}

/* Returns the index after the part of a name at i that may contain blanks, commas or braces; i if there is none. */
static size_t behind_part(const char *text, size_t len, size_t i)
{
	if (text[i] == '(' || text[i] == '<')
		return code_name__behind_group(text, len, i);
	return text[i] == '{' ? code_name__behind_braces(text, len, i) : code_name__behind_operator(text, len, i);
}

/* Returns the index after the glob's set, or the types of a Go function, at i; i if it is not closed. */
static size_t behind_set(const char *text, size_t len, size_t i)
{
	size_t behind = code_name__behind_group(text, len, i), close = i + strcspn(text + i, "]:/");

	return behind > i ? behind : text[close] == ']' ? close + 1 : i;
}

/*
 * Finds the end of the word that begins here, without trailing blanks, and the brace of its
 * alternatives (*end if it has none).
 */
static int find_word_end(struct parser *p, size_t *end, size_t *open)
{
	const char *t = p->text;
	size_t len = strlen(t), i = p->pos + pmu_len(t + p->pos), behind;
	bool in_braces = false, had_braces = false, in_pattern = false;

	for (; t[i]; i++) {
		in_pattern |= t[i] == ';';
		behind = in_pattern || in_braces ? i : behind_part(t, len, i);
		if (t[i] == '[') {
			behind = behind_set(t, len, i);
			if (behind == i)
				return complain(p->c, -EINVAL, i, 1, "this '[' is never closed");
		}
		if (behind > i) {
			i = behind - 1;
		} else if (t[i] == '{' && !in_braces) {
			if (!had_braces)
				*open = i;
			in_braces = had_braces = true;
		} else if (t[i] == '}') {
			if (!in_braces)
				break;
			in_braces = false;
		} else if (t[i] == ',' && !in_braces) {
			break;
		}
	}
	if (in_braces)
		return complain(p->c, -EINVAL, *open, 1, "this '{' is never closed");
	while (i > p->pos && isspace((unsigned char)t[i - 1]))
		i--;
	*end = i;
	if (!had_braces)
		*open = i;
	return 0;
}

/* True if the word can only be a counter: no other event contains a '-'. */
static bool looks_like_counter(const struct event_word *w, size_t *len)
{
	return event_word__base(w, len) && memchr(w->text, '-', *len) &&
	       event_word__find(w, 0, "/+%*?[") == w->len;
}

/*
 * With -p and without -x, a bare name or a C++, Rust or Go name that is not a kernel function refers
 * to a function in the files that those processes have mapped. So does a glob if kernel functions
 * cannot be probed.
 */
static bool is_of_processes(const struct event_context *ctx, const struct event_word *w)
{
	size_t colon = event_word__find(w, 0, ":");

	if (ctx->binary || !ctx->npids)
		return false;
	if (code_name__is_at(w->text, w->len) || event_word__find(w, 0, "/") < w->len)
		return true;
	if (colon < w->len && (colon + 1 == w->len || !isdigit((unsigned char)w->text[colon + 1])))
		return false;           /* MODULE:NAME */
	if (looks_like_counter(w, &colon) && !memchr(w->text, '.', w->len))
		return false;
	return !kernel_has_function(w) ||
	       (event_word__find(w, 0, "*?[") < w->len && !kernel_functions_can_be_probed());
}

/* cycles::run, mem::copy, r1::draw: C++ and Rust functions may be in a scope that has the name of a counter. */
static bool has_scope(const struct event_word *w)
{
	size_t colon = event_word__find(w, 0, ":");

	return colon && !event_word__path(w) && colon + 1 < w->len && w->text[colon + 1] == ':';
}

static const struct event_source *source_of(const struct event_context *ctx,
					    const struct event_word *w)
{
	size_t i;

	if ((ctx->binary || ctx->npids) && has_scope(w))
		return &event_user_function;
	for (i = 0; i < event_source_count; i++) {
		if (event_sources[i] == &event_kernel_function)
			break;
		if (event_sources[i]->claims(ctx, w))
			return event_sources[i];
	}
	return ctx->binary || is_of_processes(ctx, w) ? &event_user_function : &event_kernel_function;
}

/* Counter names, for suggestions. */
struct names {
	char **name;
	size_t n;
};

/* Adds EVENT for PMU/EVENT/: PMUs are rarely mistyped. */
static int add_name(void *arg, const char *name, const char *description)
{
	struct names *names = arg;
	const char *slash = strchr(name, '/');

	(void)description;
	if (ARRAY_ROOM(names->name, names->n))
		return -ENOMEM;
	names->name[names->n] = slash ? strndup(slash + 1, strcspn(slash + 1, "/")) : strdup(name);
	if (!names->name[names->n])
		return -ENOMEM;
	names->n++;
	return 0;
}

/* Adds the counter name nearest to text, if any, to the hint. */
static void hint_counter(const struct event_context *ctx, const char *text, struct complaint *c)
{
	struct names names = {};
	const char *near = NULL;
	size_t i;
	int err = 0;

	for (i = 0; i < event_source_count && !err; i++)
		if (event_sources[i]->type <= EVENT_BREAKPOINT && event_sources[i]->list)
			err = event_sources[i]->list(ctx, add_name, &names);
	if (names.n)
		near = nearest(text, (const char *const *)names.name, names.n);
	if (near)
		complain_hint(c, 0, "did you mean %s?", near);
	for (i = 0; i < names.n; i++)
		free(names.name[i]);
	free(names.name);
}

static int unknown_counter(struct parser *p, const struct event_word *w, size_t len)
{
	int err = complain(p->c, -EINVAL, w->at, len, "unknown counter '%.*s'",
			   (int)(len < 100 ? len : 100), w->text);
	char *name = event_word__copy(w, 0, len);

	if (name)
		hint_counter(p->ctx, name, p->c);
	free(name);
	return err;
}

/* Adds the event of one word. */
static int add_event(struct parser *p, const struct event_word *w)
{
	const struct event_source *source = source_of(p->ctx, w);
	struct event *e;
	size_t len;
	int err;

	if ((source == &event_tracepoint || source == &event_kernel_function) &&
	    looks_like_counter(w, &len))
		return unknown_counter(p, w, len);
	if (source == &event_kernel_function && memmem(w->text, w->len, "::", 2))
		return complain_hint(p->c, complain(p->c, -EINVAL, w->at, w->len,
						    "the kernel has no functions with C++ or Rust names"),
				     "use -x to name the program or library");
	if (ARRAY_ROOM(p->events->event, p->events->n))
		return no_memory(p, w->at);
	e = &p->events->event[p->events->n++];
	*e = (struct event){ .type = source->type, .source = source, .at = w->at, .len = w->len,
			     .group = p->group };
	e->name = event_word__copy(w, 0, w->len);
	if (!e->name)
		return no_memory(p, w->at);
	if ((p->ctx->binary && (e->type == EVENT_BREAKPOINT || e->type > EVENT_TRACEPOINT)) ||
	    (source == &event_user_function && !event__begins_path(w->text) && !event_word__path(w))) {
		e->binary = strdup(p->ctx->binary ?: EVENT_ALL_BINARIES);
		if (!e->binary)
			return no_memory(p, w->at);
	}
	p->c->what[0] = 0;
	err = source->parse(e, p->ctx, w, p->c);
	if (err && !p->c->what[0])
		complain(p->c, err, w->at, w->len, "%s", strerror(-err));
	return err;
}

/*
 * Returns the length of NAME in NAME/TERMS/MODIFIERS, perf's syntax for events without a PMU
 * (cycles//u, cs/name=switches/), or 0 for any other word.
 */
static size_t slashed_len(const struct event_context *ctx, const struct event_word *w)
{
	struct event_word name = { w->text, w->at, event_word__find(w, 0, "/") };
	size_t close = name.len < w->len ? event_word__find(w, name.len + 1, "/") : w->len;
	const struct event_source *source;
	size_t i;

	if (close == w->len || event__begins_path(w->text))
		return 0;
	for (i = close + 1; i < w->len; i++)
		if (!isalpha((unsigned char)w->text[i]) && !(i == close + 1 && w->text[i] == ':'))
			return 0;
	source = source_of(ctx, &name);
	return source == &event_hardware || source == &event_software || source == &event_raw ||
	       source == &event_tracepoint ? name.len : 0;
}

/* Parses the text between the slashes, from..to: nothing, or name=LABEL. */
static int parse_slashed_terms(struct parser *p, const struct event_word *w, size_t from, size_t to,
			       char **label)
{
	size_t name = from + 5;

	*label = NULL;
	if (from == to)
		return 0;
	if (to - from < 5 || memcmp(w->text + from, "name=", 5))
		return complain_hint(p->c, complain(p->c, -EINVAL, w->at + from, to - from,
			"'%.*s' takes no term other than name=TEXT",
			(int)(from - 1 < 100 ? from - 1 : 100), w->text),
			p->ctx->samples ? "sampling terms are freq=HZ, period=N, max-stack=N and call-graph=no" :
			"PMU events take terms: cpu/event=0x3c/");
	if (name == to || event_word__find(w, name, ",") < to)
		return complain(p->c, -EINVAL, w->at + name, to - name, name == to ?
				"a value is missing after the '='" : "a name cannot contain a comma");
	*label = event_word__copy(w, name, to);
	return *label ? 0 : no_memory(p, w->at);
}

/* Adds the event as NAME:MODIFIERS. */
static int add_slashed(struct parser *p, const struct event_word *w, size_t name)
{
	size_t close = event_word__find(w, name + 1, "/"), from = close + 1, first = p->events->n;
	struct event_word plain = { .at = w->at };
	size_t behind = w->at + name + 1, moved;
	char *label, *text = NULL;
	struct event *e;
	int err = parse_slashed_terms(p, w, name + 1, close, &label), n;

	if (err)
		return err;
	from += from < w->len && w->text[from] == ':';
	n = asprintf(&text, "%.*s%s%.*s", (int)name, w->text, close + 1 < w->len ? ":" : "",
		     (int)(w->len - from), w->text + from);
	if (n < 0) {
		free(label);
		return no_memory(p, w->at);
	}
	plain.text = text;
	plain.len = n;
	moved = from - (name + 1);
	err = add_event(p, &plain);
	free(text);
	if (err) {
		p->c->at += p->c->at + 1 >= behind ? moved : 0;
		free(label);
		return err;
	}
	e = &p->events->event[first];
	e->label = label;
	e->len = w->len;
	e->modifiers.at += e->modifiers.len ? moved : 0;
	return 0;
}

static int add_plain_event(struct parser *p, const struct event_word *w)
{
	size_t name = slashed_len(p->ctx, w);

	return name ? add_slashed(p, w, name) : add_event(p, w);
}

/* Maps a position in the plain word to its position in the typed word. */
static void move_place(const struct plain_word *plain, size_t base, size_t n, size_t *at, size_t *len)
{
	size_t from = *at - base, to = from + *len;

	if (*at < base || to > n)
		return;
	*at = base + plain->at[from];
	*len = to > from ? plain->at[to - 1] + 1 - plain->at[from] : 0;
}

/* Adds an event, with its sampling terms if events are sampled. */
static int add_any_event(struct parser *p, const struct event_word *w)
{
	struct plain_word plain = {};
	struct event_word rest = { .at = w->at };
	struct event_sampling sampling;
	size_t first = p->events->n;
	struct event *e;
	int err;

	if (!p->ctx->samples || event__begins_path(w->text))
		return add_plain_event(p, w);
	err = sampling_terms__take(&sampling, &plain, w, p->c);
	if (!err) {
		rest.text = plain.text;
		rest.len = strlen(plain.text);
		err = add_plain_event(p, &rest);
		if (err)
			move_place(&plain, w->at, rest.len, &p->c->at, &p->c->len);
	}
	if (!err) {
		e = &p->events->event[first];
		e->sampling = sampling;
		e->len = w->len;
		move_place(&plain, w->at, rest.len, &e->modifiers.at, &e->modifiers.len);
	}
	plain_word__free(&plain);
	return err;
}

/* Adds an event for each alternative of PREFIX{a,b}. The word is at p->pos..end, its '{' at open. */
static int add_alternatives(struct parser *p, size_t open, size_t end)
{
	size_t prefix = open - p->pos, from = open + 1, to, next, first;
	struct event_word w;
	char *text;
	int err = 0;

	if (p->text[end - 1] != '}') {
		to = open + strcspn(p->text + open, "}") + 1;
		return complain(p->c, -EINVAL, to, end - to,
				"nothing can follow the alternatives in braces");
	}
	for (; !err && from < end; from = next + 1) {
		next = from + strcspn(p->text + from, ",}");
		for (to = next; to > from && isspace((unsigned char)p->text[to - 1]); to--)
			;
		while (from < to && isspace((unsigned char)p->text[from]))
			from++;
		if (from == to)
			return complain(p->c, -EINVAL, next, 1, "an alternative is missing here");
		if (asprintf(&text, "%.*s%.*s", (int)prefix, p->text + p->pos, (int)(to - from),
			     p->text + from) < 0)
			return no_memory(p, from);
		first = p->events->n;
		w = (struct event_word){ text, p->pos, prefix + to - from };
		err = add_any_event(p, &w);
		free(text);
		/* Positions in an alternative are shifted by the text before it. */
		if (err && p->c->at >= open)
			p->c->at += from - open;
		else if (err && p->c->at + p->c->len > open)
			p->c->len += from - open;
		if (!err && p->events->event[first].modifiers.len)
			p->events->event[first].modifiers.at += from - open;
		if (!err)
			p->events->event[first].len = end - p->pos;
	}
	return err;
}

/* Returns the next blank outside the brackets of a name. */
static size_t find_blank(const struct event_word *w, size_t i)
{
	size_t behind;

	while (i < w->len && !isspace((unsigned char)w->text[i])) {
		behind = i;
		if (w->text[i] == '[')
			behind = code_name__behind_group(w->text, w->len, i);
		else if (w->text[i] == '{')
			behind = code_name__behind_braces(w->text, w->len, i);
		i = behind > i ? behind : i + 1;
	}
	return i;
}

static int add_word(struct parser *p)
{
	struct event_word w = { p->text + p->pos, p->pos, 0 };
	size_t end = 0, open = 0, i;
	int err = find_word_end(p, &end, &open);
	bool may_have_blanks;

	if (err)
		return err;
	if (end == p->pos && p->text[p->pos])
		return complain(p->c, -EINVAL, p->pos, 1, "an event is missing before the '%c'",
				p->text[p->pos]);
	if (end == p->pos)
		return complain(p->c, -EINVAL, p->pos, 0, p->text[strspn(p->text, " \t\n\v\f\r")]
			? "an event is missing at the end" : "no event is given");
	w.len = end - p->pos;
	may_have_blanks = event__begins_path(w.text) || code_name__is_at(w.text, w.len);
	for (i = find_blank(&w, 0); i < open - p->pos && !may_have_blanks; i = find_blank(&w, i + 1))
		if (!code_name__has_blank(w.text, w.len, i))
			return complain_hint(p->c, complain(p->c, -EINVAL, p->pos + i, 1,
				"an event cannot contain blanks"),
				"separate events with commas");
	err = open < end ? add_alternatives(p, open, end) : add_any_event(p, &w);
	p->pos = end;
	return err;
}

/* Appends the group's modifiers to the event and its name, as if typed there. */
static int add_group_modifiers(struct parser *p, struct event *e, const struct event_word *w)
{
	const char *colon = "";
	char letters[8], *name;
	size_t i, n = 0;
	struct event_modifiers own = e->modifiers;
	int err = event__parse_modifiers(e, w, 0, p->c);

	if (err)
		return err;
	if (own.len) {
		e->modifiers.at = own.at;
		e->modifiers.len = own.len;
	} else if (!e->pmu || e->name[strlen(e->name) - 1] != '/') {
		colon = ":";
	}
	for (i = 0; i < w->len && n < sizeof(letters) - 1; i++)
		if (!memchr(p->text + own.at, w->text[i], own.len))
			letters[n++] = w->text[i];
	letters[n] = 0;
	if (asprintf(&name, "%s%s%s", e->name, colon, letters) < 0)
		return no_memory(p, w->at);
	free(e->name);
	e->name = name;
	return 0;
}

static int parse_list(struct parser *p, bool in_group);

static int add_group(struct parser *p)
{
	size_t open = p->pos, first = p->events->n, i;
	int err;

	if (p->group >= 0)
		return complain(p->c, -EINVAL, open, 1, "groups cannot be nested");
	p->group = 0;
	for (i = 0; i < first; i++)
		if (p->events->event[i].group >= p->group)
			p->group = p->events->event[i].group + 1;
	p->pos++;
	err = parse_list(p, true);
	if (err)
		return err;
	if (p->text[p->pos] != '}')
		return complain(p->c, -EINVAL, open, 1, "this '{' is never closed");
	p->pos++;
	p->group = -1;
	if (p->text[p->pos] == ':') {
		p->pos++;
		struct event_word w = { p->text + p->pos, p->pos,
					strcspn(p->text + p->pos, ", \t\n") };

		if (!w.len)
			return complain(p->c, -EINVAL, p->pos - 1, 1,
					"modifiers are missing after the colon");
		for (i = first; i < p->events->n && !err; i++)
			err = add_group_modifiers(p, &p->events->event[i], &w);
		p->pos += w.len;
	}
	return err;
}

static int parse_list(struct parser *p, bool in_group)
{
	int err;

	for (;; p->pos++) {
		skip_blanks(p);
		err = p->text[p->pos] == '{' ? add_group(p) : add_word(p);
		if (err)
			return err;
		skip_blanks(p);
		if (p->text[p->pos] != ',')
			break;
	}
	if (!p->text[p->pos] || (in_group && p->text[p->pos] == '}'))
		return 0;
	if (p->text[p->pos] == '}')
		return complain(p->c, -EINVAL, p->pos, 1, "unmatched '}'");
	return complain_hint(p->c, complain(p->c, -EINVAL, p->pos, 1,
		"expected a comma or the end after a group"),
		"modifiers follow a colon: {a,b}:u");
}

int events__parse(struct events *events, const struct event_context *ctx, const char *text,
		  struct complaint *c)
{
	struct parser p = { .events = events, .ctx = ctx, .text = text, .group = -1, .c = c };
	size_t before = events->n;
	int err = parse_list(&p, false);

	if (err)
		events__truncate(events, before);
	return err;
}
