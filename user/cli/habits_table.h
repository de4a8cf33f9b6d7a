/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of perf, bcc and strace that the corresponding tally tools lack or name differently.
 */
#ifndef TALLY_CLI_HABITS_TABLE_H
#define TALLY_CLI_HABITS_TABLE_H

#include <stddef.h>

/* Condition on the value, in the same word or the next one. */
enum habit_when {
	WHEN_ANY,               /* not applied if the tool has the option itself */
	WHEN_ANY_OWN,           /* applied even if the tool has the option itself */
	WHEN_NUMBER,            /* begins with a digit */
	WHEN_SMALL_NUMBER,      /* 1 to 999: seconds rather than a user */
	WHEN_NO_NUMBER,         /* not a number, or missing */
	WHEN_ALONE,             /* missing, or another option */
	WHEN_WORD,              /* a word that is not an option */
	WHEN_PERF_DATA,         /* perf.data, or another file of that kind */
	WHEN_SEPARATOR,         /* one character of punctuation */
	WHEN_CALL_GRAPH,        /* fp, dwarf, lbr */
	WHEN_ERROR,             /* ENOENT, or a number */
	WHEN_FOLDED,            /* f, a second option in the same word */
	WHEN_ONCE_MORE,         /* the same letter again in the same word: -ff */
	WHEN_TWICE_MORE,        /* the same letter twice more in the same word: -ttt */
	WHEN_STRACE_I,          /* 1 to 4 */
	WHEN_STRACE_WORD,       /* "never", or another of strace's words for 1 to 4 */
	WHEN_COLUMN,            /* 10 to 999, in the same word or the next one */
	WHEN_HUNDREDS,          /* a number without a unit, 100 or more */
	WHEN_FEW,               /* 0 to 99 */
	WHEN_NAME,              /* letters, digits, '-' and '_': neither a glob nor a path */
	WHEN_FAULTS,            /* all, min, maj */
	WHEN_BRANCHES,          /* a branch filter: any_call, ind_jmp, ... */
	WHEN_PIPE,              /* begins with '|' or '!' */
	WHEN_VALUE,             /* a value in the same word: --option=VALUE */
	WHEN_UNIX,              /* --option=unix or --option=format:unix,...: a format of strace's times */
};

enum habit_value {
	VALUE_NONE,             /* the translation takes no value */
	VALUE_KEPT,             /* becomes the value of the translation */
	VALUE_DROPPED,
	VALUE_WARNED,           /* like VALUE_NONE, with say as a warning */
	VALUE_MS,               /* like VALUE_KEPT, but a number without a unit is in milliseconds */
	VALUE_US,               /* likewise in microseconds */
	VALUE_OWN,              /* the tool's own option, with say as a warning: it means something else elsewhere */
	VALUE_NO_COMMAND,       /* the tool's own option, or becomes[0], with a value; rejected with a command */
	VALUE_COMMAND,          /* a command in one word, split at blanks, after all options */
};

struct habit {
	const char *tools;      /* names separated by blanks; NULL: all */
	const char *option;     /* "-g", "--sort": the foreign option */
	enum habit_when when;
	enum habit_value value;
	const char *becomes[2]; /* words; if one ends in '=', the value is appended. No words: the option is dropped */
	const char *say;        /* message: the option is rejected, unless value (enum habit_value) says otherwise */
};

extern const struct habit habits[];
extern const size_t habit_count;

#endif /* TALLY_CLI_HABITS_TABLE_H */
