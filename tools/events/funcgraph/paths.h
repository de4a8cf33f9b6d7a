/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of bpf/events/funcgraph.bpf.c as a tree: call paths that begin at functions without a
 * traced caller and go down to their callees. Times are in ns, for one interval.
 */
#ifndef TALLY_FUNCGRAPH_PATHS_H
#define TALLY_FUNCGRAPH_PATHS_H

#include "base/types.h"
#include "bpf/events/funcgraph.h"
#include "report/report.h"

#define PATH_NONE SIZE_MAX

struct path {
	u64 id, caller_id;      /* 0: no caller */
	u32 function;
	struct funcgraph_sums sums;
	/* Set by paths__read(): */
	size_t caller;          /* index, or PATH_NONE */
	u32 depth;              /* 0: outermost */
	u64 inclusive;          /* for sorting: its own time, or the sum of its callees' times if that is larger */
	bool is_seen;           /* this path or one of its callees was called in the interval */
};

/* Initialise to all zeros. */
struct paths {
	struct path *path;      /* sorted by id */
	size_t n;
	size_t *walk;           /* paths seen in the interval: callers before callees, longest first */
	size_t nwalk, walk_room;
};

/* Removes the sums of an interval from the map. Returns 0 or a negative errno. */
int paths__read(struct paths *p, int map_fd, volatile u32 *generation);

/*
 * Keeps the `most` paths with the longest times (0: all), and their callers. Returns the number of
 * paths left out.
 */
size_t paths__keep(struct paths *p, size_t most);

/*
 * Fills in the functions from the outermost one to that of path i. Returns their number, at most
 * FUNCGRAPH_DEPTH.
 */
u32 paths__functions(const struct paths *p, size_t i, u32 function[FUNCGRAPH_DEPTH]);

u64 paths__calls(const struct paths *p);
void paths__free(struct paths *p);

#endif /* TALLY_FUNCGRAPH_PATHS_H */
