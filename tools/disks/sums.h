/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of what biotop's program keeps (bpf/disks/biotop.h), by key, the CPUs of each key added up,
 * sorted. Totals are cumulative; an interval is the difference of two snapshots. The slowest
 * request is that of the interval asked for.
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
 * *set = the elements of a map, which grows meanwhile, with the slowest requests of an interval and
 * of the next one, which has begun. Returns 0 or a negative errno, then *set is empty.
 */
int request_sums__read(struct request_sums_set *set, int map_fd, u64 interval,
		       volatile u32 *generation, bool *anew);

/* Takes off what earlier had, and those out that did not grow. */
void request_sums__subtract(struct request_sums_set *later, const struct request_sums_set *earlier);

/* Returns 0 or -ENOMEM, then *to is empty. */
int request_sums__copy(struct request_sums_set *to, const struct request_sums_set *from);
void request_sums__free(struct request_sums_set *set);

#endif /* TALLY_BLOCK_SUMS_H */
