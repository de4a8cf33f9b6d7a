// SPDX-License-Identifier: BSD-2-Clause
#include "report/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL_COLUMNS 80
#define LEAST_COLUMNS 40        /* narrower terminals wrap */
#define CUT "..."

bool terminal__has_colour(FILE *file)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");

	return isatty(fileno(file)) && term && *term && strcmp(term, "dumb") &&
	       !(no_colour && *no_colour);
}

struct terminal terminal__of(FILE *file)
{
	struct terminal t = { .columns = USUAL_COLUMNS };
	struct winsize size;

	if (!isatty(fileno(file)))
		return (struct terminal){};
	if (!ioctl(fileno(file), TIOCGWINSZ, &size) && size.ws_col) {
		t.columns = size.ws_col < LEAST_COLUMNS ? LEAST_COLUMNS : size.ws_col;
		t.rows = size.ws_row;
	}
	t.colour = terminal__has_colour(file);
	return t;
}

struct terminal terminal__of_output(void)
{
	return terminal__of(stdout);
}

const char *terminal_style(const struct terminal *t, enum terminal_style style)
{
	static const char *const sequences[TERMINAL_STYLES] = {
		[STYLE_PLAIN] = "\033[0m", [STYLE_HEADING] = "\033[1m", [STYLE_DIM] = "\033[2m",
		[STYLE_ALARM] = "\033[31m",
	};

	return t->colour ? sequences[style] : "";
}

/* Returns the bytes of a style sequence at text, or 0 if there is none. */
static size_t sequence(const char *text)
{
	size_t n;

	if (text[0] != '\033' || text[1] != '[')
		return 0;
	n = 2 + strspn(text + 2, "0123456789;");
	return text[n] ? n + 1 : 0;
}

static bool begins_place(char c)
{
	return (c & 0xc0) != 0x80;
}

size_t terminal_columns(const char *text)
{
	size_t n = 0, skipped;

	while (*text) {
		skipped = sequence(text);
		if (skipped) {
			text += skipped;
			continue;
		}
		n += begins_place(*text++);
	}
	return n;
}

/* Returns the columns of the next n bytes. */
static size_t word_columns(const char *text, size_t n)
{
	size_t places = 0;

	while (n--)
		places += begins_place(*text++);
	return places;
}

void terminal__put_paragraph(FILE *f, const struct terminal *t, const char *text, u32 indent)
{
	size_t at = 0, blanks, length, places;

	while (*text) {
		blanks = strspn(text, " ");
		length = strcspn(text + blanks, " \n");
		places = word_columns(text + blanks, length);
		if (t->columns && at > indent && at + blanks + places > t->columns) {
			fprintf(f, "\n%*s", (int)indent, "");
			at = indent;
		} else {
			fprintf(f, "%*s", (int)blanks, "");
			at += blanks;
		}
		fwrite(text + blanks, 1, length, f);
		at += places;
		text += blanks + length;
		if (*text == '\n') {
			fputc(*text++, f);
			at = 0;
		}
	}
}

/* Returns the bytes of a line that fit: n if all do. */
static size_t room_for(const char *line, size_t n, size_t columns, size_t *places)
{
	size_t i = 0, skipped;

	*places = 0;
	while (i < n) {
		skipped = sequence(line + i);
		if (skipped) {
			i += skipped;
			continue;
		}
		if (begins_place(line[i]) && ++*places > columns)
			return i;
		i++;
	}
	return n;
}

size_t terminal_fitting(const char *text, size_t columns)
{
	size_t places;

	return room_for(text, strlen(text), columns, &places);
}

static void put_line(FILE *f, const struct terminal *t, const char *line, size_t n)
{
	size_t places, kept;

	if (room_for(line, n, t->columns, &places) == n) {
		fwrite(line, 1, n, f);
		return;
	}
	kept = room_for(line, n, t->columns - strlen(CUT), &places);
	fwrite(line, 1, kept, f);
	fprintf(f, CUT "%s", terminal_style(t, STYLE_PLAIN));
}

void terminal__put_cut(FILE *f, const struct terminal *t, const char *lines)
{
	size_t n;

	while (*lines) {
		n = strcspn(lines, "\n");
		if (t->columns)
			put_line(f, t, lines, n);
		else
			fwrite(lines, 1, n, f);
		lines += n;
		if (*lines)
			fputc(*lines++, f);
	}
}
