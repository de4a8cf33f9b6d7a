/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks moved between CPUs, as bpf/sched/migrations.bpf.c counts them: a struct count for each way, whose
 * place is the CPU that the task left, and whose row is the one it went to. Snapshots are
 * cumulative (agg/counts.h). All return 0 or a negative errno, where nothing else is said.
 */
#ifndef TALLY_SCHED_MOVES_H
#define TALLY_SCHED_MOVES_H

#include "agg/counts.h"
#include "report/report.h"
#include "run/measurement.h"

/* A snapshot, settled; on errors it is empty. */
int moves__read(struct counts *counts, int map_fd, volatile u32 *generation, bool *anew);

/* All moves together. */
u64 moves__sum(const struct counts *c);

/* A row for each key and way, the most frequent first (sorts c), as many as --top says. */
int moves__table(struct report *r, const struct measurement *m, struct counts *c);

/* The columns of a matrix: the CPUs that were online at the start. */
struct move_columns {
	int *cpu;
	char (*title)[16];
	size_t n;
};

/* To be freed in any case. */
int moves__take_columns(struct move_columns *m);
void moves__free_columns(struct move_columns *m);

/* A row for each CPU that tasks left; c is settled, and has no keys. */
int moves__matrix(struct report *r, const struct move_columns *m, const struct counts *c);

#endif /* TALLY_SCHED_MOVES_H */
