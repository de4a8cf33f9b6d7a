/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Size and colours of the terminal on which a report is read. Text for a pipe or a file is neither truncated nor
 * coloured, and contains all digits of its numbers.
 */
#ifndef TALLY_REPORT_TERMINAL_H
#define TALLY_REPORT_TERMINAL_H

#include <stdio.h>

#include "base/types.h"

/* All zero: no terminal. */
struct terminal {
	u32 columns, rows;
	bool colour;            /* off with NO_COLOR or TERM=dumb */
};

/* Returns the terminal of a stdio stream. */
struct terminal terminal__of(FILE *file);
struct terminal terminal__of_output(void);     /* of stdout */

/* Whether TERM and NO_COLOR (no-color.org) allow colour. file must be a terminal. */
bool terminal__has_colour(FILE *file);

enum terminal_style {
	STYLE_PLAIN,
	STYLE_HEADING,
	STYLE_DIM,              /* source of the numbers */
	STYLE_ALARM,            /* losses */
	TERMINAL_STYLES,
};

/* Returns the sequence that begins a style, or resets it (STYLE_PLAIN); "" without colours. */
const char *terminal_style(const struct terminal *t, enum terminal_style style);

/*
 * Number of columns of a text: code points, without style sequences. Wide characters, which take two
 * columns, are not supported.
 */
size_t terminal_columns(const char *text);

/* Number of bytes of a text that fit into columns. */
size_t terminal_fitting(const char *text, size_t columns);

/*
 * Writes a paragraph, wrapped between words to the terminal's width. All lines but the first are
 * indented by indent blanks. Words longer than a line are not broken.
 */
void terminal__put_paragraph(FILE *f, const struct terminal *t, const char *text, u32 indent);

/* Writes lines, each truncated to the terminal's width, with "..." at the end if truncated. */
void terminal__put_cut(FILE *f, const struct terminal *t, const char *lines);

#endif /* TALLY_REPORT_TERMINAL_H */
