/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting the sites of events, each by what is cheapest and still right:
 *
 *   counters, where perf_event_open(2) knows the scope     the kernel's own counting
 *   counters by task, or for a scope it does not know      charged at context switches
 *   tracepoints and functions                              one add in a BPF program
 *   tracepoints with a filter                              a program with the filter compiled into
 *                                                          it, or the kernel's counting and filter
 *
 *   counting__begin()   opens and attaches everything; nothing counts yet
 *   counting__go()      everything counts
 *   counting__stop()    nothing does any more
 *   counting__read()    a cumulative snapshot
 *   counting__end()
 *
 * All say what is wrong (report/diag.h) and return 0 or a negative errno.
 */
#ifndef TALLY_COUNT_COUNTING_H
#define TALLY_COUNT_COUNTING_H

#include "agg/loss.h"
#include "agg/counts.h"
#include "event/attach.h"
#include "event/counter.h"
#include "host/topology.h"
#include "run/measurement.h"

/* What to count. The texts are those of -e, for messages. */
struct counting_plan {
	const struct event_sites *sites;
	const u32 *row;                 /* of each site: sites of one name share it */
	size_t nrows;
	const char *const *text;        /* of each event, the -e it came from */
	const struct events *events;
	char *const *filter;            /* of each site, in the kernel's words; NULL: none at all */
	const struct attach_code *compiled;   /* of each site, as a program; NULL: none at all */
	u32 by;                         /* enum task_key_part, ORed; 0: no key */
	bool per_cpu;                   /* places are CPUs, else everything is COUNT_EVERYWHERE */
};

struct counting {
	const struct counting_plan *plan;
	const struct measurement *m;
	struct topology topology;
	struct counters counters;
	struct attachments attachments;
	struct counting_bpf *bpf;       /* NULL: no program was needed */
	u32 *tids;                      /* the threads of -p */
	size_t ntids;
	u32 *charged;                   /* the sites that are charged at switches */
	size_t ncharged;
	bool charges;                   /* counters are charged at switches */
};

/*
 * Does perf_event_open(2) know the scope, threads or CPUs, and is there no key? Everything else is
 * tested by programs: at the event, or at context switches. So are threads on certain CPUs: a counter
 * of both is enabled and stands still while its thread runs elsewhere, which looks as if it had to take
 * turns with others.
 */
bool counting_is_native(const struct measurement *m, u32 by, bool per_cpu);

int counting__begin(struct counting *c, const struct measurement *m,
		    const struct counting_plan *plan);
int counting__go(struct counting *c);
void counting__stop(struct counting *c);

/*
 * A snapshot, and what is left of it in the kernel, which the next one begins from (elements__take()).
 * Both are the caller's to free. What was lost is all zero where no program runs.
 */
int counting__read(struct counting *c, struct counts *counts, struct counts *left,
		   struct loss_counters *losses);

/* How it is counted, for the report's header: "perf counters; raw tracepoint (2)". */
void counting__describe(const struct counting *c, char *text, size_t size);

/* Why a row cannot be counted: the errno of perf_event_open(2), 0 if it can; *site is its site. */
int counting__refused(const struct counting *c, u32 row, const struct event_site **site);

/*
 * For -n: decides how everything would be counted, and does nothing. Then how site i would be:
 * "kprobe.multi", "counter", ...
 */
int counting__explain(struct counting *c, const struct measurement *m,
		      const struct counting_plan *plan);
const char *counting__how(const struct counting *c, size_t site);

void counting__end(struct counting *c);

#endif /* TALLY_COUNT_COUNTING_H */
