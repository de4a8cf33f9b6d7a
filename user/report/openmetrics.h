/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports as OpenMetrics 1.0 text (https://prometheus.io/docs/specs/om/), for the textfile collector
 * of node_exporter and for --listen (run/listen.h). Counters and histograms count from the start of the run: reports are of
 * intervals, so what they hold is added up here, by key. Units are base units: seconds, bytes.
 * Only counters, gauges and histograms are used, which the older Prometheus text format has, too.
 *
 *   tally_runqlat_wait_seconds_bucket{pid="1",comm="init",le="0.000001023"} 7
 *   tally_lost_total{tool="runqlat",reason="map_full"} 0
 *
 * Of tables, a column that says so (adds_up in struct field) is a counter; any other is a gauge: the
 * figure of the last interval. What stands in front of the first figure of a row is its
 * key.
 */
#ifndef TALLY_OUT_OPENMETRICS_H
#define TALLY_OUT_OPENMETRICS_H

#include "report/report.h"

/* All that was reported up to now. w->metrics; made by the first write. */
struct openmetrics;

/*
 * How many keys are written where w->top does not say: those of the last report, then of the one before, and so on; of
 * one report those with most. Ten times as many are kept. A key that has left and comes again begins from 0.
 */
#define OPENMETRICS_TOP 1000

/* Adds the report and writes all. Returns 0 or -ENOMEM. */
int write_openmetrics(struct writer *w, const struct report *r);
void openmetrics__free(struct openmetrics *m);

/*
 * What was written as the text format of Prometheus before OpenMetrics (version 0.0.4), where
 * counters are called by the names of their samples, and units and ends are not said. New memory;
 * NULL if there is none.
 */
char *prometheus_text(const char *openmetrics);

#endif /* TALLY_OUT_OPENMETRICS_H */
