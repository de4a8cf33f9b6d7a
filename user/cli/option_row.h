/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options as rows: what an option is called, what it takes, and the field of the tool's struct that it sets.
 *
 *   static const struct option_row rows[] = {
 *           { "min", 0, "TIME", ROW_TIME, "Only calls of at least this long", 1, FIELD(struct slow, min_ns) },
 *           { "failed", 0, NULL, ROW_FLAG, "Only those that fail", 1, FIELD(struct slow, failed) },
 *           {},
 *   };
 *
 * A tool names them in its cli_spec (cli/options.h). The table of argp, the parser, the words of completion and the
 * check for a second, different value (cli/prescan.h) come from them.
 */
#ifndef TALLY_CLI_OPTION_ROW_H
#define TALLY_CLI_OPTION_ROW_H

#include <argp.h>

#include "base/types.h"

struct completion;

/* The kind of a row, which gives the type of its field. */
enum row_kind {
	ROW_HEADING,            /* help is the heading of the rows with its number */
	ROW_INCLUDE,            /* the rows of a struct that is the field: INCLUDE() */
	ROW_ALIAS,              /* another name of the row before it */
	ROW_FLAG,               /* bool: becomes true */
	ROW_TIME,               /* u64 in ns; a number alone is in unit */
	ROW_COUNT,              /* u64 or u32, with a suffix K, M or G */
	ROW_SIZE,               /* likewise, in bytes */
	ROW_TEXT,               /* const char *, into argv */
	ROW_GLOB,               /* struct scope_glob */
	ROW_ERRNO,              /* int: of a name like ENOENT, or a number */
	ROW_WORD,               /* int or enum: the index of one of words */
	ROW_WORDS,              /* u32: a bit for each of words in a list */
	ROW_OWN,                /* parse() */
};

struct option_row {
	const char *name;       /* NULL: only a letter */
	int letter;             /* 0: only a name */
	const char *arg;        /* how --help calls its value; NULL: it takes none */
	enum row_kind kind;
	const char *help;
	int heading;            /* 1 to 3, or enum help_heading */
	size_t offset, size;    /* FIELD() */
	size_t also;            /* ALSO(): a bool that becomes true, too */
	bool sets_also;
	bool hidden;
	bool optional;          /* the value may be left out: --off, --off=WORD */
	bool adds;              /* given again, it adds up; others take one value */
	u64 unit_ns;            /* ROW_TIME; 0: milliseconds, the unit of nearly all */
	u64 least, most;        /* 0: no limit */
	const char *wanted;     /* for "'x' is not a number of frames"; NULL: said by kind and limits */
	const char *const *words;       /* of ROW_WORD, ROW_WORDS; NULL entries have no word */
	size_t nwords;
	const char *noun;       /* "no source 'x'; there are ..."; NULL: "'x' is not one of ..." */
	/* ROW_OWN: reports errors. row_struct: what offset is in. text: NULL if left out. Returns 0 or an error. */
	int (*parse)(void *row_struct, char *text);
	/* The same, of several rows, which differ by tag. */
	int (*parse_row)(void *row_struct, const struct option_row *row, char *text);
	u32 tag;
	/* The text of --help, allocated, if it depends on the tool; NULL: help. */
	char *(*describe)(const void *row_struct);
	/* Candidates, beyond words; separators: of a list. */
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

/* Most rows of a tool, with those it includes, or of all groups. */
#define OPTION_ROWS_MOST 64

/* The rows of a tool as a parser of argp, which is its own input. */
struct option_rows {
	void *own;
	size_t n;
	const struct option_row *row[OPTION_ROWS_MOST];
	u32 base[OPTION_ROWS_MOST];             /* where in own the struct of the row is */
	struct argp_option option[OPTION_ROWS_MOST + 1];
	struct argp argp;
};

/* own: what the rows set; may be NULL if nothing is parsed. */
void option_rows__fill(struct option_rows *rows, const struct option_row *from, void *own);

/* Adds rows but those that instead has by the same name. */
void option_rows__add(struct option_rows *rows, const struct option_row *from, const struct option_rows *instead);

/* The rows whose parser argp is, or NULL. */
struct option_rows *option_rows__of(const struct argp *argp);

/* The row of an option of argp, or NULL if it has none. */
const struct option_row *option_row__of(const struct argp *argp, const struct argp_option *option);

/* Whether a second, different value would silently replace the first. */
bool option_row__takes_one(const struct option_row *row);

/* Whether two texts are the same value of the row: 1s and 1000ms of a time. */
bool option_row__same(const struct option_row *row, const char *one, const char *other);

#endif /* TALLY_CLI_OPTION_ROW_H */
