/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of an argp and its children, flat, for looking at a command line before argp does. */
#ifndef TALLY_CLI_OPTION_TABLE_H
#define TALLY_CLI_OPTION_TABLE_H

#include <argp.h>

#include "base/types.h"

#define OPTION_TABLE_MOST 128

enum option_takes {
	TAKES_NOTHING,
	TAKES_VALUE,
	MAY_TAKE_VALUE,
};

struct option_table {
	size_t n;
	const char *name[OPTION_TABLE_MOST];    /* long name or "" */
	int letter[OPTION_TABLE_MOST];          /* 0: none */
	enum option_takes takes[OPTION_TABLE_MOST];
};

/* All options of argp, then argp's own: --help, --usage, --version. */
void option_table__fill(struct option_table *t, const struct argp *argp);

/* Index of the option with this letter, or -1. */
int option_table__letter(const struct option_table *t, char letter);

/*
 * Index of the long option of which the first len characters of name are the name or the beginning;
 * -1: none; -2: several, of which *other is one and *first another.
 */
int option_table__name(const struct option_table *t, const char *name, size_t len, int *first,
		       int *other);

/* Is the option that is meant called exactly so? */
bool option_table__is_whole(const struct option_table *t, int i, size_t len);

#endif /* TALLY_CLI_OPTION_TABLE_H */
