/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One sampled event: a program runs at every Nth event, or at a given frequency. Kernel and CPU counters run a
 * SEC("perf_event") program on each CPU; a tracepoint runs a SEC("tracepoint") program at each hit, which counts the
 * hits itself.
 *
 *   sampled_event__find()     resolves the text
 *   sampled_event__start()    after the program is loaded
 *   sampled_event__free()     in any case
 *
 * These functions report errors (report/diag.h) and return 0 or a negative errno: -EOPNOTSUPP if this machine lacks the
 * event.
 */
#ifndef TALLY_EVENT_SAMPLED_H
#define TALLY_EVENT_SAMPLED_H

#include "event/counter.h"
#include "event/event.h"

#include "bpf/lib/scope.h"

struct sampled_event {
	u64 every;              /* sample every Nth event; 0: by hz */
	u64 hz;
	struct events events;
	const char **text;
	struct event_sites sites;
	struct counters counters;
	int tracepoint_fd;      /* the tracepoint's event plus 1; 0: none */
	bool is_tracepoint;
	bool is_time;           /* clock event: the period is in nanoseconds */
};

/*
 * If the text sets neither every nor hz: samples every hit of a tracepoint, other events at default_hz. text must
 * outlive s.
 */
int sampled_event__find(struct sampled_event *s, const char *text, u64 default_hz);

/* Starts sampling on all online CPUs in scope. prog_fd may be closed afterwards. */
int sampled_event__start(struct sampled_event *s, int prog_fd, const struct scope_config *scope);

/*
 * Also samples a CPU that has come online. (A program on a tracepoint already runs on all CPUs.) Returns 0 or a
 * negative errno, without a message.
 */
int sampled_event__add_cpu(struct sampled_event *s, int prog_fd, int cpu);

/*
 * Reads the kernel's own count of events on the sampled CPUs; 0 for a tracepoint. The programs' total, if read after
 * this call, is no lower, except for lost samples and incomplete periods.
 */
int sampled_event__count(const struct sampled_event *s, u64 *events);

/* Writes "page-faults, every one". sampled_event__name() returns only the name of the site. */
void sampled_event__describe(const struct sampled_event *s, char *text, size_t size);
const char *sampled_event__name(const struct sampled_event *s);

void sampled_event__free(struct sampled_event *s);

#endif /* TALLY_EVENT_SAMPLED_H */
