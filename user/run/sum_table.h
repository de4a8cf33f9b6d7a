/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of tools whose programs add up sums by key: elements of the map "sums" (agg/sum_set.h) become rows of a
 * report. The tool declares its columns (report/column.h, cli_spec.columns) and adds the keys of a row; intervals
 * (their number is the variable "interval" of an object with maxima), losses (map "losses"), order and the number of
 * rows shown in text are handled here.
 */
#ifndef TALLY_RUN_SUM_TABLE_H
#define TALLY_RUN_SUM_TABLE_H

#include "agg/loss.h"
#include "agg/sum_set.h"
#include "base/types.h"
#include "cli/options.h"
#include "cli/task_key.h"
#include "report/column.h"
#include "report/report.h"
#include "run/ring.h"

struct measurement;

#define SUM_NO_TASK SIZE_MAX

/* A report in progress, for the hooks below. */
struct sum_table_report {
	void *own;                      /* m->own */
	const struct cli *cli;
	struct task_key_names names;    /* for task_key__add_fields() */
	struct column_source source;    /* interval: 0 without maxima */
};

/*
 * A tool's definition of its table. An element is its key followed by its value, as in a sum_set.
 */
struct sum_table_spec {
	struct sum_layout layout;
	size_t task_at;                 /* offset of the struct task_key in a key; SUM_NO_TASK: keys have none */
	bool total;                     /* text has a row of the sum of all, and shows all rows unless --top is given */
	bool of_cpus;                   /* each CPU has elements of its own: this_writer() of bpf/lib/writer.bpf.h */

	u64 events;                     /* SUM()s of an element that count its events */

	/* Adds the key cells of a row. NULL: those of the struct task_key. Returns 0 or -ENOMEM. */
	int (*add_key)(struct sum_table_report *t, struct report_row *row, const void *element);

	/* May be NULL: adds cells after those of the columns. Returns 0 or -ENOMEM. */
	int (*add_more)(struct sum_table_report *t, struct report_row *row, const void *element);

	/*
	 * Reads the change since the last call, where it is not that of the map "sums", and its losses. NULL: it is.
	 * Returns 0 or a negative errno; *set is freed in either case.
	 */
	int (*read)(struct measurement *m, struct sum_set *set, struct loss_counters *losses);

	/*
	 * May be NULL: changes the elements of the interval before rows are made of them. Makes keys coarser, or adds
	 * elements without events (sum_set__insert()), for keys that have figures from elsewhere. Returns 0 or -ENOMEM.
	 */
	int (*adjust)(void *own, struct sum_set *set);
};

/* Initialise to all zeros. */
struct sum_table {
	struct sum_set before;
	struct loss_counters losses_before;
	struct bpf_link *running;       /* set by the tool: as in struct sum_source; or NULL */
	u64 began_ns;                   /* set by the tool, for columns of times: CLOCK_MONOTONIC */
	u32 traits;                     /* set by the tool, for columns that depend on its options */
};

/* Sizes the map by --max-keys, before it is loaded. A tool without open() need not call it. Returns 0 or an errno. */
int sum_table__prepare(const struct measurement *m);

/*
 * Fills the rows of r with the change since the last call, by m->spec->table and m->table. names: the ring of records
 * that programs send after they create an element, drained before rows are made; may be NULL. Returns 0 or a negative
 * errno.
 */
int sum_table__report(struct measurement *m, struct ring *names, struct report *r);
void sum_table__free(struct sum_table *t);

#endif /* TALLY_RUN_SUM_TABLE_H */
