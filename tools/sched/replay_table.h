/* SPDX-License-Identifier: BSD-2-Clause */
/* What became of a replay, beside what was recorded. */
#ifndef TALLY_SCHED_REPLAY_TABLE_H
#define TALLY_SCHED_REPLAY_TABLE_H

#include "cli/options.h"
#include "report/report.h"
#include "sched/replaying.h"

/*
 * A row for each task that is not left out, those that ran longest first, as many as --top says,
 * and for people one of all together. replayed: of replay__run(). Returns 0 or -ENOMEM.
 */
int replay_table__fill(struct report *r, const struct schedule *s, const struct replayed *replayed,
		       const struct cli *cli);

#endif /* TALLY_SCHED_REPLAY_TABLE_H */
