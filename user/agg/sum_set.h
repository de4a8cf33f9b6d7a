/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of a BPF hash whose elements are plain sums, by key, sorted by the bytes of the key.
 * What the kernel keeps once for each CPU is added up. Sums are cumulative; an interval is the
 * difference of two snapshots. What has been read for good leaves the kernel (elements__take()).
 *
 * An element of the map is a key of any bytes without padding, and a value of
 *
 *   u64 sum[nsums];
 *   u64 name_stamp;        these two only if named; of the elements of a key the newest name stays
 *   char name[SUM_NAME_LEN];
 *
 * In a snapshot it is the key, then the value at the next multiple of 8: a struct of the two types
 * that tool and program share.
 */
#ifndef TALLY_AGG_SUM_SET_H
#define TALLY_AGG_SUM_SET_H

#include "agg/elements.h"
#include "base/types.h"

#define SUM_NAME_LEN 16         /* TASK_KEY_COMM_LEN */
#define SUM_NO_WRITER SIZE_MAX

struct sum_layout {
	size_t key_size, value_size;    /* of the map */
	size_t writer_at;       /* in the key: the u32 of bpf/lib/writer.h, zeroed here; SUM_NO_WRITER: none */
	u32 nsums;
	bool named;
};

/* All zero: an empty one. The layout is the caller's and outlives the set. */
struct sum_set {
	const struct sum_layout *layout;
	size_t n;
	char *element;
};

/* Reads a map. Returns 0 or a negative errno, then *set is empty. */
int sum_set__read(struct sum_set *set, const struct sum_layout *layout, int map_fd);

/* The same of elements that have been read. Returns 0 or -ENOMEM, then *set is empty. */
int sum_set__make(struct sum_set *set, const struct sum_layout *layout, const struct elements *e);

/*
 * *out = later - earlier, keys none of whose sums grew left out. Both must be sets of one layout;
 * earlier may be an empty one. Returns 0 or -ENOMEM, then *out is empty.
 */
int sum_set__difference(struct sum_set *out, const struct sum_set *later,
			const struct sum_set *earlier);

/*
 * What a report is made of: *out is what came since the last call, *last what there was then
 * (zeroed at first) and becomes what there is now. generation: elements__generation(), or NULL where
 * elements are to stay, or the layout has no writer. Returns 0 or a negative errno; then *out is empty
 * and *last as it was.
 */
int sum_set__since(struct sum_set *out, struct sum_set *last, const struct sum_layout *layout,
		   int map_fd, volatile u32 *generation);

/*
 * Changes the keys, where people are shown less than the kernel told apart, and adds up those that
 * have become one.
 */
void sum_set__regroup(struct sum_set *set, void (*change)(void *context, void *key), void *context);

/* Element i, i < n: its key, with what follows. It lives as long as the set. */
const void *sum_set__at(const struct sum_set *set, size_t i);
void sum_set__free(struct sum_set *set);

#endif /* TALLY_AGG_SUM_SET_H */
