/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion of command lines for shells:
 *
 *   TOOL --complete [WORD...] CURRENT
 *
 * WORDs are the words after TOOL. CURRENT is the word at the cursor, up to the cursor; "" starts a new word. The output
 * has a line for each word that begins with CURRENT and can replace it: the word, a tab, and its description. A line
 * without a word delegates to the shell: "\tfiles", "\tusers", or "\tcommand" (a separate command line begins after
 * "--"). If CURRENT is --OPTION=..., files and users begin after its "=".
 *
 * Options, descriptions and values come from rows (cli/option_row.h). An option takes a file or a user if its row names
 * the value FILE, BINARY, PATH or USER.
 *
 * Names of processes and cgroups are untrusted: words that escape() would change are not offered.
 */
#ifndef TALLY_CLI_COMPLETE_H
#define TALLY_CLI_COMPLETE_H

#include <argp.h>
#include <stdio.h>

#include "base/types.h"

struct cli_spec;

#define COMPLETE_OPTION "--complete"

struct completion {
	const struct cli_spec *spec;    /* own_input is as the tool's init() left it */
	const char *current;            /* as typed */
	const char *typed;              /* the part of current that candidates must begin with */
	const char *listed;             /* start of the list that ends with typed; equals typed if not in a list */
	const char *separators;         /* of the list, or "" */
	size_t position;                /* number of positional arguments before current */
	const char *first;              /* first positional argument, or NULL */
	FILE *out;
};

/* Adds the word if it begins with c->typed. help: its description, or "". */
void completion__add(struct completion *c, const char *word, const char *help);

/* Delegates to the shell. what: "files", "users" or "command". */
void completion__leave(struct completion *c, const char *what);

/* Whether the command line begins with --complete. */
bool complete__is_asked(int argc, char **argv);

/* Returns the output, allocated, or NULL without memory. root: all options of the tool. */
char *complete__answer(const struct cli_spec *spec, const struct argp *root, int argc, char **argv);

void complete_key(struct completion *c);         /* "key", an order of --sort */

/* --- words from this machine ------------------------------------------------------------------- */

void complete_processes(struct completion *c);          /* names and pids, as -p takes them */
void complete_pids(struct completion *c);
void complete_task_names(struct completion *c);
void complete_cgroups(struct completion *c);
void complete_errors(struct completion *c);
void complete_signals(struct completion *c);
void complete_syscalls(struct completion *c);           /* calls and classes (host/syscall_set.h) */
void complete_files(struct completion *c);

/* Separators of sets of system calls. */
#define SYSCALL_SEPARATORS ",!"

void complete_tools(struct completion *c);              /* tools that measure (cli/tools.h) */

#endif /* TALLY_CLI_COMPLETE_H */
