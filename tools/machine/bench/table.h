/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of `tally bench`: a row without the tracer, one with it, and their comparison. */
#ifndef TALLY_BENCH_TABLE_H
#define TALLY_BENCH_TABLE_H

#include "machine/bench/load.h"
#include "machine/bench/round.h"
#include "report/report.h"

/* Rounds in one state. */
struct rounds {
	struct round *round;
	size_t n;
};

struct bench_table {
	char *value, *source, *caveat;  /* texts that the report points to */
};

/*
 * Fills in value, source, caveat and rows. with: NULL if there is no tracer. The texts belong to t;
 * bench_table__free() frees them. Returns 0 or -ENOMEM.
 */
int bench_table__fill(struct bench_table *t, struct report *r, const struct load *load,
		      const struct load_options *o, const struct rounds *without,
		      const struct rounds *with);
void bench_table__free(struct bench_table *t);

/* Lists the loads. Returns 0 or -ENOMEM. */
int bench_table__list(struct report *r);

#endif /* TALLY_BENCH_TABLE_H */
