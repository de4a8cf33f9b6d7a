/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocations and frees, summed by key (bpf/memory/kmem.h), as a table. */
#ifndef TALLY_MEMORY_KMEM_SUMS_H
#define TALLY_MEMORY_KMEM_SUMS_H

#include "agg/sum_set.h"
#include "memory/kmem_keys.h"
#include "report/report.h"

struct kmem_table {
	struct kmem_keys *keys;
	bool pages;                     /* sums are of pages, where nothing is wasted */
	bool follow;                    /* frees are those of the row's objects */
	struct sum_set before;          /* as of the last report; must be zeroed at first */
};

/*
 * Adds a row for each key with events since the last call, and counts these in events. order: the
 * column to sort by; NULL: by key. top: maximum number of rows; 0: all. Returns 0 or a negative
 * errno.
 */
int kmem_table__report(struct kmem_table *t, int sums_fd, volatile u32 *generation,
		       struct report *r, const char *order, size_t top);
void kmem_table__free(struct kmem_table *t);

#endif /* TALLY_MEMORY_KMEM_SUMS_H */
