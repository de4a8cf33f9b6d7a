/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What has been counted, wherever it comes from (the kernel's counters, programs, counters
 * charged to tasks): a list of values, each of one event, in one place, for one key. Snapshots
 * are cumulative; an interval is the difference of two.
 */
#ifndef TALLY_COUNT_COUNTS_H
#define TALLY_COUNT_COUNTS_H

#include "base/types.h"
#include "bpf/lib/task_key.h"

#define COUNT_EVERYWHERE (-1)

struct count {
	struct task_key key;            /* zero without --by */
	int place;                      /* a CPU; a core or socket once folded; COUNT_EVERYWHERE */
	u32 row;                        /* which event: a row of the report */
	u64 value;
	u64 enabled_ns, running_ns;     /* counters: how long they were to count, and did */
	u64 name_stamp;                 /* when the name was taken, by some rising clock */
	char name[TASK_KEY_COMM_LEN];   /* of the task, for keys by pid or tid */
};

struct counts {
	struct count *count;
	size_t n;
};

/* Adds a copy. Returns 0 or -ENOMEM. */
int counts__add(struct counts *c, const struct count *each);

/* Sorts by key, place and row, and adds up those that agree in all three. */
void counts__settle(struct counts *c);

/* Takes earlier away from later, both settled, in place. What is not in earlier stays as it is. */
void counts__subtract(struct counts *later, const struct counts *earlier);

/*
 * Adds up places: each CPU becomes place[cpu] (n of them), or COUNT_EVERYWHERE where place is
 * NULL or does not reach. Settles.
 */
void counts__fold(struct counts *c, const int *place, size_t n);

/* A copy; -ENOMEM. */
int counts__copy(struct counts *to, const struct counts *from);
void counts__free(struct counts *c);

/*
 * The value of a counter that counted for part of the time only, scaled to all of it: value *
 * enabled / running, rounded. *running is the share of the time in percent (100 where there was
 * nothing to share). False: it counted less than 1 % of the time, which is too little to scale.
 */
bool count__scale(const struct count *each, u64 *value, double *running);

#endif /* TALLY_COUNT_COUNTS_H */
