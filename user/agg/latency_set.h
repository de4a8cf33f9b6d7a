/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of the maps of schedlat's programs (bpf/lib/schedlat.h), by key, CPUs added up. Totals
 * are cumulative; an interval is the difference of two snapshots. The longest wait is that of the
 * requested interval.
 */
#ifndef TALLY_AGG_LATENCY_SET_H
#define TALLY_AGG_LATENCY_SET_H

#include "base/types.h"
#include "bpf/lib/schedlat.h"

struct latency {
	struct task_key key;
	u64 run_ns;
	u64 switches;
	u64 wait_ns;
	bool has_longest;
	u64 longest_ns;
	u64 longest_at_ns;              /* CLOCK_MONOTONIC */
	u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];   /* not escaped */
};

struct latency_set {
	struct latency *latency;
	size_t n;
};

/* Appends a copy. Returns 0 or -ENOMEM. */
int latency_set__add(struct latency_set *set, const struct latency *each);

/* Sorts by key and adds up equal keys; of equally long waits, the first is kept. */
void latency_set__settle(struct latency_set *set);

/* Changes keys (struct task_key) with change(), for reports that show less than was counted by, then settles. */
void latency_set__regroup(struct latency_set *set, void (*change)(void *context, void *key), void *context);

/*
 * Adds the elements of a map, read as by elements__take(), with the longest waits of interval and
 * of the next one, which has begun and whose waits are already in the totals. Returns 0 or a
 * negative errno.
 */
int latency_set__read(struct latency_set *set, int map_fd, u64 interval,
		      volatile u32 *generation, bool *anew);

/* Copies. Returns 0 or -ENOMEM. */
int latency_set__copy(struct latency_set *to, const struct latency_set *from);

/*
 * Adds the struct schedlat_running records of an iterator's descriptor. Returns 0 or a negative
 * errno.
 */
int latency_set__read_running(struct latency_set *set, int fd);

/*
 * *out = later - earlier, both settled, without keys that did not grow. Run times in later below
 * those in earlier (a slice ended during the read) are raised to them. Returns 0 or -ENOMEM.
 */
int latency_set__difference(struct latency_set *out, struct latency_set *later,
			    const struct latency_set *earlier);

void latency_set__free(struct latency_set *set);

#endif /* TALLY_AGG_LATENCY_SET_H */
