/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys as reports show them: with --by container and --by unit, all cgroups of the same name share a row. Programs
 * count by cgroup, and the differences of intervals are computed by cgroup. The result of an interval is converted
 * once, before it becomes rows: the cgroup id in each key is replaced by the id of the first cgroup with the same name,
 * and entries whose keys are now equal are merged. Counts, sums and buckets are added, so totals do not change. The
 * smallest minimum and the largest maximum are kept.
 *
 *   key_view__hist_set() ...       for the sets of agg/
 *   key_view__change()             for one key, or as the callback of a set that regroups itself
 *
 * Other keys are not changed.
 */
#ifndef TALLY_CLI_KEY_VIEW_H
#define TALLY_CLI_KEY_VIEW_H

#include "agg/hist_set.h"
#include "agg/sum_set.h"
#include "cli/task_key.h"

struct key_view {
	u32 by;
	/* Names for rows. If memory runs out, names->err is set and no more rows can be made. */
	struct task_key_names *names;
	size_t at;              /* offset of the struct task_key in a key */
};

/* Whether several keys can be converted to the same one. */
bool key_view__merges(const struct key_view *view);

/* Converts a key. key: of an element, aligned to 8 bytes. */
void key_view__change(void *view, void *key);

/* Returns 0 or -ENOMEM. */
int key_view__hist_set(const struct key_view *view, struct hist_set *set);
void key_view__sum_set(const struct key_view *view, struct sum_set *set);

#endif /* TALLY_CLI_KEY_VIEW_H */
