/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel counters whose increase from begin to end is summed up (--with).
 *
 *   with_counters__parse()   parses the list as typed
 *   with_counters__open()    opens each counter on each CPU, not counting yet
 *   with_counters__start()   adds them to the programs' map, and starts counting
 *   with_counters__free()
 *
 * Functions return 0 or a negative errno, after reporting the error.
 */
#ifndef TALLY_PROBE_WITH_H
#define TALLY_PROBE_WITH_H

#include "event/counter.h"

struct with_counters {
	struct events events;           /* their indexes are the programs' numbers */
	const char **text;
	struct event_sites sites;       /* hybrid CPUs have several sites for one event */
	struct counters counters;
};

/* list: borrowed; the syntax of -e of `stat`, but only counters. */
int with_counters__parse(struct with_counters *w, const char *list);

/* A refused counter is an error. The message names an alternative, if there is one. */
int with_counters__open(struct with_counters *w);

/* map: index = number of the event * possible CPUs + CPU. */
int with_counters__start(const struct with_counters *w, int map, int cpus_possible);

/* The events that the programs count themselves, context switches, as bits. */
u32 with_counters__switches(const struct with_counters *w);

/* Whether event i is a time, in nanoseconds. */
bool with_counters__is_time(const struct with_counters *w, size_t i);

void with_counters__free(struct with_counters *w);

#endif /* TALLY_PROBE_WITH_H */
