/* SPDX-License-Identifier: BSD-2-Clause */
/* Stalls for lack of memory: turns the maps of bpf/memory/reclaim.bpf.c into rows of a report. */
#ifndef TALLY_MEMORY_STALLS_H
#define TALLY_MEMORY_STALLS_H

#include <bpf/libbpf.h>

#include "agg/sum_set.h"
#include "run/measure.h"
#include "run/measurement.h"

#include "bpf/memory/reclaim.h"

struct stalls {
	struct measure measure; /* for the map "stalls" */
	int pages_fd;
	struct bpf_link *running;       /* of the iterator over current stalls, or NULL */
	struct sum_set pages_last;
};

/* "direct", "memcg", ... */
const char *reclaim_kind_name(u32 kind);

/* For spec.own_parts. */
extern const struct own_parts reclaim_own_parts;

/*
 * Fills in events, counters and rows with the change since the last call, and the current stalls.
 * order: a column, or NULL to sort by key. The caller fills in value and source. Returns 0 or a
 * negative errno.
 */
int stalls__report(struct stalls *s, const struct measurement *m, struct report *r,
		   const char *order);

void stalls__free(struct stalls *s);

#endif /* TALLY_MEMORY_STALLS_H */
