/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moves of tasks between CPUs, as bpf/sched/migrations.bpf.c counts them: a set of the sums of its map. Functions
 * return 0 or a negative errno, unless stated otherwise.
 */
#ifndef TALLY_SCHED_MOVES_H
#define TALLY_SCHED_MOVES_H

#include "agg/sum_set.h"
#include "report/report.h"
#include "run/measurement.h"

extern const struct sum_layout moves_layout;

/* The sum of all moves. */
u64 moves__sum(const struct sum_set *set);

/* Adds a row for each key and pair of CPUs, most frequent first, up to --top. Sorts the set. */
int moves__table(struct report *r, const struct measurement *m, struct sum_set *set);

/* The columns of a matrix: the CPUs that were online at the start. */
struct move_columns {
	int *cpu;
	char (*title)[16];
	size_t n;
};

/* The caller calls moves__free_columns() in either case. */
int moves__take_columns(struct move_columns *m);
void moves__free_columns(struct move_columns *m);

/* Adds a row for each CPU that tasks left. The set must have no keys of tasks, and is sorted. */
int moves__matrix(struct report *r, const struct move_columns *m, struct sum_set *set);

#endif /* TALLY_SCHED_MOVES_H */
