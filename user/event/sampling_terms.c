// SPDX-License-Identifier: BSD-2-Clause
#include "event/sampling_terms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(const struct event_word *w, size_t from, size_t to, const char *word)
{
	return to - from == strlen(word) && !memcmp(w->text + from, word, to - from);
}

/* Parses bytes from..to as a number from 1 to most. */
static int parse_number(u64 *value, u64 most, const struct event_word *w, size_t from, size_t to, struct complaint *c)
{
	if (!event_word__number(w, from, to, value) && *value && *value <= most)
		return 0;
	return complain(c, -EINVAL, w->at + from, to - from ?: 1, "expected a number from 1 to %llu", most);
}

static int parse_call_graph(struct event_sampling *s, const struct event_word *w, size_t from, size_t to,
			    struct complaint *c)
{
	s->innermost = true;
	if (is_word(w, from, to, "no"))
		return 0;
	return complain_hint(c, complain(c, -EINVAL, w->at + from, to - from ?: 1,
					 "a single event can only have call-graph=no"),
			     "--call-graph sets how callers are found, for all events");
}

static int complain_about_two(const struct event_word *w, size_t from, size_t to, const char *what, struct complaint *c)
{
	return complain(c, -EINVAL, w->at + from, to - from, "%s: give one", what);
}

/* Parses the term at from..to. Returns 1, 0 if it is not a sampling term, or a negative errno. */
static int parse_term(struct event_sampling *s, const struct event_word *w, size_t from, size_t to, struct complaint *c)
{
	size_t name = event_word__find(w, from, "="), value = name + 1;
	u64 depth = 0;
	int err;

	if (name >= to)
		return 0;
	if (is_word(w, from, name, "freq"))
		err = parse_number(&s->hz, UINT32_MAX, w, value, to, c);
	else if (is_word(w, from, name, "period"))
		err = parse_number(&s->every, INT64_MAX, w, value, to, c);
	else if (is_word(w, from, name, "max-stack"))
		err = parse_number(&depth, UINT16_MAX, w, value, to, c);
	else if (is_word(w, from, name, "call-graph"))
		err = parse_call_graph(s, w, value, to, c);
	else
		return 0;
	if (depth)
		s->max_stack = depth;
	if (!err && s->hz && s->every)
		err = complain_about_two(w, from, to, "freq= and period= cannot be combined", c);
	if (!err && s->max_stack && s->innermost)
		err = complain_about_two(w, from, to, "max-stack= and call-graph=no cannot be combined", c);
	return err ?: 1;
}

static void keep(struct plain_word *plain, size_t *n, const struct event_word *w, size_t from, size_t to)
{
	for (; from < to; from++) {
		plain->at[*n] = from;
		plain->text[(*n)++] = w->text[from];
	}
}

/* Removes the sampling terms from from..end, and keeps the others. */
static int take_terms(struct event_sampling *s, struct plain_word *plain, size_t *n, const struct event_word *w,
		      size_t from, size_t end, struct complaint *c)
{
	size_t to, first = *n;
	int is_own;

	for (; from < end; from = to + 1) {
		to = event_word__find(w, from, ",");
		to = to < end ? to : end;
		is_own = parse_term(s, w, from, to, c);
		if (is_own < 0)
			return is_own;
		if (is_own)
			continue;
		if (*n > first)
			keep(plain, n, w, from - 1, from);      /* the comma */
		keep(plain, n, w, from, to);
	}
	return 0;
}

int sampling_terms__take(struct event_sampling *s, struct plain_word *plain, const struct event_word *w,
			 struct complaint *c)
{
	size_t open = event_word__find(w, 0, "/"), n = 0;
	size_t close = open < w->len ? event_word__find(w, open + 1, "/") : w->len;
	int err = 0;

	*s = (struct event_sampling){};
	plain->text = calloc(w->len + 1, 1);
	plain->at = calloc(w->len + 1, sizeof(*plain->at));
	if (!plain->text || !plain->at)
		return complain(c, -ENOMEM, w->at, w->len, "no memory");
	if (close < w->len) {
		keep(plain, &n, w, 0, open + 1);
		err = take_terms(s, plain, &n, w, open + 1, close, c);
		keep(plain, &n, w, close, w->len);
	} else {
		keep(plain, &n, w, 0, w->len);
	}
	plain->at[n] = w->len;
	return err;
}

void plain_word__free(struct plain_word *plain)
{
	free(plain->text);
	free(plain->at);
}
