/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs that a command will start, guessed from its words before it runs: itself, arguments that name programs
 * (env, timeout, nice, xargs), and words of an argument behind -c (sh -c 'a | b').
 *
 * Best effort: a word may only look like a program, and what scripts, variables and programs start is missing. A word
 * on a mount whose server does not answer ends the search.
 */
#ifndef TALLY_TYPES_COMMAND_PROGRAMS_H
#define TALLY_TYPES_COMMAND_PROGRAMS_H

/* Programs after the command's own; and words that are looked up along PATH. */
#define COMMAND_PROGRAMS_MOST 16
#define COMMAND_WORDS_MOST 256

/* A result other than 0 ends the search. */
typedef int (*command_program_visit)(void *arg, const char *path);

/* Calls visit for each program, once, the command's own first. Returns 0, -ENOMEM, or what visit returned. */
int command_programs__each(char *const *command, command_program_visit visit, void *arg);

#endif /* TALLY_TYPES_COMMAND_PROGRAMS_H */
