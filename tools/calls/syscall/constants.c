// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/constants.h"

#include <stdlib.h>
#include <string.h>

#define BEGIN '\1'
#define END '\2'

#define DIGITS 16               /* four bits each, as letters from 'a' on */
#define HEAD (2 + DIGITS)       /* BEGIN, the base, the digits */

void constant__begin(FILE *f, enum constant_base base, u64 value)
{
	char head[HEAD] = { BEGIN, base };
	int i;

	for (i = 0; i < DIGITS; i++)
		head[2 + i] = 'a' + (value >> (60 - 4 * i) & 15);
	fwrite(head, 1, sizeof(head), f);
}

void constant__end(FILE *f)
{
	fputc(END, f);
}

/* Returns the end of the head that begins here, or the end of the text if that comes first. */
static char *behind_head(char *at)
{
	return at + strnlen(at, HEAD);
}

/* Removes the numbers. */
static void by_name(char *text)
{
	char *from = text, *to = text;

	while (*from) {
		if (*from == BEGIN)
			from = behind_head(from);
		else if (*from == END)
			from++;
		else
			*to++ = *from++;
	}
	*to = 0;
}

/* The constant that begins here, and its end. */
static char *end_of(char *at)
{
	int depth = 0;

	while (*at) {
		depth += (*at == BEGIN) - (*at == END);
		if (!depth)
			break;
		at = *at == BEGIN ? behind_head(at) : at + 1;
	}
	return at;
}

static void number_text(char text[24], const char *head)
{
	u64 value = 0;
	int i;

	for (i = 0; i < DIGITS; i++)
		value = value << 4 | (head[2 + i] - 'a');
	if (head[1] == CONSTANT_DECIMAL)
		snprintf(text, 24, "%d", (int)value);
	else if (head[1] == CONSTANT_UNSIGNED)
		snprintf(text, 24, "%llu", value);
	else
		snprintf(text, 24, head[1] == CONSTANT_OCTAL ? "%#03llo" : "%#llx", value);
}

/* Returns the end of the constant at `at`. */
static char *put_constant(FILE *f, char *at, enum constant_style style)
{
	char number[24], *end = end_of(at), *name = behind_head(at), last = *end;

	number_text(number, at);
	fputs(number, f);
	*end = 0;
	by_name(name);
	if (style == CONSTANTS_WITH_BOTH && strcmp(number, name))
		fprintf(f, " /* %s */", name);
	return end + (last == END);
}

char *constants__choose(char *text, enum constant_style style)
{
	char *chosen = NULL, *at = text;
	size_t n;
	FILE *f;

	if (style == CONSTANTS_BY_NAME) {
		by_name(text);
		return text;
	}
	f = open_memstream(&chosen, &n);
	while (f && *at) {
		if (*at == BEGIN)
			at = behind_head(at) < at + HEAD ? behind_head(at) : put_constant(f, at, style);
		else
			fputc(*at++, f);
	}
	free(text);
	if (f && !fclose(f))
		return chosen;
	free(chosen);
	return NULL;
}
