/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys as reports show them: with --by container and --by unit, all cgroups of one name share a row. Programs count by
 * cgroup, and differences of intervals are taken by cgroup. The result of an interval is converted here once, before
 * rows are made of it: the cgroup id in each key becomes the id of the first cgroup with the same name, and entries
 * whose keys have become equal are added up. Counts, sums and buckets are added, so totals do not change; the smallest
 * minimum and the largest maximum are kept.
 *
 *   key_view__hist_set() ...       for the sets of agg/
 *   key_view__change()             for one key, or as the callback of a set that regroups itself
 *
 * All of them leave other keys unchanged.
 */
#ifndef TALLY_CLI_KEY_VIEW_H
#define TALLY_CLI_KEY_VIEW_H

#include "agg/hist_set.h"
#include "agg/sum_set.h"
#include "cli/task_key.h"

struct key_view {
	u32 by;
	/* Names for making rows. If memory runs out, names->err is set and no row can be made. */
	struct task_key_names *names;
	size_t at;              /* offset of the struct task_key in a key */
};

/* Whether keys can become equal. */
bool key_view__merges(const struct key_view *view);

/* key: the key of an element, aligned to 8 bytes. */
void key_view__change(void *view, void *key);

/* Returns 0 or -ENOMEM. */
int key_view__hist_set(const struct key_view *view, struct hist_set *set);
void key_view__sum_set(const struct key_view *view, struct sum_set *set);

#endif /* TALLY_CLI_KEY_VIEW_H */
