/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's counters whose advance from a begin to its end is summed up (--with).
 *
 *   with_counters__parse()   the list as typed
 *   with_counters__open()    each on each CPU, not counting yet
 *   with_counters__start()   into the programs' map, and counting
 *   with_counters__free()
 *
 * All return 0 or a negative errno, after saying what is wrong.
 */
#ifndef TALLY_PROBE_WITH_H
#define TALLY_PROBE_WITH_H

#include "event/counter.h"

struct with_counters {
	struct events events;           /* their numbers are the programs' */
	const char **text;
	struct event_sites sites;       /* of hybrid CPUs, several for one event */
	struct counters counters;
};

/* list: borrowed; as -e of `stat`, of counters only. */
int with_counters__parse(struct with_counters *w, const char *list);

/* Refused ones are an error: the message names what works instead, where something does. */
int with_counters__open(struct with_counters *w);

/* map: indexed by number of the event * CPUs that are possible + CPU. */
int with_counters__start(const struct with_counters *w, int map, int cpus_possible);

/* Those that the programs count themselves, a bit each: context switches. */
u32 with_counters__switches(const struct with_counters *w);

/* Is event i a time, in nanoseconds? */
bool with_counters__is_time(const struct with_counters *w, size_t i);

void with_counters__free(struct with_counters *w);

#endif /* TALLY_PROBE_WITH_H */
