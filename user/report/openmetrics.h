/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports as OpenMetrics 1.0 text (https://prometheus.io/docs/specs/om/), for --listen (run/listen.h) and for files,
 * and as the older Prometheus text, the only format that the textfile collector of node_exporter reads. Counters and
 * histograms count from the start of the run: reports cover intervals, so this module adds them up by key. Units are
 * base units: seconds, bytes. Only counters, gauges and histograms are used, which also exist in the older Prometheus
 * text format.
 *
 *   tally_runqlat_wait_seconds_bucket{pid="1",comm="init",le="0.000001023"} 7
 *   tally_lost_total{tool="runqlat",reason="map_full"} 0
 *
 * A struct openmetrics holds one measurement. If several share a text, each sample begins with a label that identifies
 * the measurement (measurement="runqlat --by pid"). user/run/metrics.h makes the whole text.
 *
 * Columns of tables are converted by their roles (enum field_role): keys and labels become labels, and counters remain
 * counters. Any other number becomes a gauge with the value of the last interval.
 */
#ifndef TALLY_OUT_OPENMETRICS_H
#define TALLY_OUT_OPENMETRICS_H

#include "report/report.h"

struct exposition;

/* Everything that one measurement has reported so far. */
struct openmetrics;

/*
 * Number of keys written if top is 0. Keys of the last report come first, then those of the report before it, and so
 * on; within a report, the largest first. Ten times as many are kept. A dropped key that reappears starts from 0.
 */
#define OPENMETRICS_TOP 1000

/* measurement: its label; NULL if it is the only one. Returns NULL without memory. */
struct openmetrics *openmetrics__new(const char *measurement);
void openmetrics__free(struct openmetrics *m);

/* Both return 0 or -ENOMEM. */
int openmetrics__add(struct openmetrics *m, const struct report *r, u64 top);
int openmetrics__put(const struct openmetrics *m, struct exposition *x);

/* measurement="runqlat --by pid", or "". */
const char *openmetrics__label(const struct openmetrics *m);

/*
 * Converts OpenMetrics text to the older Prometheus text format (version 0.0.4), in which counters have the names of
 * their samples, and which has no units and no end marker. Returns allocated memory, or NULL if there is none.
 */
char *prometheus_text(const char *openmetrics);

#endif /* TALLY_OUT_OPENMETRICS_H */
