/* SPDX-License-Identifier: BSD-2-Clause */
/* The pager for long text on a terminal: $PAGER, else less(1), else more(1), else cat(1). */
#ifndef TALLY_OUT_PAGER_H
#define TALLY_OUT_PAGER_H

#include <sys/types.h>

struct pager {
	pid_t pid;              /* 0: none */
	int terminal;           /* saved standard output */
};

/*
 * Starts the pager and replaces standard output by a pipe to it. No-op if standard output is not a terminal, or if
 * PAGER is empty. Must be called before anything is written.
 */
void pager__begin(struct pager *p);

/* Closes the pipe, waits until the user quits the pager, and restores the terminal as standard output. */
void pager__end(struct pager *p);

#endif /* TALLY_OUT_PAGER_H */
