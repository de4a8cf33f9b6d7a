/* SPDX-License-Identifier: BSD-2-Clause */
/* Applies the rules to a recording: when there were problems, or the problems in one window. */
#ifndef TALLY_TRIAGE_PAST_H
#define TALLY_TRIAGE_PAST_H

#include "cli/options.h"
#include "record/when.h"

/*
 * If `when` has a window, writes the page of this window, as for a run during that time. Otherwise, writes a table with
 * the times of each finding; consecutive intervals share a row, which has the worst sentence. Reports errors. Returns
 * the exit status.
 */
int triage_past(const char *path, const struct when *when, const struct cli *cli);

#endif /* TALLY_TRIAGE_PAST_H */
