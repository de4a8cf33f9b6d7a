// SPDX-License-Identifier: BSD-2-Clause
#include "report/diag.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/terminal.h"

/* On a terminal, breaks the line between words. */
static void put_line(const char *kind, const char *line)
{
	const struct terminal t = terminal__of(stderr);
	char *all;

	if (!t.columns || asprintf(&all, "%s: %s%s\n", program_invocation_short_name, kind, line) < 0) {
		fprintf(stderr, "%s: %s%s\n", program_invocation_short_name, kind, line);
		return;
	}
	terminal__put_paragraph(stderr, &t, all, strlen(program_invocation_short_name) + 4);
	free(all);
}

static void say(const char *kind, const char *fmt, va_list args)
{
	char text[2048], line[ESCAPE_SPACE(sizeof(text))];
	int n = vsnprintf(text, sizeof(text), fmt, args);

	if (n < 0)
		return;
	if ((size_t)n >= sizeof(text))
		n = sizeof(text) - 1;
	while (n && text[n - 1] == '\n')
		n--;
	escape(line, text, n);
	put_line(kind, line);
}

#define SAY(kind)                      \
	do {                           \
		va_list args;          \
		va_start(args, fmt);   \
		say(kind, fmt, args);  \
		va_end(args);          \
	} while (0)

void diag_speaker(const char *name)
{
	static const char *tool;

	tool = tool ?: name;
	program_invocation_short_name = (char *)(name ?: tool);
}

void diag_error(const char *fmt, ...)
{
	SAY("");
}

void diag_warn(const char *fmt, ...)
{
	SAY("warning: ");
}

void diag_hint(const char *fmt, ...)
{
	SAY("  ");
}

/* Returns the number of screen columns that the first n bytes of text occupy once escaped. */
static size_t width(const char *text, size_t n)
{
	char *line = malloc(ESCAPE_SPACE(n));
	size_t columns = 0, i;

	if (!line)
		return n;
	escape(line, text, n);
	for (i = 0; line[i]; i++)
		columns += (line[i] & 0xc0) != 0x80;
	free(line);
	return columns;
}

void diag_complaint(const char *option, const char *text, const struct complaint *c)
{
	size_t n = strlen(text), at = c->at < n ? c->at : n;
	size_t len = c->len < n - at ? c->len : n - at, before = width(text, at), marks, i;
	char *line = escape_string(text);

	diag_error("%s%s%s", option ?: "", option ? ": " : "", c->what);
	if (line)
		fprintf(stderr, "    %s\n    %*s^", line, (int)before, "");
	marks = line ? width(text + at, len) : 0;
	for (i = 1; i < marks; i++)
		fputc('~', stderr);
	if (line)
		fputc('\n', stderr);
	free(line);
	if (c->hint[0])
		diag_hint("%s", c->hint);
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level, (void)fmt, (void)args;
	return 0;
}

/* Prints libbpf's messages line by line, because a verifier log is one message of many lines. */
static int talk(enum libbpf_print_level level, const char *fmt, va_list args)
{
	char *text, *line, *rest;

	if (level == LIBBPF_DEBUG)
		return 0;
	if (vasprintf(&text, fmt, args) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		diag_detail("%s", line);
	free(text);
	return 0;
}

/* The current libbpf print function doubles as the -v flag, so no state is needed here. */
void diag_verbose(bool on)
{
	libbpf_set_print(on ? talk : quiet);
}

void diag_detail(const char *fmt, ...)
{
	libbpf_print_fn_t current = libbpf_set_print(quiet);

	libbpf_set_print(current);
	if (current == talk)
		SAY("");
}
