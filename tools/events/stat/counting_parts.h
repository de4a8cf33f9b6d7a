/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files behind events/stat/counting.h: counting.c has the sequence, counting_plan.c
 * decides how each site is counted, counting_counters.c uses perf_event_open(2),
 * counting_programs.c uses programs, counting_read.c takes snapshots of both. Functions report
 * errors and return 0 or a negative errno, unless stated otherwise.
 */
#ifndef TALLY_COUNT_COUNTING_PARTS_H
#define TALLY_COUNT_COUNTING_PARTS_H

#include <linux/perf_event.h>

#include "events/stat/counting.h"

/* Whether perf_event_open() counts the site. Otherwise it is a place in code, and a program counts it. */
static inline bool counting_is_counter(const struct event_site *s)
{
	return s->event->type < EVENT_TRACEPOINT || s->attr.type == PERF_TYPE_TRACEPOINT;
}

/* Whether there are sites that are counters, or with counter == false, sites that are not. */
bool counting_has(const struct counting_plan *plan, bool counter);

/* Reports an error in the event of a site. */
void counting_complain(const struct counting *c, size_t site, const struct complaint *complaint);

/* --- counters -------------------------------------------------------------------------------- */

/* Opens the counters of the scope's threads or CPUs, for counting_is_native(). */
int counting_open_natively(struct counting *c);

/* Also counts on a CPU that has come online. Does not report errors. */
int counting_add_cpu(struct counting *c, int cpu);

/*
 * Opens a counter of each site on each CPU, for all tasks. CPUs outside of the scope are included,
 * because the program at the switch reads their counters, too. Lists the sites with counters in
 * c->charged.
 */
int counting_open_for_charging(struct counting *c);

/* Sets the kernel's filters on tracepoints, if the plan has any. */
int counting_set_filter(struct counting *c);

/* Whether the site counts context switches. Charging then needs no counter. */
bool counting_counts_switches(const struct event_site *s);

/* Puts the counters into the maps of the loaded programs. Does not report errors. */
int counting_fill_counters(struct counting *c);

/* On each CPU, charges the increase of the counters to the current task. Does not report errors. */
int counting_charge_now(const struct counting *c);

/* --- programs -------------------------------------------------------------------------------- */

/* Decides how everything is attached, and sizes the maps. The object must be open. */
int counting_configure(struct counting *c);

/* Opens, loads and attaches the programs. They count once they are armed. */
int counting_start_programs(struct counting *c);

/* A system call's entry in the programs' table of slots, or NULL if it is counted in another way. */
const volatile u32 *counting_syscall_slot(const struct counting *c, size_t site);

#endif /* TALLY_COUNT_COUNTING_PARTS_H */
