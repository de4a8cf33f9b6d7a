/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --for-each-cgroup: a row for each listed cgroup, which includes the counts of its descendants. Programs count by the
 * task's own cgroup. This file adds the counts of an interval to each listed cgroup that is equal to the task's or an
 * ancestor of it.
 */
#ifndef TALLY_STAT_EACH_CGROUP_H
#define TALLY_STAT_EACH_CGROUP_H

#include "events/stat/counts.h"
#include "host/cgroup_names.h"

/* Initialise to all zeros. */
struct each_cgroup {
	const char *typed;              /* names, separated by commas, or NULL if the option is not given */
	u64 *id;
	size_t n;
};

/*
 * Finds the cgroups, which must all be in the hierarchy by which tasks are counted. Returns 0, or a negative errno
 * after reporting the error.
 */
int each_cgroup__find(struct each_cgroup *e, enum scope_hierarchy counted);

/*
 * Removes the counts of cgroups that are neither listed nor below a listed one. *unknown is the number of removed
 * counts whose cgroup was deleted before its path was known. Returns 0 or -ENOMEM.
 */
int each_cgroup__select(const struct each_cgroup *e, struct cgroup_names *names, struct counts *c, u64 *unknown);

/* Replaces the counts with one per listed cgroup for each of the nrows rows. Returns 0 or -ENOMEM. */
int each_cgroup__regroup(const struct each_cgroup *e, struct cgroup_names *names, struct counts *c, size_t nrows);
void each_cgroup__free(struct each_cgroup *e);

#endif /* TALLY_STAT_EACH_CGROUP_H */
