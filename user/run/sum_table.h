/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of tools whose programs add up sums by key: elements of the map "sums" (agg/sum_set.h) become rows of a
 * report. The tool declares its columns (report/column.h, cli_spec.columns) and adds the keys of a row. This code
 * handles intervals (numbered by the variable "interval" if the object has maxima), losses (map "losses"), order and
 * the number of rows shown in text.
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

/* A report being built, for the hooks below. */
struct sum_table_report {
	void *own;                      /* m->own */
	const struct cli *cli;
	struct task_key_names names;    /* for task_key__add_fields() */
	struct column_source source;    /* its interval is 0 without maxima */
};

/*
 * A tool's definition of its table. An element is a key followed by its value, as in a sum_set.
 */
struct sum_table_spec {
	struct sum_layout layout;
	size_t task_at;                 /* offset of the struct task_key in a key; SUM_NO_TASK if keys have none */
	bool total;                     /* text has a row with the total, and shows all rows unless --top is given */
	bool of_cpus;                   /* each CPU has its own elements: this_writer() of bpf/lib/writer.bpf.h */

	u64 events;                     /* SUM()s of an element that count its events */

	/* Adds the key cells of a row. NULL: those of the struct task_key. Returns 0 or -ENOMEM. */
	int (*add_key)(struct sum_table_report *t, struct report_row *row, const void *element);

	/* Adds cells after those of the columns. Returns 0 or -ENOMEM. May be NULL. */
	int (*add_more)(struct sum_table_report *t, struct report_row *row, const void *element);

	/*
	 * Reads the change since the last call, and its losses. NULL: they are read from the maps "sums" and "losses".
	 * Returns 0 or a negative errno; the caller frees *set in either case.
	 */
	int (*read)(struct measurement *m, struct sum_set *set, struct loss_counters *losses);

	/*
	 * Changes the elements of the interval before they become rows: makes keys coarser, or adds elements without
	 * events (sum_set__insert()) for keys whose figures come from another source. Returns 0 or -ENOMEM. May be
	 * NULL.
	 */
	int (*adjust)(void *own, struct sum_set *set);
};

/* Initialise to all zeros. */
struct sum_table {
	struct sum_set before;
	struct loss_counters losses_before;
	struct bpf_link *running;       /* set by the tool: as in struct sum_source, or NULL */
	u64 began_ns;                   /* set by the tool, for columns of times: CLOCK_MONOTONIC */
	u32 traits;                     /* set by the tool, for columns that depend on its options */
};

/* Sizes the map for --max-keys, before load. Tools without open() need not call it. Returns 0 or a negative errno. */
int sum_table__prepare(const struct measurement *m);

/*
 * Fills the rows of r with the change since the last call, according to m->spec->table and m->table. names: the ring of
 * records that programs send after they create an element, drained before rows are made; may be NULL. Returns 0 or a
 * negative errno.
 */
int sum_table__report(struct measurement *m, struct ring *names, struct report *r);
void sum_table__free(struct sum_table *t);

#endif /* TALLY_RUN_SUM_TABLE_H */
