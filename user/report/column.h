/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of a table as data. One list defines the name, meaning and unit of each column, and how to compute it from
 * the sums and maxima that programs keep by key (agg/sum_set.h). Cells, --sort, its help and its completion are
 * generated from the list; cells carry the meaning for readers of reports (enum field_role).
 *
 *	static const struct column columns[] = {
 *		COUNTER("requests", SUM(struct disk_sums, requests), FIELD_NUMBER),
 *		COUNTER("time", SUM(struct disk_sums, queue_ns) | SUM(struct disk_sums, device_ns), FIELD_TIME),
 *		MEAN("avg", "time", "requests", FIELD_TIME),
 *		{}
 *	};
 */
#ifndef TALLY_REPORT_COLUMN_H
#define TALLY_REPORT_COLUMN_H

#include <stddef.h>

#include "base/types.h"
#include "report/report.h"

/* A list ends with {}. */
struct column {
	const char *name;
	enum field_role role;
	enum field_kind kind;
	u8 decimals;
	bool machine, spare;    /* as in struct field */
	/*
	 * Sets of sums: bit i is sum i of an element. The cell is plus less minus, or 0 if minus is larger. If plus,
	 * slots, per_10k and "of" are all unset, the tool adds the cell itself.
	 */
	u64 plus, minus;
	u32 slots;              /* offset of a maximum's slots in an element's value, in u64s; 0 if not a maximum */
	u32 per_10k;            /* percentile, as for histogram__percentile(); 0 if not a percentile */
	bool timed;             /* slots are struct timed_maximum, and the cell is empty without a value */
	const char *of, *per;   /* as in struct field */
	u32 when;               /* only if the table has all of these traits; 0: always */
	u32 machine_when;       /* only in machine formats if the table has any of these traits */
	bool rare;              /* only in machine formats if it is 0 in all rows */
	const char *help;       /* help for sorting by it, or NULL */
};

/* The interval and the table that rows belong to. */
struct column_source {
	u64 interval;           /* number of the interval that ended, for maxima: sums may include the next one */
	u64 began_ns;           /* CLOCK_MONOTONIC; times of maxima are relative to it */
	u32 traits;             /* the tool's own bits, set by its options */
	const struct histogram *hist;   /* of the row, for percentiles; borrowed; NULL if they are unknown */
};

/* The bit of the sum stored in this member of an element's value. */
#define SUM(type, member) (1ULL << (offsetof(type, member) / sizeof(u64)))

/* ...: further members of struct column. */
#define COUNTER(title, sums, unit, ...)                                                                                \
	{ .name = title, .role = ROLE_COUNTER, .kind = unit, .plus = sums, ##__VA_ARGS__ }
/* A number of things that may last for several intervals: these have the largest. */
#define PRESENT(title, sums, unit, ...)                                                                                \
	{ .name = title, .role = ROLE_MAXIMUM, .kind = unit, .plus = sums, ##__VA_ARGS__ }
/* The maximum of the interval; member: of type struct interval_maximum[MAXIMUM_SLOTS]. */
#define MAXIMUM(title, type, member, unit, ...)                                                                        \
	{ .name = title, .role = ROLE_MAXIMUM, .kind = unit, .slots = offsetof(type, member) / sizeof(u64),            \
	  ##__VA_ARGS__ }
/* A maximum with its time; member: of type struct timed_maximum[MAXIMUM_SLOTS]. */
#define TIMED_MAXIMUM(title, type, member, unit, ...)                                                                  \
	MAXIMUM(title, type, member, unit, .timed = true, ##__VA_ARGS__)
/* part: per 10,000 */
#define PERCENTILE(title, part, unit, ...)                                                                             \
	{ .name = title, .role = ROLE_GAUGE, .kind = unit, .per_10k = part, ##__VA_ARGS__ }
/* The time of a maximum: as time of day, and in machine formats in ns since the measurement began. */
#define AT(title, maximum) { .name = title, .role = ROLE_AT, .of = maximum, .kind = FIELD_TIME }
#define AT_NS(title, maximum) { .name = title, .role = ROLE_AT, .of = maximum, .kind = FIELD_NUMBER, .machine = true }
/* The quotient of two columns, or of sums of columns: "hits+misses". */
#define MEAN(title, of_columns, per_columns, unit, ...)                                                                \
	{ .name = title, .role = ROLE_MEAN, .kind = unit, .of = of_columns, .per = per_columns, ##__VA_ARGS__ }
#define PERCENT(title, of_columns, per_columns, places, ...)                                                           \
	{ .name = title, .role = ROLE_PERCENT, .kind = FIELD_REAL, .decimals = places, .of = of_columns,               \
	  .per = per_columns, ##__VA_ARGS__ }
/* A cell that the tool adds itself: the column is only used for sorting. */
#define ADDED_BY_TOOL(title, its_role, ...) { .name = title, .role = its_role, ##__VA_ARGS__ }

/* Adds up the sums of an element that are set in which. */
u64 column_sum(const u64 *sums, u64 which);

/*
 * Adds a cell for each column that the tool does not add itself, and computes means and percentages. value: of an
 * element. Returns 0 or -ENOMEM.
 */
int report_row__add_columns(struct report_row *row, const struct column *columns, const u64 *value,
			    const struct column_source *source);

/* Omits rare columns that are 0 in all rows from text. Call it after all rows were added. */
void report__hide_rare(struct report *r, const struct column *columns);

#endif /* TALLY_REPORT_COLUMN_H */
