/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moves of tasks between CPUs, as bpf/sched/migrations.bpf.c counts them: a struct count for each
 * pair of CPUs, with the source CPU as its place and the target CPU as its row. Snapshots are
 * cumulative (agg/counts.h). Functions return 0 or a negative errno, unless stated otherwise.
 */
#ifndef TALLY_SCHED_MOVES_H
#define TALLY_SCHED_MOVES_H

#include "agg/counts.h"
#include "report/report.h"
#include "run/measurement.h"

/* Reads a settled snapshot, which is empty after an error. */
int moves__read(struct counts *counts, int map_fd, volatile u32 *generation, bool *anew);

/* The sum of all moves. */
u64 moves__sum(const struct counts *c);

/* Adds a row for each key and pair of CPUs, most frequent first, up to --top. Sorts c. */
int moves__table(struct report *r, const struct measurement *m, struct counts *c);

/* The columns of a matrix: the CPUs that were online at the start. */
struct move_columns {
	int *cpu;
	char (*title)[16];
	size_t n;
};

/* The caller calls moves__free_columns() in either case. */
int moves__take_columns(struct move_columns *m);
void moves__free_columns(struct move_columns *m);

/* Adds a row for each CPU that tasks left. c must be settled, and have no keys. */
int moves__matrix(struct report *r, const struct move_columns *m, const struct counts *c);

#endif /* TALLY_SCHED_MOVES_H */
