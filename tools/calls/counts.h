/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls by key, from syscount's programs (bpf/calls/syscount.h): calls that returned in an interval, calls in
 * progress at its end, and the time spent in both.
 *
 * Keys contain an errno (0: success) only if errors are counted separately.
 */
#ifndef TALLY_COUNT_CALLS_H
#define TALLY_COUNT_CALLS_H

#include <bpf/libbpf.h>

#include "agg/hist_set.h"
#include "agg/sum_set.h"
#include "base/types.h"

#include "bpf/calls/syscount.h"

struct call {
	struct task_key task;
	u64 outcome;                    /* OUTCOME(): the call, and the errno if requested */
	u64 calls;                      /* calls that returned */
	u64 errors;                     /* failed calls among these */
	u64 running;                    /* calls in progress now */
	u64 longest_ns;                 /* how long the longest of these has run */
	u64 time_ns;                    /* time spent in this interval, set by calls__add_up() */
	struct histogram hist;          /* complete times of calls that returned */
	char name[TASK_KEY_COMM_LEN];   /* name of the task, for keys by pid or tid; not escaped */

	/* For calls in progress: their time so far, and their time at the last report. */
	u64 so_far_ns, before_ns;
	u64 ahead_ns;                   /* part of before_ns that was reported already, but is not yet in hist */
};

struct calls {
	struct call *call;
	size_t n;
	bool tell_errors;               /* errors are counted separately */
};

/* Elements of the hash: a struct syscount_key, or only its first part, and a struct syscount_count. */
extern const struct sum_layout calls_layout;

/* Reads the array (OUTCOME_INDEX()) as if it were the hash. Returns 0 or a negative errno; free *set in either case. */
int calls__read_array(struct sum_set *set, int map_fd);

/*
 * Adds counts, or times by either key of bpf/calls/syscount.h (the histograms move). Returns 0 or
 * -ENOMEM.
 */
int calls__add_counts(struct calls *set, const struct sum_set *counts);
int calls__add_times(struct calls *set, struct hist_set *times);

/*
 * Adds the struct syscount_running read from an iterator's descriptor. Returns 0 or a negative
 * errno.
 */
int calls__add_running(struct calls *set, int fd);

/*
 * Merges equal keys, sorts by key, and fills in time_ns: the time of calls that returned and of
 * those in progress, without the part covered by earlier reports. *before holds the state of the
 * last report. It is empty at first, and is replaced for the next report. A call that ends after
 * hist was read and before the iterator reaches it is counted in neither; the next report counts
 * it. Returns 0 or -ENOMEM.
 */
int calls__add_up(struct calls *set, struct calls *before);

/*
 * Changes the keys (struct task_key) of a set after calls__add_up(), for reports with coarser keys,
 * and merges keys that have become equal. Returns 0 or -ENOMEM.
 */
int calls__regroup(struct calls *set, void (*change)(void *context, void *key), void *context);

/* Multiplies the number of calls that returned by this factor, and rounds. */
void calls__scale(struct calls *set, double by);

void calls__free(struct calls *set);

#endif /* TALLY_COUNT_CALLS_H */
