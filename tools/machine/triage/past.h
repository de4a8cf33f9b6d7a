/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules over a recording: when something was wrong, and what in one window of it. */
#ifndef TALLY_TRIAGE_PAST_H
#define TALLY_TRIAGE_PAST_H

#include "cli/options.h"
#include "record/when.h"

/*
 * With a window in when, its page, as of a run over that time; else a table of when each finding was there:
 * intervals that follow each other are one row, with its worst sentence. Says what is wrong; returns the exit status.
 */
int triage_past(const char *path, const struct when *when, const struct cli *cli);

#endif /* TALLY_TRIAGE_PAST_H */
