/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own counters (perf_event_open(2)) in counting mode, in which an event costs one addition. Each target (a
 * thread, a CPU, or a thread on a CPU) has its own counter.
 */
#ifndef TALLY_EVENT_COUNTER_H
#define TALLY_EVENT_COUNTER_H

#include "event/event.h"
#include "base/types.h"

/* Counts the events of these threads (none: all) on these CPUs (none: all). */
struct counter_targets {
	const u32 *tids;
	size_t ntids;
	const int *cpus;
	size_t ncpus;
	bool inherit;           /* also count children and new threads */
	bool inherit_thread;    /* with inherit: new threads only (since 5.13) */
	bool on_exec;           /* starts at the thread's exec(2), not at counters__enable() */
	u64 period;             /* take a sample every period events; 0: no samples */
	bool by_frequency;      /* period is samples per second */
};

struct counter {
	size_t site;            /* index in the sites */
	int cpu;                /* -1: any */
	u32 tid;                /* 0: all */
	int fd;                 /* -1: cannot be counted */
	int err;                /* why fd is -1: a negative errno */
};

struct counters {
	struct counter *counter;
	size_t n;
	size_t from;            /* index of the latest counters: from counters__open(), or of a CPU that came online */
};

/* Why perf_event_open() refused a site, in words. */
struct counter_refusal {
	int err;
	char why[160];          /* "this machine has no hardware counters (no PMU, or not for guests)" */
	char instead[96];       /* "cpu-clock"; empty: no close substitute */
};

/*
 * Opens the counters of all sites that are counters. Events of one group (event.group) are
 * scheduled together. A site that cannot be counted is not an error: its counters have fd -1 and
 * err set. Returns 0, or a negative errno with *c and *which about the site: -EMFILE, -ENOMEM,
 * -EPERM, -ESRCH (no thread is left), -ENOSPC (more breakpoints than the CPU has).
 */
int counters__open(struct counters *counters, const struct event_sites *sites,
		   const struct counter_targets *targets, struct complaint *c, size_t *which);

/*
 * Opens the counters of a CPU that has come online. The CPU's earlier counters remain, with their counts. The targets
 * must have only this CPU. Returns 0 or a negative errno.
 */
int counters__add_cpu(struct counters *counters, const struct event_sites *sites,
		      const struct counter_targets *targets);

/* Enables the latest counters. (on_exec counters start by themselves.) */
int counters__enable(struct counters *counters);
void counters__disable(struct counters *counters);

struct counter_value {
	u64 value, enabled_ns, running_ns;      /* perf_event_open(2), PERF_FORMAT_TOTAL_TIME_* */
};

/* Reads a counter; *value is all zeros if it cannot be counted. Returns 0 or a negative errno. */
int counter__read(const struct counter *counter, struct counter_value *value);

/* Fills in *r: why the kernel refused the site's counters with err, in words. */
void counter__refusal(struct counter_refusal *r, const struct event_site *site, int err);

/*
 * Sets the kernel's own filter (perf_event_open(2), PERF_EVENT_IOC_SET_FILTER) on the latest counters: filter[i] is for
 * site i, NULL for none. Tracepoints only. Returns 0 or a negative errno; -EINVAL if the kernel does not understand the
 * filter of site *which.
 */
int counters__filter(struct counters *counters, char *const *filter, size_t *which);

void counters__close(struct counters *counters);

/*
 * Runs a program (SEC("perf_event"), or SEC("tracepoint") for a tracepoint's event) at each sample of a perf event,
 * until the event is closed, and starts the event. The caller keeps both descriptors. Returns 0 or a negative errno.
 */
int perf_event__run(int event_fd, int prog_fd);

#endif /* TALLY_EVENT_COUNTER_H */
