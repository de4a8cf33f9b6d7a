/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the results of a replay with the recording. */
#ifndef TALLY_SCHED_REPLAY_TABLE_H
#define TALLY_SCHED_REPLAY_TABLE_H

#include "cli/options.h"
#include "report/report.h"
#include "sched/replaying.h"

/*
 * Adds a row for each task that is not left out, longest run time first, up to --top, and in text
 * output a total. replayed: results of replay__run(). Returns 0 or -ENOMEM.
 */
int replay_table__fill(struct report *r, const struct schedule *s, const struct replayed *replayed,
		       const struct cli *cli);

#endif /* TALLY_SCHED_REPLAY_TABLE_H */
