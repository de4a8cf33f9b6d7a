/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows CPUs that go offline or come online during a run. A perf event ends when its CPU goes offline, and a CPU that
 * comes online has no events: the caller must open them.
 *
 *   hotplug__begin()      before the events are opened
 *   hotplug__arm()        start of the reported times
 *   hotplug__follow()     whenever hotplug__fd() is readable, and before a report
 *   hotplug__disarm()     no event is opened after this
 *   hotplug__describe()   for a report
 *   hotplug__end()        in any case
 */
#ifndef TALLY_HOST_HOTPLUG_H
#define TALLY_HOST_HOTPLUG_H

#include "base/types.h"

#include "bpf/lib/scope.h"

struct hotplug_cpu {
	bool has_changed;       /* it was not online for the whole run */
	bool covered;           /* online, and its events are open */
	bool refused;           /* online, but its events could not be opened */
	u64 since_ns;           /* when it last ceased to be covered, CLOCK_MONOTONIC */
	u64 absent_ns;          /* total time it was not covered before since_ns */
};

/* Initialise to all zeros: no CPUs are followed. */
struct hotplug {
	const struct scope_config *scope;
	const char *done;       /* verb for the CPUs: "sampled", "counted" */
	int socket;             /* descriptor for the kernel's messages, plus 1; 0 if none */
	u64 armed_ns, disarmed_ns;      /* 0 if not yet */
	struct hotplug_cpu *cpu;        /* array of SCOPE_MAX_CPUS */
};

/* Borrows scope and done. Returns 0 or a negative errno. */
int hotplug__begin(struct hotplug *h, const struct scope_config *scope, const char *done);

/* Returns a descriptor, readable when a CPU may have changed; -1 if none: CPUs are then checked before each report. */
int hotplug__fd(const struct hotplug *h);

void hotplug__arm(struct hotplug *h);
void hotplug__disarm(struct hotplug *h);

/*
 * Calls change(), and prints a warning, for each CPU in scope that went offline or came online. A negative errno from
 * change() means that the CPU cannot be covered. Returns 0, or a negative errno if the list of CPUs cannot be read.
 */
int hotplug__follow(struct hotplug *h, int (*change)(void *context, int cpu, bool online), void *context);

/*
 * Writes "; not sampled: CPU 1 for 1.2 s (offline)" for all CPUs that were not covered all the time so far; an empty
 * text if there are none.
 */
void hotplug__describe(const struct hotplug *h, char *text, size_t size);

void hotplug__end(struct hotplug *h);

#endif /* TALLY_HOST_HOTPLUG_H */
