/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --for-each-cgroup: a row for each of these cgroups, with the counts of all below it. Programs count by the task's own
 * cgroup; the counts of an interval are added up here, once for each cgroup of the list that is above it.
 */
#ifndef TALLY_STAT_EACH_CGROUP_H
#define TALLY_STAT_EACH_CGROUP_H

#include "agg/counts.h"
#include "host/cgroup_names.h"

/* Initialise to all zeros. */
struct each_cgroup {
	const char *typed;              /* names, separated by commas; NULL: not asked for */
	u64 *id;
	size_t n;
};

/*
 * Finds the cgroups, all in the hierarchy by which tasks are counted. Returns 0, or a negative errno after reporting
 * the error.
 */
int each_cgroup__find(struct each_cgroup *e, enum scope_hierarchy counted);

/*
 * Leaves out the counts of cgroups that are not in the list nor below one that is. *unknown is how many of those are of
 * cgroups that were removed before their path was known. Returns 0 or -ENOMEM.
 */
int each_cgroup__select(const struct each_cgroup *e, struct cgroup_names *names, struct counts *c, u64 *unknown);

/* Replaces the counts with those of the list: of each of nrows rows for each cgroup. Returns 0 or -ENOMEM. */
int each_cgroup__regroup(const struct each_cgroup *e, struct cgroup_names *names, struct counts *c, size_t nrows);
void each_cgroup__free(struct each_cgroup *e);

#endif /* TALLY_STAT_EACH_CGROUP_H */
