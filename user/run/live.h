/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --live: the reports of a run fill the terminal (report/screen.h), each replacing the one before, and
 * keys change what is shown of them:
 *
 *   q quits  s sorts by the next column  r reverses the order  n and b show other rows
 *   p pauses the screen  space draws now
 *
 * Reports of several measurements stand one below the other, as many as there is room for, and tab puts the next one
 * on top, which the other keys are about.
 *
 * There are keys if standard input is a terminal, and no command runs, which could read it, too.
 */
#ifndef TALLY_RUN_LIVE_H
#define TALLY_RUN_LIVE_H

#include "cli/options.h"
#include "report/report.h"

struct live;

/*
 * Checks the terminal, and reports what is wrong with it (-EINVAL). Forks: call it before BPF objects
 * are opened. Returns 0 or a negative errno.
 */
int live__new(struct live **live, const struct cli *cli);
void live__free(struct live *l);        /* l may be NULL; gives the terminal back */

/* Takes over the terminal. */
void live__begin(struct live *l);

/* Descriptor to poll for keys; -1: none now, or l is NULL. */
int live__fd(const struct live *l);

enum live_request {
	LIVE_NOTHING,
	LIVE_NOW,               /* end the interval now */
	LIVE_QUIT,              /* end the run */
};

/* Takes the keys typed. */
enum live_request live__take_keys(struct live *l);

/* Takes SIGTSTP, SIGCONT or SIGWINCH, which the run blocks and waits for. */
void live__take_signal(struct live *l, int sign);

/*
 * Takes over what the report holds, and shows it. cli: the measurement's own, which outlives l, and by which it is
 * known. Returns 0 or -ENOMEM.
 */
int MUST_CHECK live__show(struct live *l, const struct cli *cli, const struct writer *w, struct report *r);

/*
 * The run ends: gives the terminal back, and sorts the measurement's last report as chosen. Returns the report that was
 * on the screen, in its order, to be written before one of an interval that was just begun; it belongs to l. NULL:
 * there was none, or it cannot be shown again.
 */
const struct report *live__leave(struct live *l, const struct cli *cli, struct report *last);

/* Gives the terminal back. */
void live__end(struct live *l);

#endif /* TALLY_RUN_LIVE_H */
