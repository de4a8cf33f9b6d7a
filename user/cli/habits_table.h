/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of perf, bcc and strace that tools of the same work have here under another name, or not at all. */
#ifndef TALLY_CLI_HABITS_TABLE_H
#define TALLY_CLI_HABITS_TABLE_H

#include <stddef.h>

/* What has to stand behind the option, in the same word or as the next one. */
enum habit_when {
	WHEN_ANY,               /* never looked at where the tool has the option itself */
	WHEN_NUMBER,            /* begins with a digit */
	WHEN_NO_NUMBER,         /* anything else, or nothing */
	WHEN_SEPARATOR,         /* one character of punctuation */
	WHEN_CALL_GRAPH,        /* fp, dwarf, lbr */
};

enum habit_value {
	VALUE_NONE,             /* it takes none there */
	VALUE_KEPT,             /* it becomes the value of what the option becomes */
	VALUE_DROPPED,
};

struct habit {
	const char *tools;      /* names with a blank between; NULL: all */
	const char *option;     /* "-g", "--sort": as it is typed elsewhere */
	enum habit_when when;
	enum habit_value value;
	const char *becomes[2]; /* words; one that ends in '=' takes the value into itself. None: nothing */
	const char *say;        /* or: it is refused with this */
};

extern const struct habit habits[];
extern const size_t habit_count;

#endif /* TALLY_CLI_HABITS_TABLE_H */
