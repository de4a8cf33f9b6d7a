/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls by key, as syscount's programs give them (bpf/calls/syscount.h): those that returned in an
 * interval, those that go on at its end, and the time spent in both.
 *
 * A key here has no errno unless errors are told apart: then each has its own key, 0 for none.
 */
#ifndef TALLY_COUNT_CALLS_H
#define TALLY_COUNT_CALLS_H

#include <bpf/libbpf.h>

#include "agg/hist_set.h"
#include "base/types.h"
#include "agg/counts.h"

#include "bpf/calls/syscount.h"

struct call {
	struct task_key task;
	u64 outcome;                    /* OUTCOME(): the call and, where asked for, the errno */
	u64 calls;                      /* that returned */
	u64 errors;                     /* of those */
	u64 running;                    /* that go on now */
	u64 longest_ns;                 /* how long the longest of them has been */
	u64 time_ns;                    /* spent in this interval, calls__add_up() */
	struct histogram hist;          /* of those that returned: their whole times */
	char name[TASK_KEY_COMM_LEN];   /* of the task, for keys by pid or tid; not escaped */

	/* Of calls that went on: what they have taken so far, and took until the last report. */
	u64 so_far_ns, before_ns;
	u64 ahead_ns;                   /* of before_ns: reported already, not yet in hist */
};

struct calls {
	struct call *call;
	size_t n;
	bool tell_errors;               /* errors are told apart */
};

/*
 * Cumulative counts of the array (OUTCOME_INDEX()) or the hash (struct syscount_key); row is the
 * OUTCOME(). To be settled. 0 or a negative errno.
 */
int calls__read_array(struct counts *c, int map_fd);
int calls__read_keyed(struct counts *c, const struct bpf_map *map, volatile u32 *generation,
		      bool *anew);

/*
 * Adds what was counted, or timed by either key of bpf/calls/syscount.h (the histograms move). 0 or
 * -ENOMEM.
 */
int calls__add_counts(struct calls *set, const struct counts *counts);
int calls__add_times(struct calls *set, struct hist_set *times);

/* Adds the struct syscount_running that an iterator's descriptor gives. 0 or a negative errno. */
int calls__add_running(struct calls *set, int fd);

/*
 * Adds up what is of one key, sorts by key, and makes time_ns: the times of calls that returned
 * and of those that go on, without what of them was in earlier reports. *before is what this needs
 * of them, empty at first; it becomes that of the next report. A call that ends after hist was read
 * and before the iterator gets to it is in neither: it is in the next report. 0 or -ENOMEM.
 */
int calls__add_up(struct calls *set, struct calls *before);

void calls__free(struct calls *set);

#endif /* TALLY_COUNT_CALLS_H */
