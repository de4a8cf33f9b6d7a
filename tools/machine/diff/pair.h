/* SPDX-License-Identifier: BSD-2-Clause */
/* What both runs have under one key, found by it. */
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

struct pair {
	struct report_row key;
	bool has[SIDES];
	struct histogram hist[SIDES];   /* of groups */
	struct report_row row[SIDES];   /* of rows: their figures */
	u64 weight;                     /* pairs with the most are shown first */
	size_t order;                   /* in which they came */
};

struct pairs {
	struct pair *pair;
	size_t n;
	struct table table;
};

/*
 * The pair of a key, which is taken over; a new one if there is none, but then its key has to have
 * the names of the others'. NULL with *err set to -ENOMEM or -EINVAL.
 */
struct pair *pairs__find(struct pairs *p, struct report_row *key, int *err);

/* The heaviest first, equal ones in the order in which they came. Nothing is found from then on. */
void pairs__sort(struct pairs *p);
void pairs__free(struct pairs *p);

/* The same about two keys without labels. */
bool same_key(const struct report_row *a, const struct report_row *b);
u64 key_hash(const struct report_row *key);

/* --- rows of the comparison --- */

/* A row that begins with a copy of the pair's key. Returns 0 or -ENOMEM. */
int diff_row__begin(struct report_row *row, const struct report_row *key);

/* Adds numbers before and after (NULL: not there) and the change in percent. */
int diff_row__add(struct report_row *row, const struct field *before, const struct field *after);

#endif /* TALLY_DIFF_PAIR_H */
