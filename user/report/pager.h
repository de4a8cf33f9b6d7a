/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that shows a long text on the terminal page by page: $PAGER, else less(1), else more(1). */
#ifndef TALLY_OUT_PAGER_H
#define TALLY_OUT_PAGER_H

#include <sys/types.h>

struct pager {
	pid_t pid;              /* 0: none */
	int terminal;           /* saved standard output */
};

/*
 * If standard output is a terminal, starts the pager and replaces standard output by a pipe to it. If there is no
 * pager, or PAGER is empty, nothing changes. Call it before anything is written.
 */
void pager__begin(struct pager *p);

/* Closes the pipe, waits until the user has left the pager, and restores the terminal as standard output. */
void pager__end(struct pager *p);

#endif /* TALLY_OUT_PAGER_H */
