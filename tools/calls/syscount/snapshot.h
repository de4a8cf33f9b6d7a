/* SPDX-License-Identifier: BSD-2-Clause */
/* What syscount's programs have counted, from report to report. */
#ifndef TALLY_SYSCOUNT_SNAPSHOT_H
#define TALLY_SYSCOUNT_SNAPSHOT_H

#include <bpf/libbpf.h>

#include "agg/loss.h"
#include "calls/counts.h"

/* The last snapshot; zeroed at first. */
struct call_snapshot {
	struct counts counts;
	struct loss_counters losses;
};

/*
 * Adds to *set what was counted since the last call of this, and fills in what was filtered and
 * lost. counted: the array, or the hash, that is counted in. 0 or a negative errno.
 */
int call_snapshot__difference(struct call_snapshot *last, const struct bpf_object *obj,
			      const struct bpf_map *counted, struct calls *set,
			      struct loss_counters *losses);

/* Adds to *set the calls that go on now, as the programs' iterator says. 0 or a negative errno. */
int call_snapshot__add_running(struct calls *set, const struct bpf_link *show_running);

void call_snapshot__free(struct call_snapshot *last);

#endif /* TALLY_SYSCOUNT_SNAPSHOT_H */
