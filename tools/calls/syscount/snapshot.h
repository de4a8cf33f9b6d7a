/* SPDX-License-Identifier: BSD-2-Clause */
/* Differences of the counts in syscount's programs between reports. */
#ifndef TALLY_SYSCOUNT_SNAPSHOT_H
#define TALLY_SYSCOUNT_SNAPSHOT_H

#include <bpf/libbpf.h>

#include "agg/loss.h"
#include "calls/counts.h"

/* The last snapshot; initialise to all zeros. */
struct call_snapshot {
	struct sum_set counts;
	struct loss_counters losses;
};

/*
 * Adds the counts since the last call to *set, and fills in filtered and lost events. counted: the
 * array or hash that contains the counts. Returns 0 or a negative errno.
 */
int call_snapshot__difference(struct call_snapshot *last, const struct bpf_object *obj, const struct bpf_map *counted,
			      struct calls *set, struct loss_counters *losses);

/* Adds the calls in progress, read from the iterator, to *set. Returns 0 or a negative errno. */
int call_snapshot__add_running(struct calls *set, const struct bpf_link *show_running);

void call_snapshot__free(struct call_snapshot *last);

#endif /* TALLY_SYSCOUNT_SNAPSHOT_H */
