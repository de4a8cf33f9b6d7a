/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the sites of events, each in the cheapest way that is correct:
 *
 *   counters, if perf_event_open(2) supports the scope     counted by the kernel itself
 *   counters by task, or for other scopes                  charged at context switches
 *   tracepoints and functions                              an addition in a BPF program
 *   tracepoints with a filter                              a program with the filter compiled into
 *                                                          it, or the kernel's counting and filter
 *
 *   counting__begin()   opens and attaches everything; nothing counts yet
 *   counting__go()      starts counting
 *   counting__follow()  whenever hotplug__fd(&c->hotplug) is readable, and before a snapshot
 *   counting__stop()    stops counting
 *   counting__read()    takes a cumulative snapshot
 *   counting__end()
 *
 * Functions report errors (report/diag.h) and return 0 or a negative errno.
 */
#ifndef TALLY_COUNT_COUNTING_H
#define TALLY_COUNT_COUNTING_H

#include "agg/loss.h"
#include "event/attach.h"
#include "event/counter.h"
#include "events/stat/counts.h"
#include "host/hotplug.h"
#include "host/topology.h"
#include "run/measurement.h"

/* The sites to count. The texts are those of -e, used in messages. */
struct counting_plan {
	const struct event_sites *sites;
	const u32 *row;                 /* row of each site: sites with the same name share a row */
	size_t nrows;
	const char *const *text;        /* for each event, the -e that named it */
	const struct events *events;
	char *const *filter;            /* filter of each site in the kernel's syntax, or NULL */
	const struct attach_code *compiled;   /* filter of each site as a program, or NULL if there are none */
	u32 by;                         /* enum task_key_part, ORed; 0: no key */
	bool per_cpu;                   /* places are CPUs; otherwise all are COUNT_EVERYWHERE */
};

struct counting {
	const struct counting_plan *plan;
	const struct measurement *m;
	struct topology topology;
	struct counters counters;
	struct hotplug hotplug;         /* of the CPUs that counters count on */
	struct attachments attachments;
	struct counting_bpf *bpf;       /* NULL if no program is needed */
	u32 *tids;                      /* the threads of -p */
	size_t ntids;
	u32 *charged;                   /* sites that are charged at context switches */
	size_t ncharged;
	bool charges;                   /* counters are charged at context switches */
};

/*
 * Whether perf_event_open(2) supports the scope, threads or CPUs, and there is no key. Programs
 * handle everything else, at the event or at context switches. This includes threads on certain
 * CPUs: a counter of a thread and a CPU stays enabled but does not run while the thread is
 * elsewhere, which looks like multiplexing.
 */
bool counting_is_native(const struct measurement *m, u32 by, bool per_cpu);

int counting__begin(struct counting *c, const struct measurement *m,
		    const struct counting_plan *plan);
int counting__go(struct counting *c);
int counting__follow(struct counting *c);
void counting__stop(struct counting *c);

/*
 * Reads a snapshot, and the part of it that stays in the kernel, which the next snapshot continues
 * (elements__take()). The caller frees both. Losses are zero if no program runs.
 */
int counting__read(struct counting *c, struct counts *counts, struct counts *left,
		   struct loss_counters *losses);

/*
 * With keys: reads into lost[], for each row, the counts so far whose key found no room. The values of counters are as
 * they counted, without scaling. All are 0 otherwise.
 */
int counting__read_lost(const struct counting *c, u64 *lost);

/*
 * Describes how events are counted, for the report's header: "perf counters; raw tracepoint (2)".
 */
void counting__describe(const struct counting *c, char *text, size_t size);

/* Returns the errno of perf_event_open(2) if a row cannot be counted, or 0. Sets *site to the row's site. */
int counting__refused(const struct counting *c, u32 row, const struct event_site **site);

/*
 * For -n: decides how everything would be counted, without doing it. counting__how() then returns
 * the way for a site: "kprobe.multi", "counter", ...
 */
int counting__explain(struct counting *c, const struct measurement *m,
		      const struct counting_plan *plan);
const char *counting__how(const struct counting *c, size_t site);

void counting__end(struct counting *c);

#endif /* TALLY_COUNT_COUNTING_H */
