/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report on the whole terminal that the next one takes the place of. Plain ECMA-48 sequences,
 * which every terminal of today knows, and the kernel's own idea of its size: a library (ncurses) would
 * want the host's description of the terminal, which is not there where one file is copied.
 */
#ifndef TALLY_OUT_SCREEN_H
#define TALLY_OUT_SCREEN_H

#include <termios.h>

#include "report/report.h"

struct screen {
	bool is_open;
	struct termios before;  /* what the terminal was like */
};

/* Are standard input and output a terminal? Says so if not, and returns -EINVAL. */
int screen__check(void);

/* Takes over that terminal. Returns 0 or a negative errno. */
int screen__open(struct screen *s);

/* How many rows of a table there is room for, beside all that stands around it. */
size_t screen__rows(void);

/* As text, what does not fit is cut off. Returns 0 or a negative errno. */
int screen__show(const struct report *r);

/* Takes what was typed, standard input can be read: was there a q, or is the terminal gone? */
bool screen__is_quit(void);

/* Gives the terminal back as it was. */
void screen__close(struct screen *s);

#endif /* TALLY_OUT_SCREEN_H */
