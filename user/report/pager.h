/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that shows a long text on the terminal page by page: $PAGER, or less(1), or more(1). */
#ifndef TALLY_OUT_PAGER_H
#define TALLY_OUT_PAGER_H

#include <sys/types.h>

struct pager {
	pid_t pid;              /* 0: none */
	int terminal;           /* what standard output was */
};

/*
 * If standard output is a terminal, starts the pager and makes a pipe to it the standard output. Without one, and if
 * PAGER is empty, nothing changes. Call it before anything is written.
 */
void pager__begin(struct pager *p);

/* Closes the pipe, waits until the reader has left the pager, and has the terminal as standard output again. */
void pager__end(struct pager *p);

#endif /* TALLY_OUT_PAGER_H */
