/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own counters, perf_event_open(2), in counting mode: nothing happens per event but
 * an add. A counter is opened for each target, a thread or a CPU or a thread on a CPU.
 */
#ifndef TALLY_EVENT_COUNTER_H
#define TALLY_EVENT_COUNTER_H

#include "event/event.h"
#include "base/types.h"

/* Whose events: any of these threads (none: everybody), on any of these CPUs (none: wherever). */
struct counter_targets {
	const u32 *tids;
	size_t ntids;
	const int *cpus;
	size_t ncpus;
	bool inherit;           /* their children and new threads too */
	bool inherit_thread;    /* with inherit: new threads only (since 5.13) */
	bool on_exec;           /* begins with the exec(2) of the thread, not with counters__enable() */
	u64 period;             /* a sample each so many events; 0: none are taken */
	bool by_frequency;      /* the period is a number of samples a second */
};

struct counter {
	size_t site;            /* index in the sites */
	int cpu;                /* -1: wherever the thread runs */
	u32 tid;                /* 0: everybody */
	int fd;                 /* -1: cannot be counted */
	int err;                /* and why: a negative errno */
};

struct counters {
	struct counter *counter;
	size_t n;
};

/* What perf_event_open() refused, for one site: the kernel's reason in words. */
struct counter_refusal {
	int err;
	char why[160];          /* "this machine has no hardware counters (no PMU, or not for guests)" */
	char instead[96];       /* "cpu-clock"; empty: nothing comes near */
};

/*
 * Opens the counters of those sites that are counters. Events of one group (event.group) are
 * scheduled together. A site that cannot be counted is no error: its counters have fd -1 and err.
 * Returns 0, or a negative errno: -EMFILE, -ENOMEM, -EPERM, -ESRCH (no thread is left), -ENOSPC
 * (more breakpoints than the CPU has), with *c and *which about the site.
 */
int counters__open(struct counters *counters, const struct event_sites *sites,
		   const struct counter_targets *targets, struct complaint *c, size_t *which);

/* Begins to count (those of on_exec begin by themselves). */
int counters__enable(struct counters *counters);
void counters__disable(struct counters *counters);

struct counter_value {
	u64 value, enabled_ns, running_ns;      /* perf_event_open(2), PERF_FORMAT_TOTAL_TIME_* */
};

/* Reads one; zeroes for a counter that cannot be counted. Returns 0 or a negative errno. */
int counter__read(const struct counter *counter, struct counter_value *value);

/* Why the site's counters were refused, in words. */
void counter__refusal(struct counter_refusal *r, const struct event_site *site, int err);

/*
 * Has the kernel count only events that its own filter lets through (perf_event_open(2),
 * PERF_EVENT_IOC_SET_FILTER): filter[i] is that of site i, NULL where there is none. Tracepoints only.
 * -EINVAL: the kernel does not understand the filter of site *which.
 */
int counters__filter(struct counters *counters, char *const *filter, size_t *which);

void counters__close(struct counters *counters);

#endif /* TALLY_EVENT_COUNTER_H */
