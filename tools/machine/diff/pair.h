/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs of the values that two runs have for the same key, found by this key. */
#ifndef TALLY_DIFF_PAIR_H
#define TALLY_DIFF_PAIR_H

#include "agg/histogram.h"
#include "machine/diff/diff.h"
#include "base/table.h"

enum side {
	BEFORE,
	AFTER,
	SIDES,
};

/* The part of a key in one interval of a run. */
struct pair_part {
	size_t interval;        /* index of the report in the run */
	struct histogram hist;
	struct report_row row;
};

struct pair {
	struct report_row key;
	bool has[SIDES];
	struct histogram hist[SIDES];   /* for groups */
	struct report_row row[SIDES];   /* for rows: their figures */
	struct pair_part *part[SIDES];  /* for --test: the parts of the above; intervals without the key have none */
	size_t nparts[SIDES];
	u64 weight;                     /* heaviest pairs are shown first */
	size_t order;                   /* order of appearance */
};

struct pairs {
	struct pair *pair;
	size_t n;
	bool apart;                     /* parts are wanted */
	struct table table;
};

/*
 * Finds the pair of a key, or adds a new one. Takes ownership of the key. A new key must have the
 * same names as the others. Returns NULL with *err set to -ENOMEM or -EINVAL.
 */
struct pair *pairs__find(struct pairs *p, struct report_row *key, int *err);

/* Returns the part of an interval, which is the last part or a new one, or NULL without memory. */
struct pair_part *pair__part(struct pair *p, enum side side, size_t interval);

/* Sorts pairs by descending weight, and by appearance if weights are equal. pairs__find() cannot be used afterwards. */
void pairs__sort(struct pairs *p);
void pairs__free(struct pairs *p);

/* Add the contents of a run, report by report. The functions report errors, and return 0, -EINVAL or -ENOMEM. */
int pairs__add_groups(struct pairs *p, enum side side, const struct saved *run);
int pairs__add_rows(struct pairs *p, enum side side, const struct saved *run);

/* The unit of a run's histograms. */
enum unit saved__unit(const struct saved *run);

/* Equality and hash of keys, ignoring labels. */
bool same_key(const struct report_row *a, const struct report_row *b);
u64 key_hash(const struct report_row *key);

/* --- rows of the comparison --- */

/* Begins a row with a copy of the pair's key. Returns 0 or -ENOMEM. */
int diff_row__begin(struct report_row *row, const struct report_row *key);

/* Adds the numbers before and after (NULL if missing), and the change in percent. */
int diff_row__add(struct report_row *row, const struct field *before, const struct field *after);

/*
 * The columns of a comparison without rows: the first pair's key, if there is a pair, and the figures. has_unit: adds a
 * column "unit". Returns 0 or -ENOMEM.
 */
int diff_row__columns(struct report *r, const struct pairs *p, bool has_unit);

#endif /* TALLY_DIFF_PAIR_H */
