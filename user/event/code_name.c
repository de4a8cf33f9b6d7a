// SPDX-License-Identifier: BSD-2-Clause
#include "event/code_name.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATOR "operator"
#define ANONYMOUS "(anonymous namespace)"

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Is the word operator at i? */
static bool is_operator(const char *text, size_t len, size_t i)
{
	size_t n = strlen(OPERATOR);

	return len - i > n && !memcmp(text + i, OPERATOR, n) && !is_in_word(text[i + n]) &&
	       (!i || !is_in_word(text[i - 1]));
}

size_t code_name__behind_operator(const char *text, size_t len, size_t i)
{
	if (!is_operator(text, len, i))
		return i;
	i += strlen(OPERATOR);
	if (text[i] == ',')
		return i + 1;
	for (; i < len && ispunct((unsigned char)text[i]) && !strchr("_(;@,{}", text[i]); i++)
		if (len - i >= 7 && !memcmp(text + i, "%return", 7))
			break;
	return len - i >= 2 && !memcmp(text + i, "()", 2) ? i + 2 : i;
}

/* The end of the operator name that begins at i: before its parameters, if any. */
static size_t behind_operator(const char *text, size_t len, size_t i)
{
	i += strlen(OPERATOR);
	if (len - i >= 2 && !memcmp(text + i, "()", 2))
		return i + 2;
	while (i < len && text[i] != '(' && text[i] != ';' && text[i] != '@')
		i++;
	return i;
}

size_t code_name__behind_group(const char *text, size_t len, size_t i)
{
	int nesting = 0;
	size_t k;

	/* A ';' begins a pattern, unless it is between the members of a struct of Go. */
	for (k = i; k < len && (text[k] != ';' || text[i] != '<'); k++) {
		if (strchr("([{", text[k]) || (text[k] == '<' && (k + 1 == len || text[k + 1] != '-')))
			nesting++;
		else if (strchr(")]}", text[k]) || (text[k] == '>' && text[k - 1] != '-'))
			nesting--;
		if (!nesting)
			return k + 1;
	}
	return i;
}

static bool is_behind(const char *text, size_t i, const char *word)
{
	size_t n = strlen(word);

	return i >= n && !memcmp(text + i - n, word, n);
}

size_t code_name__behind_braces(const char *text, size_t len, size_t i)
{
	size_t behind = code_name__behind_group(text, len, i);

	if (is_behind(text, i, "struct ") || is_behind(text, i, "interface "))
		return behind;
	if (is_behind(text, i, "::") && behind > i && (text[i + 1] == '{' || memchr(text + i, '#', behind - i)))
		return behind;
	return i;
}

bool code_name__has_blank(const char *text, size_t len, size_t i)
{
	size_t from, behind;

	if (i + 1 < len && text[i + 1] == '{')
		return code_name__behind_braces(text, len, i + 1) > i + 1;
	for (from = i; from && text[from - 1] != '('; from--)
		if (is_operator(text, len, from - 1))
			break;
	if (!from || text[from - 1] == '(')
		return false;
	behind = from - 1 + strlen(OPERATOR);
	return behind == i || (text[behind] == ' ' && memchr(text + i, '(', len - i)) ||
	       (i + 1 < len && text[i + 1] == '<');
}

bool code_name__is_at(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && text[i] != ';' && text[i] != '@'; i++)
		if (strchr("(<~", text[i]) || (text[i] == ':' && i + 1 < len && text[i + 1] == ':'))
			return true;
	return false;
}

/* The linker of Go escapes a dot, '"' and '%' of a package's last element: gopkg.in/yaml%2ev3.Marshal. */
static bool is_escape(const char *text, size_t len, size_t i)
{
	return len - i > 2 && text[i] == '%' && text[i + 1] == '2' && strchr("e25", text[i + 2]);
}

/* type:.eq.main.T, made by Go. */
static bool is_inner_colon(const char *text, size_t len, size_t i)
{
	return text[i] == ':' && i + 1 < len && text[i + 1] == '.';
}

bool code_name__is_not_c(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && text[i] != ';' && text[i] != '@'; i++)
		if (strchr("/[{- ", text[i]) || (unsigned char)text[i] >= 0x80 || is_escape(text, len, i) ||
		    is_inner_colon(text, len, i))
			return true;
	return code_name__is_at(text, len);
}

size_t code_name__length(const char *text, size_t len)
{
	size_t i = 0, next;

	while (i < len) {
		if (text[i] == ':' && i + 1 < len && text[i + 1] == ':') {
			i += 2;
		} else if (is_inner_colon(text, len, i) || is_escape(text, len, i)) {
			i++;
		} else if (text[i] == '{') {
			next = code_name__behind_braces(text, len, i);
			i = next > i ? next : i + 1;
		} else if (strchr("(<[", text[i])) {
			next = code_name__behind_group(text, len, i);
			i = next > i ? next : i + 1;
		} else if (is_operator(text, len, i)) {
			i = code_name__behind_operator(text, len, i);
		} else if (strchr(":+%@;", text[i])) {
			break;
		} else {
			i++;
		}
	}
	return i;
}

/* --- demangled names --------------------------------------------------------------------------- */

/* Length without trailing copies made by the compiler, "const" and "&". */
static size_t without_qualifiers(const char *text, size_t len)
{
	static const char *const behind[] = { " const", " volatile", " &&", " &", "]" };
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(behind); i++) {
		n = strlen(behind[i]);
		if (len < n || memcmp(text + len - n, behind[i], n))
			continue;
		if (*behind[i] != ']') {
			len -= n;
		} else {
			for (n = len - 1; n && strncmp(text + n, " [clone ", 8); n--)
				;
			if (!n)
				continue;
			len = n;
		}
		i = -1;
	}
	return len;
}

