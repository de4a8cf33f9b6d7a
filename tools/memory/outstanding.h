/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What has been allocated and not been freed (bpf/memory/outstanding.h), in groups: by a key of the tool's
 * and by stack. Of each group how many there are, their bytes, and the age of the oldest.
 *
 *   outstanding__begin()  before they are read
 *   outstanding__add()    each allocation that is there now
 *   outstanding__end()    when all have been read: stacks that no allocation has leave the kernel's maps
 *   outstanding__report_rows() or _stacks()    the next report begins with none
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
	/* The tool's to set. */
	size_t key_size;                /* of keys without padding */
	/* Appends the key's fields to a row. Returns 0 or -ENOMEM. */
	int (*add_key)(void *context, const void *key, const char *name, struct report_row *row);
	void *context;
	struct stacks *stacks;          /* begun; NULL: without stacks */
	u64 older_ns;                   /* leaves out those that are younger */
	bool by_count;                  /* stacks are of numbers, not of bytes */
	/* All zero at first. */
	struct outstanding_group *group;
	size_t ngroups;
	char *keys;
	struct table by_key_and_stack;
	struct outstanding_stack *stack;        /* each resolved once */
	size_t nstacks;
	struct table by_id;
	bool turns;                     /* stacks leave this time (stack/store.h) */
};

/* Returns 0 or -ENOMEM. */
int outstanding__begin(struct outstanding *o);
void outstanding__end(struct outstanding *o);

/* name: of the key's task, TASK_KEY_COMM_LEN bytes; kept with it. Returns 0 or a negative errno. */
int outstanding__add(struct outstanding *o, const void *key, const char *name,
		     const struct outstanding_item *item, u64 now_ns);

/*
 * Fills in what is measured, but for losses: rows, sorted by a cell of theirs (NULL: by key), or
 * stacks. No more than top (0: all). Returns 0 or a negative errno.
 */
int outstanding__report_rows(struct outstanding *o, struct report *r, const char *order,
			     size_t top);
int outstanding__report_stacks(struct outstanding *o, struct report *r, size_t top);
void outstanding__free(struct outstanding *o);

#endif /* TALLY_MEMORY_OUTSTANDING_H */
