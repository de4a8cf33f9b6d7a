/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of what schedlat's programs keep (bpf/lib/schedlat.h), by key, the CPUs of each key added
 * up. Totals are cumulative; an interval is the difference of two snapshots. The longest wait is
 * that of the interval asked for.
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

/* Adds a copy, behind the others. Returns 0 or -ENOMEM. */
int latency_set__add(struct latency_set *set, const struct latency *each);

/* Sorts by key and adds up those of one key; of longest waits the first is kept of equals. */
void latency_set__settle(struct latency_set *set);

/*
 * Adds the elements of a map, taken as by elements__take(), with the longest waits of an interval and
 * of the next one, which has begun and whose waits are in the totals. 0 or a negative errno.
 */
int latency_set__read(struct latency_set *set, int map_fd, u64 interval,
		      volatile u32 *generation, bool *anew);

/* A copy. Returns 0 or -ENOMEM. */
int latency_set__copy(struct latency_set *to, const struct latency_set *from);

/* Adds the struct schedlat_running that an iterator's descriptor gives. 0 or a negative errno. */
int latency_set__read_running(struct latency_set *set, int fd);

/*
 * *out = later - earlier, both settled, keys that did not grow left out. Run times of later that are
 * below those of earlier (a slice that ended while they were read) are brought up to them. 0 or -ENOMEM.
 */
int latency_set__difference(struct latency_set *out, struct latency_set *later,
			    const struct latency_set *earlier);

void latency_set__free(struct latency_set *set);

#endif /* TALLY_AGG_LATENCY_SET_H */
