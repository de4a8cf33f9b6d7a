/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options as rows: the name of an option, its value, and the field of the tool's struct that it sets.
 *
 *   static const struct option_row rows[] = {
 *           { "min", 0, "TIME", ROW_TIME, "Only calls of at least this long", 1, FIELD(struct slow, min_ns) },
 *           { "failed", 0, NULL, ROW_FLAG, "Only those that fail", 1, FIELD(struct slow, failed) },
 *           {},
 *   };
 *
 * A tool declares its rows in its cli_spec (cli/options.h). The argp table, the parser, the candidates of completion
 * and the check for a second, different value (cli/prescan.h) are derived from them.
 */
#ifndef TALLY_CLI_OPTION_ROW_H
#define TALLY_CLI_OPTION_ROW_H

#include <argp.h>

#include "base/types.h"

struct completion;

/* The kind of a row, which determines the type of its field. */
enum row_kind {
	ROW_HEADING,            /* help is the heading of the rows with this number */
	ROW_INCLUDE,            /* the field is a struct that has its own rows: INCLUDE() */
	ROW_ALIAS,              /* another name of the preceding row */
	ROW_FLAG,               /* bool: set to true */
	ROW_TIME,               /* u64 in ns; a number without a suffix is in unit_ns */
	ROW_COUNT,              /* u64 or u32, with a suffix K, M or G */
	ROW_SIZE,               /* like ROW_COUNT, in bytes */
	ROW_TEXT,               /* const char *, into argv */
	ROW_GLOB,               /* struct scope_glob */
	ROW_ERRNO,              /* int: an error by name like ENOENT, or by number */
	ROW_WORD,               /* int or enum: the index of one of words */
	ROW_WORDS,              /* u32: a bit for each of words in a list */
	ROW_OWN,                /* parsed by parse() or parse_row() */
};

struct option_row {
	const char *name;       /* NULL if it only has a letter */
	int letter;             /* 0 if it only has a name */
	const char *arg;        /* name of the value in --help; NULL if it takes no value */
	enum row_kind kind;
	const char *help;
	int heading;            /* 1 to 3, or enum help_heading */
	size_t offset, size;    /* FIELD() */
	size_t also;            /* ALSO(): a bool that is also set to true */
	bool sets_also;
	bool hidden;
	bool optional;          /* the value may be omitted: --off, --off=WORD */
	bool adds;              /* may be repeated to add values; others take one value */
	u64 unit_ns;            /* ROW_TIME; 0: milliseconds, the most common unit */
	u64 least, most;        /* 0: no limit */
	const char *wanted;     /* for "'x' is not a number of frames"; NULL: derived from kind and limits */
	const char *const *words;       /* of ROW_WORD, ROW_WORDS; NULL entries have no word */
	size_t nwords;
	const char *noun;       /* for "no source 'x'; there are ..."; NULL: "'x' is not one of ..." */
	/*
	 * ROW_OWN. Reports errors. row_struct: the struct that offset refers to. text: NULL if omitted. Returns 0 or
	 * an error.
	 */
	int (*parse)(void *row_struct, char *text);
	/* Like parse(), for several rows that differ in tag. */
	int (*parse_row)(void *row_struct, const struct option_row *row, char *text);
	u32 tag;
	/* Returns the text of --help, allocated, if it depends on the tool. NULL: use help. */
	char *(*describe)(const void *row_struct);
	/* Adds completion candidates other than words. separators: of the list, if the value is one. */
	void (*complete)(struct completion *c);
	const char *separators;
	const struct option_row *rows;  /* ROW_INCLUDE */
};

#define FIELD(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)
#define ALSO(type, member)                                                                         \
	.also = offsetof(type, member) + 0 * sizeof(&((type *)NULL)->member == (bool *)NULL), .sets_also = true
#define WORDS(list) .words = (list), .nwords = ARRAY_SIZE(list)
#define HEADING(text, number) { .kind = ROW_HEADING, .help = (text), .heading = (number) }
#define ALIAS(long_name, number) { .name = (long_name), .kind = ROW_ALIAS, .heading = (number) }
#define INCLUDE(type, member, their)                                                               \
	{ .kind = ROW_INCLUDE, .offset = offsetof(type, member), .rows = (their) }

/* Maximum number of rows of a tool, including its ROW_INCLUDEs, or of all groups. */
#define OPTION_ROWS_MOST 64

/* The rows of a tool as an argp parser, with this struct as its input. */
struct option_rows {
	void *own;
	size_t n;
	const struct option_row *row[OPTION_ROWS_MOST];
	u32 base[OPTION_ROWS_MOST];             /* offset in own of the row's struct */
	struct argp_option option[OPTION_ROWS_MOST + 1];
	struct argp argp;
};

/* own: the struct that the rows set; may be NULL if nothing is parsed. */
void option_rows__fill(struct option_rows *rows, const struct option_row *from, void *own);

/* Adds rows, except those whose name also occurs in instead. */
void option_rows__add(struct option_rows *rows, const struct option_row *from, const struct option_rows *instead);

/* Returns the rows that argp parses, or NULL. */
struct option_rows *option_rows__of(const struct argp *argp);

/* Returns the row of an option of argp, or NULL if it has none. */
const struct option_row *option_row__of(const struct argp *argp, const struct argp_option *option);

/* Whether a second, different value would silently replace the first. */
bool option_row__takes_one(const struct option_row *row);

/* Whether two texts mean the same value of the row: 1s and 1000ms for a time. */
bool option_row__same(const struct option_row *row, const char *one, const char *other);

#endif /* TALLY_CLI_OPTION_ROW_H */
