/* SPDX-License-Identifier: BSD-2-Clause */
/* What was allocated and freed, summed up by key (bpf/memory/kmem.h), as a table. */
#ifndef TALLY_MEMORY_KMEM_SUMS_H
#define TALLY_MEMORY_KMEM_SUMS_H

#include "agg/sum_set.h"
#include "memory/kmem_keys.h"
#include "report/report.h"

struct kmem_table {
	struct kmem_keys *keys;
	bool pages;                     /* of which nothing can be wasted */
	bool follow;                    /* frees are those of the row's objects */
	struct sum_set before;          /* of the last report; zeroed at first */
};

/*
 * Adds a row for each key that had something since the last call, and what they have in events.
 * order: the name of a cell; NULL: by key. top: no more than so many; 0: all. Returns 0 or a
 * negative errno.
 */
int kmem_table__report(struct kmem_table *t, int sums_fd, volatile u32 *generation,
		       struct report *r, const char *order, size_t top);
void kmem_table__free(struct kmem_table *t);

#endif /* TALLY_MEMORY_KMEM_SUMS_H */
