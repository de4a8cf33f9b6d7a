/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of an argp and its children as a flat table, to inspect a command line before argp
 * parses it.
 */
#ifndef TALLY_CLI_OPTION_TABLE_H
#define TALLY_CLI_OPTION_TABLE_H

#include <argp.h>

#include "base/types.h"
#include "cli/option_row.h"

#define OPTION_TABLE_MOST 128
#define OPTION_NAME_SPACE 64    /* for a long name with its dashes */

enum option_takes {
	TAKES_NOTHING,
	TAKES_VALUE,
	MAY_TAKE_VALUE,
};

struct option_table {
	size_t n;
	const char *name[OPTION_TABLE_MOST];    /* long name or "" */
	int letter[OPTION_TABLE_MOST];          /* 0 if none */
	enum option_takes takes[OPTION_TABLE_MOST];
	const struct argp *argp[OPTION_TABLE_MOST];             /* its parser */
	const struct argp_option *option[OPTION_TABLE_MOST];
	const struct option_row *row[OPTION_TABLE_MOST];        /* NULL if the option is from a plain argp table */
	const char *doc[OPTION_TABLE_MOST];     /* description, of an alias that of its option; NULL if none */
};

/* Adds all options of argp. */
void option_table__collect(struct option_table *t, const struct argp *argp);

/* Resets the table and adds all options of argp, then the built-in --help, --usage and --version. */
void option_table__fill(struct option_table *t, const struct argp *argp);

/* Returns the index of the option with this letter, or -1. */
int option_table__letter(const struct option_table *t, char letter);

/*
 * Returns the index of the long option that the first len characters of name spell or abbreviate, -1
 * if there is none, or -2 if they are ambiguous between *first and *other.
 */
int option_table__name(const struct option_table *t, const char *name, size_t len, int *first,
		       int *other);

/* Whether a match of len characters is the whole name of option i, not an abbreviation. */
bool option_table__is_whole(const struct option_table *t, int i, size_t len);

#endif /* TALLY_CLI_OPTION_TABLE_H */
