/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPUs that go offline or come online during a run. A perf event ends with its CPU, and a CPU that comes online has
 * none: the caller must open it.
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
	bool covered;           /* online, with its events */
	bool refused;           /* online, but its events could not be opened */
	u64 since_ns;           /* not covered since then, CLOCK_MONOTONIC */
	u64 absent_ns;          /* not covered before that, in total */
};

/* Initialise to all zeros: no CPUs are followed. */
struct hotplug {
	const struct scope_config *scope;
	const char *done;       /* verb for the CPUs: "sampled", "counted" */
	int socket;             /* for the kernel's messages, plus 1; 0: none */
	u64 armed_ns, disarmed_ns;      /* 0: not yet */
	struct hotplug_cpu *cpu;        /* SCOPE_MAX_CPUS of them */
};

/* The scope and done are borrowed. Returns 0 or a negative errno. */
int hotplug__begin(struct hotplug *h, const struct scope_config *scope, const char *done);

/* Readable when a CPU may have changed; -1 if there is no such descriptor: CPUs are then checked before each report. */
int hotplug__fd(const struct hotplug *h);

void hotplug__arm(struct hotplug *h);
void hotplug__disarm(struct hotplug *h);

/*
 * Calls change(), and prints a warning, for each CPU in scope that has gone or come. A negative errno from change()
 * means that the CPU cannot be covered. Returns 0 or a negative errno if the list of CPUs cannot be read.
 */
int hotplug__follow(struct hotplug *h, int (*change)(void *context, int cpu, bool online), void *context);

/*
 * Writes "; not sampled: CPU 1 for 1.2 s (offline)" for all CPUs that were not covered all the time so far, or an empty
 * text.
 */
void hotplug__describe(const struct hotplug *h, char *text, size_t size);

void hotplug__end(struct hotplug *h);

#endif /* TALLY_HOST_HOTPLUG_H */
