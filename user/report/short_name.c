// SPDX-License-Identifier: BSD-2-Clause
#include "report/short_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/types.h"

#define OPERATOR "operator"
#define LONGEST 4096            /* the time to parse a name grows with the square of its length */
#define ANONYMOUS "(anonymous namespace)"

struct shortening {
	const char *at;         /* the rest of the name */
	const char *name;
	char *to;               /* end of the result so far */
	bool is_odd;            /* brackets do not match */
};

static bool starts_with(const char *text, const char *what)
{
	return !strncmp(text, what, strlen(what));
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/*
 * Returns the position after the bracket that closes the one at text, or NULL if no bracket does. The > of -> and =>
 * closes nothing.
 */
static const char *behind(const char *text)
{
	char open = *text, close = open == '(' ? ')' : '>';
	const char *at;
	size_t depth = 0;

	for (at = text; *at; at++) {
		if (close == '>' && at > text && (at[-1] == '-' || at[-1] == '=') && *at == '>')
			continue;
		/* Skip parentheses, since angle brackets inside them do not count. */
		if (close == '>' && *at == '(') {
			at = behind(at);
			if (!at)
				return NULL;
			at--;
			continue;
		}
		depth += *at == open;
		if (*at == close && !--depth)
			return at + 1;
	}
	return NULL;
}

static void copy(struct shortening *s, size_t n)
{
	memcpy(s->to, s->at, n);
	s->to += n;
	s->at += n;
}

/* Skips words that may follow the parameters of a function. */
static const char *skip_qualifiers(const char *text)
{
	static const char *const words[] = { " const", " volatile", " noexcept", " &&", " &" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (starts_with(text, words[i])) {
			text += strlen(words[i]);
			i = -1;
		}
	return text;
}

/* Returns the rest of the name if the parentheses that end at end enclose parameters, else NULL. */
static const char *behind_parameters(const char *end)
{
	const char *rest = skip_qualifiers(end);

	return !*rest || starts_with(rest, "::") || *rest == '#' || starts_with(rest, " [") ? rest : NULL;
}

static void take_parenthesis(struct shortening *s)
{
	const char *end = behind(s->at), *rest = end ? behind_parameters(end) : NULL;

	if (starts_with(s->at, ANONYMOUS))
		copy(s, strlen(ANONYMOUS));
	else if (!end)
		s->is_odd = true;
	else if (rest && s->at > s->name && s->at[-1] != ' ')
		s->at = rest;
	else
		copy(s, end - s->at);
}

/*
 * Shortens the names inside angle brackets, too: Rust names may begin with <T as Trait>, or contain <impl Trait for T>.
 */
static void take_angle(struct shortening *s)
{
	const char *end = behind(s->at);

	if (!end) {
		s->is_odd = true;
	} else if (s->at == s->name || starts_with(s->at, "<impl ") ||
		   !(in_word(s->at[-1]) || strchr(":]> ", s->at[-1]))) {
		copy(s, 1);
	} else {
		memcpy(s->to, "<>", 2);
		s->to += 2;
		s->at = end;
	}
}

/* Copies an operator: operator()(int), operator<< <char>(...), operator->, operator new[](unsigned long). */
static void take_operator(struct shortening *s)
{
	copy(s, strlen(OPERATOR));
	if (starts_with(s->at, "()"))
		copy(s, 2);
	else
		copy(s, strspn(s->at, "<>=-!+*/%^&|~,[]"));
}

static bool is_operator(const struct shortening *s)
{
	const char *next = s->at + strlen(OPERATOR);

	return starts_with(s->at, OPERATOR) && !in_word(*next) && (s->at == s->name || !in_word(s->at[-1]));
}

static void take(struct shortening *s)
{
	if (is_operator(s))
		take_operator(s);
	else if (*s->at == '(')
		take_parenthesis(s);
	else if (*s->at == '<')
		take_angle(s);
	else
		copy(s, 1);
}

/* Drops the result type, with which names of template functions begin: "void f<>". */
static void drop_result(char *text)
{
	char *name = NULL, *at;
	size_t depth = 0;

	if (strstr(text, OPERATOR) || starts_with(text, "<") || strstr(text, " to ") || strstr(text, " for ") ||
	    strstr(text, " ["))
		return;
	for (at = text; *at; at++) {
		depth += *at == '(' || *at == '<' || *at == '{';
		depth -= depth && (*at == ')' || *at == '>' || *at == '}');
		if (*at == ' ' && !depth)
			name = at + 1;
	}
	if (name && *name)
		memmove(text, name, strlen(name) + 1);
}

/* True if the name may have parameters or template arguments. */
static bool is_decorated(const char *name)
{
	size_t n = strlen(name);

	if (n > LONGEST)
		return false;
	return strchr(name, '<') || strstr(name, "::") || (n && strchr(name, '(') && strchr(")t&", name[n - 1]));
}

char *short_name(const char *name)
{
	char *text = strdup(name);
	struct shortening s = { .at = name, .name = name, .to = text };

	if (!text || !is_decorated(name))
		return text;
	while (*s.at && !s.is_odd)
		take(&s);
	if (s.is_odd || s.to == text) {
		free(text);
		return strdup(name);
	}
	*s.to = 0;
	if (strcmp(text, name))
		drop_result(text);
	return text;
}
