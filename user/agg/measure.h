/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A measured value that ends in histograms: remembers the last snapshot and turns the next one
 * into a report of what came in between.
 */
#ifndef TALLY_AGG_MEASURE_H
#define TALLY_AGG_MEASURE_H

#include "agg/hist_set.h"
#include "agg/loss.h"
#include "cli/options.h"
#include "host/host.h"
#include "out/report.h"

struct measure {
	struct hist_maps maps;
	int losses_fd;
	const struct bpf_object *obj;
	enum scope_hierarchy hierarchy;         /* of cgroup keys */
	struct hist_set before;
	struct loss_counters losses_before;
};

/*
 * Sizes the hash of segments (struct hist_segment) of an opened object for max_keys keys on ncpus
 * CPUs, or to nothing when there are no keys. From 6.1 on elements are allocated as they are
 * needed (commit fba1a1c6c912 made that safe in tracing programs) and there is room for many
 * segments a key; before, the whole map is allocated at once. Returns 0 or a negative errno.
 */
int measure__prepare_map(struct bpf_map *map, const struct host *host, u32 max_keys, bool keyed);

/*
 * Fills events, counters and groups of the report with what came since the last call, or since
 * the programs were loaded, sorted and cut as cli says (by total, or by CPU where that is the only
 * key). The caller fills in value, unit and source. Returns 0 or a negative errno.
 */
int measure__report(struct measure *m, struct report *r, const struct cli *cli);

void measure__free(struct measure *m);

#endif /* TALLY_AGG_MEASURE_H */
