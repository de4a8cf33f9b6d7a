/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Size and colours of the terminal on which a report is read. Text for a pipe or a file is neither cut nor coloured,
 * and has its numbers in full.
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

/* The terminal behind a stdio stream. */
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

/* The sequence that begins a style, or resets it (STYLE_PLAIN); "" without colours. */
const char *terminal_style(const struct terminal *t, enum terminal_style style);

/*
 * Columns of a text: code points, without style sequences. Wide characters, which take two, are not
 * handled.
 */
size_t terminal_columns(const char *text);

/* Bytes of a text that fit into that many columns. */
size_t terminal_fitting(const char *text, size_t columns);

/*
 * Writes a paragraph, broken between words to the terminal's width; all lines but the first are
 * indented by that many blanks. Longer words stay whole.
 */
void terminal__put_paragraph(FILE *f, const struct terminal *t, const char *text, u32 indent);

/* Writes lines, each cut to the terminal's width, ending in "..." if cut. */
void terminal__put_cut(FILE *f, const struct terminal *t, const char *lines);

#endif /* TALLY_REPORT_TERMINAL_H */
