// SPDX-License-Identifier: BSD-2-Clause
#include "expr/lex.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"

/* Longer operators come first, so that <= is not read as <. */
static const char *const operators[] = {
	"||", "&&", "==", "!=", "!~", "<=", ">=", "<<", ">>", "->", "<", ">", "|", "^", "&", "~", "+",
	"-", "*", "/", "%", "!", "(", ")", "[", "]", ".", ":", ",",
};

/* Operators typed out of habit from other languages, or by mistake. */
static const struct {
	const char *typed, *meant;
} mistaken[] = {
	{ "===", "==" }, { "!==", "!=" }, { "=>", ">=" }, { "=<", "<=" }, { "<>", "!=" },
	{ "=~", "~" }, { "~=", "~" }, { "=!", "!=" }, { "=", "==" },
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_name_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns the length of the name that begins here, or 0 if there is none. */
static size_t name_length(const struct lexer *l)
{
	const char *from = l->text + l->at;
	size_t n = 0;

	if (isdigit((unsigned char)*from))
		return 0;
	while (is_name_letter(from[n]))
		n++;
	return n;
}

static int take_text(struct lexer *l, struct token *t, enum expr_op op, size_t from, size_t len)
{
	t->kind = TOKEN_OPERAND;
	t->op = op;
	t->text = strndup(l->text + from, len);
	if (!t->text)
		return -ENOMEM;
	t->len = from + len - t->at;
	l->at = from + len;
	return 0;
}

/* Takes $name, %name or @name. */
static int take_marked(struct lexer *l, struct token *t, enum expr_op op, const char *what)
{
	size_t n;

	l->at++;
	n = name_length(l);
	if (!n)
		return complain(l->c, -EINVAL, t->at, 1, "%s has no name", what);
	return take_text(l, t, op, l->at, n);
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *found;

	found = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
	return found ? found - digits : -1;
}

/* Decodes one escaped character. Returns the number of bytes consumed, or 0 if it is invalid. */
static size_t unescape(const char *from, char *to)
{
	switch (*from) {
	case 'n':
		*to = '\n';
		return 1;
	case 't':
		*to = '\t';
		return 1;
	case '"':
	case '\\':
	case '\'':
		*to = *from;
		return 1;
	case 'x':
		if (hex_digit(from[1]) < 0 || hex_digit(from[2]) < 0)
			return 0;
		*to = hex_digit(from[1]) << 4 | hex_digit(from[2]);
		return *to ? 3 : 0;
	default:
		return 0;
	}
}

/* Keeps the backslash of an escaped glob character: \* is a literal star. */
static int take_string(struct lexer *l, struct token *t)
{
	char quote = l->text[l->at], *to;
	size_t from = l->at + 1, n;

	t->kind = TOKEN_OPERAND;
	t->op = EXPR_STRING;
	to = t->text = malloc(strlen(l->text + l->at) + 1);
	if (!to)
		return -ENOMEM;
	while (l->text[from] != quote) {
		if (!l->text[from])
			return complain(l->c, -EINVAL, t->at, 1, "this string is not terminated");
		if (l->text[from] != '\\') {
			*to++ = l->text[from++];
			continue;
		}
		n = unescape(l->text + from + 1, to);
		if (n) {
			from += n + 1;
			to++;
		} else if (strchr("*?[]", l->text[from + 1]) && l->text[from + 1]) {
			*to++ = l->text[from++];
			*to++ = l->text[from++];
		} else {
			return complain(l->c, -EINVAL, from, 2, "unknown escape sequence");
		}
	}
	*to = 0;
	l->at = from + 1;
	t->len = l->at - t->at;
	return 0;
}

/* Takes MAJOR:MINOR, as `ls -l` shows a device node. */
static bool take_device(struct lexer *l, struct token *t, size_t len)
{
	const char *text = l->text + t->at, *minor = text + len + 1;
	size_t n = 0, i;
	u64 number = 0;

	if (text[len] != ':' || !isdigit((unsigned char)*minor) || t->number >= 1 << 12)
		return false;
	for (i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	while (isdigit((unsigned char)minor[n]) && n < 8)
		number = number * 10 + minor[n++] - '0';
	if (is_name_letter(minor[n]) || number >= 1 << 20)
		return false;
	t->op = EXPR_DEVICE;
	t->number = t->number << 20 | number;
	t->len = len + 1 + n;
	l->at = t->at + t->len;
	return true;
}

/* 0755 is octal, as in C and in the kernel's own filters, so 089 is not a number. */
static int parse_number(const char *word, u64 *number)
{
	char octal[64];
	size_t n = strlen(word);

	if (word[0] != '0' || n == 1 || strspn(word, "0123456789") != n)
		return parse_u64(word, number);
	if (snprintf(octal, sizeof(octal), "0o%s", word + 1) >= (int)sizeof(octal))
		return -ERANGE;
	return parse_u64(octal, number);
}

static int take_number(struct lexer *l, struct token *t)
{
	const char *text = l->text + l->at;
	size_t len = 0;
	char *word;
	int err;

	while (is_name_letter(text[len]) || (text[len] == '.' && isdigit((unsigned char)text[len + 1])))
		len++;
	word = strndup(text, len);
	if (!word)
		return -ENOMEM;
	t->kind = TOKEN_OPERAND;
	t->op = EXPR_NUMBER;
	t->len = len;
	l->at += len;
	err = parse_number(word, &t->number);
	if (err == -EINVAL && strpbrk(word, "nsumh") && !begins(word, "0x")) {
		t->op = EXPR_TIME;
		err = parse_duration(word, 1, &t->number);
	}
	if (!err && t->op == EXPR_NUMBER)
		take_device(l, t, len);
	free(word);
	if (err == -ERANGE)
		return complain(l->c, -EINVAL, t->at, len, "the number is too large");
	if (err) {
		complain(l->c, 0, t->at, len, "this is not a number");
		return complain_hint(l->c, -EINVAL, "numbers are like 12, 0x1f, 0755 (octal), 4K, 10ms; a name "
						    "cannot begin with a digit");
	}
	return 0;
}

static int take_path(struct lexer *l, struct token *t)
{
	size_t n = strcspn(l->text + l->at, " \t)&|");

	return take_text(l, t, EXPR_PATH, l->at, n);
}

static int complain_about_character(struct lexer *l)
{
	return complain(l->c, -EINVAL, l->at, 1, "unexpected '%c'", l->text[l->at]);
}

static int take_punctuation(struct lexer *l, struct token *t)
{
	const char *text = l->text + l->at;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(operators); i++)
		if (begins(text, operators[i]))
			break;
	t->len = i < ARRAY_SIZE(operators) ? strlen(operators[i]) : 0;
	for (k = 0; k < ARRAY_SIZE(mistaken); k++)
		if (begins(text, mistaken[k].typed) && strlen(mistaken[k].typed) > t->len)
			return complain(l->c, -EINVAL, l->at, strlen(mistaken[k].typed),
					"unknown operator '%s', did you mean '%s'?", mistaken[k].typed,
					mistaken[k].meant);
	if (!t->len)
		return complain_about_character(l);
	t->kind = TOKEN_PUNCTUATION;
	l->at += t->len;
	return 0;
}

int lexer__next(struct lexer *l, struct token *t, bool operand)
{
	const char *text;

	l->at += strspn(l->text + l->at, " \t\n");
	text = l->text + l->at;
	*t = (struct token){ .at = l->at };
	if (!*text)
		return 0;
	if (isdigit((unsigned char)*text))
		return take_number(l, t);
	if (is_name_letter(*text))
		return take_text(l, t, EXPR_NAME, l->at, name_length(l));
	if (*text == '"' || *text == '\'')
		return take_string(l, t);
	if (*text == '$')
		return take_marked(l, t, EXPR_SPECIAL, "'$'");
	if (*text == '@')
		return take_marked(l, t, EXPR_SYMBOL, "'@'");
	if (*text == '%' && operand)
		return take_marked(l, t, EXPR_REGISTER, "'%'");
	if (*text == '/' && operand)
		return take_path(l, t);
	return take_punctuation(l, t);
}
