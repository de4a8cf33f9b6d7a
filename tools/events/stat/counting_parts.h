/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files behind events/stat/counting.h share: counting.c has the course, counting_plan.c what
 * goes which way, counting_counters.c what perf_event_open(2) counts, counting_programs.c what
 * programs count, counting_read.c snapshots of both. All say what is wrong, and return 0 or a
 * negative errno where nothing else is said.
 */
#ifndef TALLY_COUNT_COUNTING_PARTS_H
#define TALLY_COUNT_COUNTING_PARTS_H

#include <linux/perf_event.h>

#include "events/stat/counting.h"

/* perf_event_open() counts it; else it is a place in code that a program counts. */
static inline bool counting_is_counter(const struct event_site *s)
{
	return s->event->type < EVENT_TRACEPOINT || s->attr.type == PERF_TYPE_TRACEPOINT;
}

/* Are there counters among the sites, or others? */
bool counting_has(const struct counting_plan *plan, bool counter);

/* Says what is wrong with the event of a site. */
void counting_complain(const struct counting *c, size_t site, const struct complaint *complaint);

/* --- counters -------------------------------------------------------------------------------- */

/* Opens the counters of the scope's threads or CPUs, for counting_is_native(). */
int counting_open_natively(struct counting *c);

/*
 * Opens a counter of each site for each CPU, whoever runs there: also on those outside of the
 * scope, where the program at the switch reads them too. Lists in c->charged the sites that have
 * some.
 */
int counting_open_for_charging(struct counting *c);

/* Gives tracepoints the kernel's filters, if the plan has some. */
int counting_set_filter(struct counting *c);

/* Does the site count context switches? Charging needs no counter then. */
bool counting_counts_switches(const struct event_site *s);

/* Hands the counters to the loaded programs. Says nothing. */
int counting_fill_counters(struct counting *c);

/*
 * On each CPU, what the counters have advanced by goes to the task that is there just now. Says
 * nothing.
 */
int counting_charge_now(const struct counting *c);

/* --- programs -------------------------------------------------------------------------------- */

/* Decides on the opened object how everything is attached, and what it has room for. */
int counting_configure(struct counting *c);

/* Opens, loads and attaches the programs. They count once they are armed. */
int counting_start_programs(struct counting *c);

/* A system call's entry in the programs' table of slots; NULL: it is counted in another way. */
const volatile u32 *counting_syscall_slot(const struct counting *c, size_t site);

#endif /* TALLY_COUNT_COUNTING_PARTS_H */
