/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations that have not been freed (bpf/memory/outstanding.h), grouped by a key of the tool and
 * by stack. Each group has a count, a sum of bytes, and the age of the oldest.
 *
 *   outstanding__begin()  to be called before the allocations are read
 *   outstanding__add()    adds a current allocation
 *   outstanding__end()    after the last allocation: removes unused stacks from the kernel's maps
 *   outstanding__report_rows() or _stacks()    also empties the groups, for the next report
 *   outstanding__free()
 */
#ifndef TALLY_MEMORY_OUTSTANDING_H
#define TALLY_MEMORY_OUTSTANDING_H

#include "run/run.h"
#include "stack/stacks.h"

#include "bpf/memory/outstanding.h"

struct outstanding_group;
struct outstanding_stack;

struct outstanding {
	/* Set by the tool. */
	size_t key_size;                /* the keys have no padding */
	/* Appends the key's fields to a row. Returns 0 or -ENOMEM. */
	int (*add_key)(void *context, const void *key, const char *name, struct report_row *row);
	void *context;
	struct stacks *stacks;          /* begun; NULL if there are no stacks */
	u64 older_ns;                   /* younger allocations are left out */
	bool by_count;                  /* report_stacks() shows counts instead of bytes */
	const char *nothing;            /* explains a report without allocations (report.nothing) */
	/* Initialise to all zeros. */
	struct outstanding_group *group;
	size_t ngroups;
	char *keys;
	struct table by_key_and_stack;
	struct outstanding_stack *stack;        /* each is resolved once */
	size_t nstacks;
	struct table by_id;
	u64 young;                      /* allocations left out as too young in this pass */
	char all_young[128];            /* explains that a report contains no others */
	bool turns;                     /* a turn removes unused stacks (see stack/store.h) */
};

/* Returns 0 or -ENOMEM. */
int outstanding__begin(struct outstanding *o);
void outstanding__end(struct outstanding *o);

/* name: name of the key's task, TASK_KEY_COMM_LEN bytes, copied. Returns 0 or a negative errno. */
int outstanding__add(struct outstanding *o, const void *key, const char *name,
		     const struct outstanding_item *item, u64 now_ns);

/*
 * Fills in everything in the report except losses: rows, sorted by a column (NULL: by key), or
 * stacks. top: maximum number; 0: all. Returns 0 or a negative errno.
 */
int outstanding__report_rows(struct outstanding *o, struct report *r, const char *order,
			     size_t top);
int outstanding__report_stacks(struct outstanding *o, struct report *r, size_t top);
void outstanding__free(struct outstanding *o);

#endif /* TALLY_MEMORY_OUTSTANDING_H */
