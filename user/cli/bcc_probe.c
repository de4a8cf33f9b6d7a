// SPDX-License-Identifier: BSD-2-Clause
#include "cli/bcc_probe.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
#define AT_USER "@user"

/* Writes the equivalent of an identifier. Returns false if it has none. */
static bool put_name(FILE *f, const char *name, size_t n, const char **behind)
{
	static const char args[] = "args->";

	*behind = name + n;
	if (n == 4 && !memcmp(name, "arg", 3) && name[3] >= '1' && name[3] <= '6')
		fprintf(f, "$%.*s", (int)n, name);
	else if (n == 6 && !memcmp(name, "retval", n))
		fputs("$retval", f);
	else if (!strncmp(name, args, strlen(args))) {
		name += strlen(args);
		n = strspn(name, NAME);
		*behind = name + n;
		fprintf(f, "%.*s", (int)n, name);
	} else {
		return false;
	}
	return n;
}

/* Translates [text, end): numbers, operators and names. */
static bool put_expression(FILE *f, const char *text, const char *end)
{
	while (text < end) {
		if (isalpha((unsigned char)*text) || *text == '_') {
			if (!put_name(f, text, strspn(text, NAME), &text))
				return false;
		} else if (isdigit((unsigned char)*text)) {
			fprintf(f, "%.*s", (int)strspn(text, NAME), text);
			text += strspn(text, NAME);
		} else if (strchr(" +-*/%&|^<>=!()~", *text)) {
			fputc(*text++, f);
		} else {
			return false;
		}
	}
	return true;
}

/* Returns the letter of the next conversion, or 0 if there is none. */
static char next_conversion(const char **format)
{
	const char *p = *format;

	while ((p = strchr(p, '%')) && p[1] == '%')
		p += 2;
	if (!p)
		return 0;
	p += 1 + strspn(p + 1, "-+ #0123456789.hlz");
	*format = p;
	return *p;
}

/* Translates one value of the format, up to the next comma. */
static bool put_value(FILE *f, const char *text, const char *end, char conversion)
{
	bool user = false, is_text = conversion == 's' && strncmp(text, "args->", 6);

	while (end > text && end[-1] == ' ')
		end--;
	if (end - text > (long)strlen(AT_USER) && !memcmp(end - strlen(AT_USER), AT_USER, strlen(AT_USER))) {
		end -= strlen(AT_USER);
		user = true;
	}
	fputs(is_text ? " +0(" : " ", f);
	if (text == end || !put_expression(f, text, end))
		return false;
	if (is_text)
		fprintf(f, "):%sstring", user ? "u" : "");
	return true;
}

/* Translates "FORMAT", VALUE, ... */
static bool put_values(FILE *f, const char *text)
{
	const char *format = text + 1, *end = strchr(format, '"');
	char conversion;

	if (*text != '"' || !end)
		return false;
	for (text = end + 1; *text; text = end) {
		text += strspn(text, ", ");
		end = strchrnul(text, ',');
		conversion = next_conversion(&format);
		if (!conversion || !put_value(f, text, end, conversion))
			return false;
	}
	return true;
}

/* A probe [{p,r,t}:][LIBRARY:]FUNCTION, which is n bytes long. */
struct place {
	char kind;
	int nlibrary, nfunction;
	const char *library, *function;
};

static bool find_place(struct place *p, const char *text, size_t n)
{
	const char *second = memchr(text, ':', n), *third;

	*p = (struct place){ .kind = 'p', .function = text, .nfunction = n };
	if (!second)
		return n;
	third = memchr(second + 1, ':', n - (second + 1 - text));
	if (third) {
		p->kind = second - text == 1 ? *text : 0;
		n -= second + 1 - text;
		text = second + 1;
		second = third;
	}
	p->library = text;
	p->nlibrary = second - text;
	p->function = second + 1;
	p->nfunction = n - (second + 1 - text);
	return p->nfunction && memchr("prt", p->kind ?: ' ', 3);
}

static void begin_line(FILE *f, const struct place *p)
{
	fputs("tally probe ", f);
	if (p->nlibrary && p->kind != 't')
		fprintf(f, "-x %s%.*s ", p->nlibrary == 1 && *p->library == 'c' ? "lib" : "", p->nlibrary, p->library);
	fputc('\'', f);
	if (p->nlibrary && p->kind == 't')
		fprintf(f, "%.*s:", p->nlibrary, p->library);
	fprintf(f, "%.*s%s", p->nfunction, p->function, p->kind == 'r' ? "%return" : "");
}

static bool put_line(FILE *f, const char *text)
{
	const size_t n = strcspn(text, " (\"");
	const char *condition = NULL, *end = NULL;
	struct place p;

	if (strspn(text, NAME ":./-+") < n || !find_place(&p, text, n))
		return false;
	text += n + strspn(text + n, " ");
	if (*text == '(') {
		condition = text;
		end = strchrnul(text, '"');
		while (end > text && *end != ')')
			end--;
		text = end + 1 + strspn(end + 1, " ");
	}
	if (condition && end == condition)
		return false;
	begin_line(f, &p);
	if (!*text ? !condition && p.kind == 'p' : !put_values(f, text))
		return false;
	fputc('\'', f);
	if (!condition)
		return true;
	fputs(" --filter '", f);
	if (!put_expression(f, condition + 1, end))
		return false;
	fputs("'", f);
	return true;
}

char *bcc_probe__here(const char *text)
{
	char *line = NULL;
	size_t n;
	FILE *f = open_memstream(&line, &n);
	bool is_one = f && put_line(f, text);

	if (f && !fclose(f) && is_one)
		return line;
	free(line);
	return NULL;
}
