/* SPDX-License-Identifier: BSD-2-Clause */
/* The reports of a run's measurements, at the end of an interval. Functions return 0 or a negative errno. */
#ifndef TALLY_RUN_REPORTS_H
#define TALLY_RUN_REPORTS_H

#include "run/run.h"

/* Reads and writes the reports of all measurements, which begin their next intervals, and ends the text of metrics. */
int reports__write(struct run *run);

/* Around lines of single events: points the writer at their measurement. reports__write() does so by itself. */
void reports__begin_lines(struct measurement *m);
void reports__end_lines(struct measurement *m);

/* --heat: writes the maps, at the end of the run. */
int reports__write_heat(const struct run *run);

#endif /* TALLY_RUN_REPORTS_H */
