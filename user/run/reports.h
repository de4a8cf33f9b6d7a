/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the reports of a run's measurements at the end of an interval. Functions return 0 or a negative errno. */
#ifndef TALLY_RUN_REPORTS_H
#define TALLY_RUN_REPORTS_H

#include "run/run.h"

/* Reads and writes the reports of all measurements, begins their next intervals, and writes the text of metrics. */
int reports__write(struct run *run);

/* Bracket lines of single events: direct the writer to their measurement. reports__write() calls both itself. */
void reports__begin_lines(struct measurement *m);
void reports__end_lines(struct measurement *m);

/* --heat: writes the heat maps at the end of the run. */
int reports__write_heat(const struct run *run);

#endif /* TALLY_RUN_REPORTS_H */
