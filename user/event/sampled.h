/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One event that a program is run at now and then: at every Nth, or so many times a second.
 * Counters of the kernel and the CPU run a SEC("perf_event") program on each CPU; a tracepoint runs
 * a SEC("tracepoint") program at each hit, which does the counting itself.
 *
 *   sampled_event__find()     what the text means here
 *   sampled_event__start()    the program has been loaded
 *   sampled_event__free()     in any case
 *
 * All say what is wrong (report/diag.h) and return 0 or a negative errno: -EOPNOTSUPP where this
 * machine does not have the event.
 */
#ifndef TALLY_EVENT_SAMPLED_H
#define TALLY_EVENT_SAMPLED_H

#include <bpf/libbpf.h>

#include "event/counter.h"
#include "event/event.h"

#include "bpf/lib/scope.h"

struct sampled_event {
	u64 every;              /* a sample at each so manieth; 0: by hz */
	u64 hz;
	struct events events;
	const char **text;
	struct event_sites sites;
	struct counters counters;
	struct bpf_link **link;
	size_t nlinks;
	bool is_tracepoint;
	bool is_time;           /* a clock: the period is in nanoseconds */
};

/* Neither every nor hz: every one of a tracepoint, else default_hz. text must live as long as s. */
int sampled_event__find(struct sampled_event *s, const char *text, u64 default_hz);

/* On all CPUs that are online and in scope. */
int sampled_event__start(struct sampled_event *s, const struct bpf_program *prog,
			 const struct scope_config *scope);

/*
 * How many events the kernel itself has counted on those CPUs, 0 for a tracepoint. What programs
 * were told of, read afterwards, is no less but for samples that did not come and those begun but
 * not full.
 */
int sampled_event__count(const struct sampled_event *s, u64 *events);

/* "page-faults, every one"; its name alone is that of its site. */
void sampled_event__describe(const struct sampled_event *s, char *text, size_t size);
const char *sampled_event__name(const struct sampled_event *s);

void sampled_event__free(struct sampled_event *s);

#endif /* TALLY_EVENT_SAMPLED_H */
