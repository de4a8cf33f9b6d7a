// SPDX-License-Identifier: BSD-2-Clause
/* Compiles globs into automata: see struct scope_glob. */
#include <errno.h>
#include <string.h>

#include "host/scope.h"

/* Returns the byte of a set at *p, which a backslash may quote, and advances *p. */
static int set_byte(const char **p)
{
	if (**p == '\\' && (*p)[1])
		++*p;
	return (unsigned char)*(*p)++;
}

/* Compiles [abc], [a-z] or [!abc] into the element at position. Returns the rest of the pattern. */
static const char *compile_set(struct scope_glob *glob, const char *p, u32 position)
{
	bool in[256] = {}, negated = *p == '!' || *p == '^';
	const char *first;
	int c, last;

	p += negated;
	for (first = p; *p && (*p != ']' || p == first);) {
		c = last = set_byte(&p);
		if (*p == '-' && p[1] && p[1] != ']') {
			p++;
			last = set_byte(&p);
		}
		for (; c <= last; c++)
			in[c] = true;
	}
	if (!*p)
		return NULL;
	for (c = 1; c < 256; c++)
		if (in[c] != negated)
			glob->accepts[c] |= 1U << position;
	return p + 1;
}

int scope_glob__compile(struct scope_glob *glob, const char *pattern)
{
	struct scope_glob new = {};
	u32 position = 0, c;
	const char *p = pattern;

	while (*p) {
		if (position >= SCOPE_GLOB_MAX)
			return -E2BIG;
		if (*p == '*') {
			new.stars |= 1U << position;
			while (*p == '*')
				p++;
		} else if (*p == '?') {
			for (c = 1; c < 256; c++)
				new.accepts[c] |= 1U << position;
			p++;
		} else if (*p == '[') {
			p = compile_set(&new, p + 1, position);
			if (!p)
				return -EINVAL;
		} else {
			if (*p == '\\' && p[1])
				p++;
			new.accepts[(unsigned char)*p++] |= 1U << position;
		}
		position++;
	}
	new.start = 1;
	new.start |= (new.start & new.stars) << 1;
	new.final = 1U << position;
	*glob = new;
	return 0;
}

bool scope_glob__matches(const struct scope_glob *glob, const char *text)
{
	u32 s = glob->start;

	for (; *text; text++) {
		s = ((s & glob->accepts[(unsigned char)*text]) << 1) | (s & glob->stars);
		s |= (s & glob->stars) << 1;
	}
	return s & glob->final;
}
