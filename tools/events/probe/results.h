/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the maps of bpf/events/probe.bpf.c to reports: what was counted, summed up or distributed since the
 * last report, by key and event.
 *
 *   results__begin()    on the loaded object, before the gate is opened
 *   results__report()   from report()
 *   results__free()
 *
 * All return 0 or a negative errno.
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

/* Columns of sums, in the order in which they are shown. */
enum results_figure {
	RESULT_COUNT = 1 << 0,
	RESULT_SUM = 1 << 1,
	RESULT_AVG = 1 << 2,
	RESULT_MIN = 1 << 3,
	RESULT_MAX = 1 << 4,
};

/* One of --with: two columns of sums, of all calls and of each on average. */
struct results_counter {
	const char *name;
	char each[96];                  /* "NAME/call" */
	bool is_time;                   /* in ns */
};

/* What was measured; all of it is borrowed, and stays as it is while results are read. */
struct results_plan {
	enum probe_what what;
	bool keyed;
	struct layout layout;           /* of the key, where there is one */
	const char *const *event;       /* names, by number */
	u32 nevents;
	u64 bias;                       /* as the programs have it */
	bool is_signed;                 /* sums are of values with a sign */
	bool is_time;                   /* they are in ns */
	u32 figures;                    /* PROBE_SUM: enum results_figure, ORed */
	struct results_counter counter[PROBE_COUNTERS];
	size_t ncounters;
	const s64 *bound;               /* PROBE_BOUNDS */
	size_t nbounds;
	enum scope_hierarchy hierarchy; /* of cgroup ids */
	const struct attachments *attachments[2];       /* whose misses are losses; NULL: none */
};

struct results {
	const struct results_plan *plan;
	const struct bpf_object *obj;
	int losses_fd;
	struct sum_maps sum_maps;
	struct hist_maps hist_maps;
	struct probe_sums sums_before;             /* the last snapshots */
	struct hist_set hists_before;
	u64 left;               /* calls that will not end, found out by the caller */
	struct loss_counters losses_before;
	struct layout_names names;
};

int results__begin(struct results *r, const struct results_plan *plan,
		   const struct bpf_object *obj);

/*
 * Fills in events, losses, and groups (PROBE_HIST, PROBE_BOUNDS) or the rows of a table, sorted and
 * cut as the options say: groups as cli->sort does (sum), rows by the column named sort, NULL for
 * the first figure but count that is asked for, else count. The caller fills in value, unit,
 * source. Of a stream there are the losses alone: what was shown is for the caller to add to
 * events.
 */
int results__report(struct results *r, const struct cli *cli, const char *sort,
		    struct report *report);

/* What rows can be sorted by: the name of a figure, or of a field of the key. */
bool results__has_column(const struct results_plan *plan, const char *name);

void results__free(struct results *r);

#endif /* TALLY_PROBE_RESULTS_H */
