/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs that a command will start, guessed from its words before it runs: the command itself, arguments that
 * name programs (env, timeout, nice, xargs), and words of an argument after -c (sh -c 'a | b').
 *
 * Best effort: a word may only look like a program, and programs started by scripts, variables and other programs are
 * missing. A word on a mount whose server does not answer ends the search.
 */
#ifndef TALLY_TYPES_COMMAND_PROGRAMS_H
#define TALLY_TYPES_COMMAND_PROGRAMS_H

/* Limits: programs in addition to the command's own; words looked up along PATH. */
#define COMMAND_PROGRAMS_MOST 16
#define COMMAND_WORDS_MOST 256

/* A non-zero result ends the search. */
typedef int (*command_program_visit)(void *arg, const char *path);

/* Calls visit once for each program, the command's own first. Returns 0, -ENOMEM, or the non-zero result of visit. */
int command_programs__each(char *const *command, command_program_visit visit, void *arg);

#endif /* TALLY_TYPES_COMMAND_PROGRAMS_H */
