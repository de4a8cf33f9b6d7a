/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts from any source (kernel counters, programs, counters charged to tasks): a list of values,
 * each for one event, place and key. Snapshots are cumulative; an interval is the difference of
 * two.
 */
#ifndef TALLY_STAT_COUNTS_H
#define TALLY_STAT_COUNTS_H

#include "base/types.h"
#include "bpf/lib/task_key.h"

#define COUNT_EVERYWHERE (-1)

struct count {
	struct task_key key;            /* zero without --by */
	int place;                      /* a CPU; after folding a core or socket; COUNT_EVERYWHERE */
	u32 row;                        /* index of the event: a row of the report */
	u64 value;
	u64 enabled_ns, running_ns;     /* counters: time enabled, and time actually counting */
	u64 name_stamp;                 /* when the name was recorded, by some increasing clock */
	char name[TASK_KEY_COMM_LEN];   /* of the task, for keys by pid or tid */
};

struct counts {
	struct count *count;
	size_t n;
};

/* Adds a copy. Returns 0 or -ENOMEM. */
int counts__add(struct counts *c, const struct count *each);

/* Sorts by key, place and row, and adds up entries equal in all three. */
void counts__settle(struct counts *c);

/*
 * Subtracts earlier from later in place; both settled. Entries missing in earlier stay unchanged.
 */
void counts__subtract(struct counts *later, const struct counts *earlier);

/*
 * Changes keys (struct task_key) with change(), for reports that show fewer parts than were counted by, then settles.
 */
void counts__regroup(struct counts *c, void (*change)(void *context, void *key), void *context);

/*
 * Adds up places: CPU cpu becomes place[cpu], or COUNT_EVERYWHERE if place is NULL or cpu >= n.
 * Settles.
 */
void counts__fold(struct counts *c, const int *place, size_t n);

/* Copies. Returns 0 or -ENOMEM. */
int counts__copy(struct counts *to, const struct counts *from);
void counts__free(struct counts *c);

/*
 * Scales a counter that counted only part of the time: value * enabled / running, rounded. *running
 * is the share of the time in percent (100 if it counted all the time). Returns false if it counted
 * less than 1 % of the time, too little to scale.
 */
bool count__scale(const struct count *each, u64 *value, double *running);

#endif /* TALLY_STAT_COUNTS_H */
