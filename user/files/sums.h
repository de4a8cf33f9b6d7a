/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of what filetop's program has summed up (bpf/filetop.h), by key, the CPUs of each key
 * added up. They are cumulative; an interval is the difference of two.
 */
#ifndef TALLY_FILES_SUMS_H
#define TALLY_FILES_SUMS_H

#include "base/types.h"
#include "bpf/filetop.h"

struct file_sums {
	struct filetop_key key;         /* its CPU is 0 */
	struct filetop_sums sums;
};

/* Sorted by key. */
struct file_sums_set {
	struct file_sums *sums;
	size_t n;
};

/* Returns 0 or a negative errno. */
int file_sums__read(struct file_sums_set *set, int map_fd);

/* *out = later - earlier, without what has not grown. Returns 0 or -ENOMEM. */
int file_sums__difference(struct file_sums_set *out, const struct file_sums_set *later,
			  const struct file_sums_set *earlier);

/* Everything counted, what failed included. */
u64 file_sums__calls(const struct filetop_sums *s);
void file_sums__free(struct file_sums_set *set);

#endif /* TALLY_FILES_SUMS_H */
