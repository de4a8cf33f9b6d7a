/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --live: shows the reports of a run on the whole terminal (report/screen.h), each replacing the previous
 * one. Keys change the view:
 *
 *   q quits  s sorts by the next column  r reverses the order  n and b show other rows
 *   p pauses the screen  space draws now
 *
 * Reports of several measurements are stacked, as many as fit. Tab moves the next one to the top; s, r, n and b apply
 * to the one on top.
 *
 * Keys work if standard input is a terminal and no command runs: a command could read it, too.
 */
#ifndef TALLY_RUN_LIVE_H
#define TALLY_RUN_LIVE_H

#include "cli/options.h"
#include "report/report.h"

struct live;

/*
 * Checks the terminal, and reports what is wrong with it (-EINVAL). Forks, so it must be called before
 * BPF objects are opened. Returns 0 or a negative errno.
 */
int live__new(struct live **live, const struct cli *cli);
void live__free(struct live *l);        /* l may be NULL; restores the terminal */

/* Takes over the terminal. */
void live__begin(struct live *l);

/* Descriptor to poll for keys; -1 if none now, or if l is NULL. */
int live__fd(const struct live *l);

enum live_request {
	LIVE_NOTHING,
	LIVE_NOW,               /* end the interval now */
	LIVE_QUIT,              /* end the run */
};

/* Reads and handles the keys typed. */
enum live_request live__take_keys(struct live *l);

/* Handles SIGTSTP, SIGCONT or SIGWINCH, which the run blocks and waits for. */
void live__take_signal(struct live *l, int sign);

/*
 * Shows the report, and takes ownership of its contents if the screen can show it again (*r is then all zeros). While
 * paused, a no-op except for the first report of a measurement. cli: the measurement's own, which identifies it; must
 * outlive l. Returns 0 or -ENOMEM.
 */
int MUST_CHECK live__show(struct live *l, const struct cli *cli, const struct writer *w, struct report *r);

/*
 * Restores the terminal at the end of the run, and sorts the measurement's last report in the order the user chose.
 * Returns the report that was on the screen, in its order, to be written before the last one if the last interval was
 * short; owned by l. NULL if none was on the screen, or if it cannot be shown again.
 */
const struct report *live__leave(struct live *l, const struct cli *cli, struct report *last);

/* Restores the terminal. */
void live__end(struct live *l);

#endif /* TALLY_RUN_LIVE_H */
