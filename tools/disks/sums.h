/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of biotop's map (bpf/disks/biotop.h) by key, summed over the CPUs of each key, sorted.
 * Totals are cumulative; an interval is the difference of two snapshots. The slowest request is
 * that of the given interval.
 */
#ifndef TALLY_BLOCK_SUMS_H
#define TALLY_BLOCK_SUMS_H

#include "base/types.h"

#include "bpf/disks/biotop.h"

struct request_sums {
	struct biotop_key key;          /* without its CPU */
	u64 requests;
	u64 bytes;
	u64 queue_ns;
	u64 device_ns;
	u64 errors;
	u64 requeues;
	u64 slowest_ns;
	u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];   /* not escaped */
};

struct request_sums_set {
	struct request_sums *sums;
	size_t n;
};

/*
 * Reads the elements of a map, which may grow meanwhile, with the slowest requests of an interval
 * and of the next one, which has begun. Returns 0, or a negative errno with *set empty.
 */
int request_sums__read(struct request_sums_set *set, int map_fd, u64 interval,
		       volatile u32 *generation, bool *anew);

/* Subtracts earlier, and removes elements that did not grow. */
void request_sums__subtract(struct request_sums_set *later, const struct request_sums_set *earlier);

/*
 * Changes keys with change(), for reports with coarser keys, and merges keys that have become
 * equal.
 */
void request_sums__regroup(struct request_sums_set *set, void (*change)(void *context, void *key), void *context);

/* Returns 0, or -ENOMEM with *to empty. */
int request_sums__copy(struct request_sums_set *to, const struct request_sums_set *from);
void request_sums__free(struct request_sums_set *set);

#endif /* TALLY_BLOCK_SUMS_H */
