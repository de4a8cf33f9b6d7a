/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of perf, bcc and strace that the corresponding tools here lack or have under another
 * name.
 */
#ifndef TALLY_CLI_HABITS_TABLE_H
#define TALLY_CLI_HABITS_TABLE_H

#include <stddef.h>

/* Condition on the value, in the same word or the next one. */
enum habit_when {
	WHEN_ANY,               /* not applied if the tool has the option itself */
	WHEN_ANY_OWN,           /* applied even then */
	WHEN_NUMBER,            /* begins with a digit */
	WHEN_SMALL_NUMBER,      /* 1 to 999: rather seconds than a user */
	WHEN_NO_NUMBER,         /* anything but a number, or nothing */
	WHEN_ALONE,             /* nothing, or another option */
	WHEN_WORD,              /* a word that is no option */
	WHEN_PERF_DATA,         /* perf.data, or another file of that kind */
	WHEN_SEPARATOR,         /* one character of punctuation */
	WHEN_CALL_GRAPH,        /* fp, dwarf, lbr */
	WHEN_ERROR,             /* ENOENT, or a number */
	WHEN_FOLDED,            /* f, a second option in the same word */
	WHEN_ONCE_MORE,         /* the same letter again in the same word: -ff */
	WHEN_TWICE_MORE,        /* the same letter twice more in the same word: -ttt */
	WHEN_STRACE_I,          /* 1 to 4 */
	WHEN_STRACE_WORD,       /* never, or another of strace's words for 1 to 4 */
	WHEN_COLUMN,            /* 10 to 999, in the same word or the next one */
	WHEN_HUNDREDS,          /* a number without a unit, from 100 on */
	WHEN_FEW,               /* 0 to 99 */
	WHEN_NAME,              /* letters, digits, '-' and '_': neither a glob nor a path */
	WHEN_FAULTS,            /* all, min, maj */
	WHEN_BRANCHES,          /* a filter of branches: any_call, ind_jmp, ... */
	WHEN_PIPE,              /* begins with '|' or '!' */
	WHEN_VALUE,             /* a value in the same word: --option=VALUE */
	WHEN_UNIX,              /* --option=unix, or =format:unix,...: a format of strace's times */
};

enum habit_value {
	VALUE_NONE,             /* the translation takes no value */
	VALUE_KEPT,             /* becomes the value of the translation */
	VALUE_DROPPED,
	VALUE_WARNED,           /* as VALUE_NONE, with say as a warning */
	VALUE_MS,               /* the same as VALUE_KEPT; a number alone gets the unit: milliseconds */
	VALUE_US,               /* microseconds */
	VALUE_OWN,              /* the tool's own option, with say as a warning: the peer's means something else */
	VALUE_NO_COMMAND,       /* the tool's own option, or becomes[0], with a value; refused if there is a command */
	VALUE_COMMAND,          /* a command in one word, split at blanks, behind all options */
};

struct habit {
	const char *tools;      /* names separated by blanks; NULL: all */
	const char *option;     /* "-g", "--sort": the foreign option */
	enum habit_when when;
	enum habit_value value;
	const char *becomes[2]; /* words; one that ends in '=' is joined with the value. No words: drop the option */
	const char *say;        /* refuse it with this message, or VALUE_OWN */
};

extern const struct habit habits[];
extern const size_t habit_count;

#endif /* TALLY_CLI_HABITS_TABLE_H */
