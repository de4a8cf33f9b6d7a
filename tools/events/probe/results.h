/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns the maps of bpf/events/probe.bpf.c into reports: counts, sums or distributions since the
 * last report, by key and event.
 *
 *   results__begin()    on the loaded object, before the gate is opened
 *   results__report()   from report()
 *   results__free()
 *
 * Functions return 0 or a negative errno.
 */
#ifndef TALLY_PROBE_RESULTS_H
#define TALLY_PROBE_RESULTS_H

#include <bpf/libbpf.h>

#include "agg/hist_set.h"
#include "agg/loss.h"
#include "cli/options.h"
#include "event/attach.h"
#include "report/report.h"
#include "jit/layout.h"
#include "events/probe/sums.h"

#include "bpf/lib/probe.h"

/* Columns of sums, in display order. */
enum results_figure {
	RESULT_COUNT = 1 << 0,
	RESULT_SUM = 1 << 1,
	RESULT_AVG = 1 << 2,
	RESULT_MIN = 1 << 3,
	RESULT_MAX = 1 << 4,
};

/* A counter of --with: two columns of sums, the total and the average per call. */
struct results_counter {
	const char *name;
	char each[96];                  /* "NAME/call" */
	bool is_time;                   /* in ns */
};

/* The measurement; borrowed, and constant while results are read. */
struct results_plan {
	enum probe_what what;
	bool keyed;
	struct layout layout;           /* of the key, if there are keys */
	const char *const *event;       /* names, by number */
	u32 nevents;
	u64 bias;                       /* as in the programs */
	bool is_signed;                 /* the summed values are signed */
	bool is_time;                   /* values are in ns */
	u32 figures;                    /* PROBE_SUM: enum results_figure, ORed */
	struct results_counter counter[PROBE_COUNTERS];
	size_t ncounters;
	const s64 *bound;               /* for PROBE_BOUNDS */
	size_t nbounds;
	enum scope_hierarchy hierarchy; /* hierarchy of cgroup ids */
	struct cgroup_names *cgroups;
	const struct attachments *attachments[2];       /* missed events count as losses; may be NULL */
};

struct results {
	const struct results_plan *plan;
	const struct bpf_object *obj;
	int losses_fd;
	struct sum_maps sum_maps;
	struct hist_maps hist_maps;
	struct probe_sums sums_before;             /* the last snapshots */
	struct hist_set hists_before;
	u64 left;               /* calls that will never end, as found by the caller */
	struct loss_counters losses_before;
	struct layout_names names;
	int err;                /* -ENOMEM if keys of this report could not be named */
};

int results__begin(struct results *r, const struct results_plan *plan,
		   const struct bpf_object *obj);

/*
 * Fills in events, losses, and groups (PROBE_HIST, PROBE_BOUNDS), in any order, or else the rows of
 * a table, which the options sort and limit. The table is sorted by the column `sort`; NULL stands
 * for the first requested figure other than count, else for count. The caller fills in value, unit,
 * source. For a stream, only losses are filled in, and the caller adds the number of events shown.
 */
int results__report(struct results *r, const struct cli *cli, const char *sort,
		    struct report *report);

/* Whether rows can be sorted by this name, which is that of a figure or a key field. */
bool results__has_column(const struct results_plan *plan, const char *name);

void results__free(struct results *r);

#endif /* TALLY_PROBE_RESULTS_H */