/*
 * Finds the start and end of the name, without return type (only templates have one) and
 * parameters. Names nested in functions contain those functions' parameters.
 */
static void find_name(const char *text, size_t len, size_t *start, size_t *end)
{
	size_t i = 0, next, behind;

	*start = 0;
	*end = len;
	while (i < len) {
		if (is_operator(text, len, i)) {
			i = behind_operator(text, len, i);
			if (i == len)
				break;
		} else if (!strncmp(text + i, ANONYMOUS, strlen(ANONYMOUS))) {
			i += strlen(ANONYMOUS);
			continue;
		} else if (text[i] == '<' || text[i] == '{') {
			next = i;
			if (text[i] == '<')
				next = code_name__behind_group(text, len, i);
			else
				next += strcspn(text + i, "}") + 1;
			i = next > i && next <= len ? next : i + 1;
			continue;
		} else if (text[i] == ' ') {
			*start = ++i;
			continue;
		}
		if (text[i] != '(') {
			i++;
			continue;
		}
		*end = i;
		next = code_name__behind_group(text, len, i);
		behind = next;
		if (!strncmp(text + behind, " const::", 8))
			behind += 6;
		if (next == i || strncmp(text + behind, "::", 2))
			return;
		*end = len;
		i = behind + 2;
	}
}

char *code_name__form(char *out, size_t size, const char *demangled, enum code_name_form form)
{
	size_t len = without_qualifiers(demangled, strlen(demangled)), start, end, i, next, n = 0, drop = SIZE_MAX;

	find_name(demangled, len, &start, &end);
	if (form == CODE_NAME_FULL)
		end = len;
	i = start;
	/* A Rust method, <ns::K>::m; not one of a trait, <ns::K as ns::Trait>::m. */
	next = form == CODE_NAME_PLAIN && demangled[i] == '<' ? code_name__behind_group(demangled, end, i) : i;
	if (next > i && !memmem(demangled + i, next - i, " as ", 4)) {
		drop = next - 1;
		i++;
	}
	while (i < end && n + 1 < size) {
		if (i == drop) {
			i++;
			continue;
		}
		if (!strncmp(demangled + i, "[abi:", 5)) {
			i += strcspn(demangled + i, "]") + 1;
			continue;
		}
		if (form == CODE_NAME_PLAIN && is_operator(demangled, end, i)) {
			while (i < end && n + 1 < size)
				out[n++] = demangled[i++];
			break;
		}
		next = i;
		if (form == CODE_NAME_PLAIN && demangled[i] == '<' && i > start)
			next = code_name__behind_group(demangled, end, i);
		if (next > i) {
			/* Rust writes f::<T>. */
			if (n > 2 && !memcmp(out + n - 2, "::", 2))
				n -= 2;
			i = next;
			continue;
		}
		out[n++] = demangled[i++];
	}
	out[n < size ? n : size - 1] = 0;
	return out;
}

/* --- matching ---------------------------------------------------------------------------------- */

static void drop_blanks(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != ' ')
			*to++ = *text;
	*to = 0;
}

bool code_name__matches(const char *typed, const char *demangled)
{
	size_t size = strlen(demangled) + 1;
	char *name = malloc(size), *wanted = strdup(typed);
	enum code_name_form form;
	bool is = false;

	if (name && wanted)
		drop_blanks(wanted);
	for (form = CODE_NAME_FULL; name && wanted && form <= CODE_NAME_PLAIN && !is; form++) {
		drop_blanks(code_name__form(name, size, demangled, form));
		is = !strcmp(wanted, name) || (strpbrk(wanted, "*?[") && !fnmatch(wanted, name, 0));
	}
	free(name);
	free(wanted);
	return is;
}

/* The start of the last "::" component. */
static size_t find_last_word(const char *typed)
{
	size_t len = strlen(typed), i = 0, from = 0, next;

	while (i < len && !is_operator(typed, len, i)) {
		if (!strncmp(typed + i, ANONYMOUS, strlen(ANONYMOUS))) {
			i += strlen(ANONYMOUS);
		} else if (typed[i] == '(') {
			break;
		} else if (typed[i] == '<') {
			next = code_name__behind_group(typed, len, i);
			i = next > i ? next : i + 1;
		} else if (typed[i++] == ':') {
			from = i;
		}
	}
	return from;
}

void code_name__last_word(const char *typed, char *out, size_t size)
{
	const char *from = typed + find_last_word(typed);
	size_t n = 0;

	while (n + 1 < size && from[n] && (is_in_word(from[n]) || strchr("~*?", from[n]))) {
		out[n] = from[n];
		n++;
	}
	out[n] = 0;
}

/* Length of the last component if it is only letters, and so part of each matching symbol; else 0. */
static size_t last_word(const char *typed, const char **word)
{
	size_t n = 0;

	*word = typed + find_last_word(typed);
	while (is_in_word((*word)[n]))
		n++;
	if (((*word)[n] && !strchr("(<", (*word)[n])) || is_operator(*word, strlen(*word), 0))
		return 0;
	return n;
}

bool code_name__may_match(const char *typed, const char *symbol)
{
	const char *word;
	size_t n = last_word(typed, &word);

	if ((strncmp(symbol, "_Z", 2) && strncmp(symbol, "_R", 2)) || strstr(symbol, ".cold") ||
	    strstr(symbol, ".part."))
		return false;
	return !n || memmem(symbol, strlen(symbol), word, n);
}
