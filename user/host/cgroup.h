/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cgroups: converts a path to the values that programs compare (hierarchy, id, level), and an id to a path. The id of a
 * cgroup is that of its directory (kernfs_node.id): st_ino on 64-bit kernels since 5.5 (commit 40430452fd5d), in v1 and
 * v2.
 */
#ifndef TALLY_HOST_CGROUP_H
#define TALLY_HOST_CGROUP_H

#include "base/types.h"

#include "bpf/lib/scope.h"

struct cgroup_ref {
	enum scope_hierarchy hierarchy;
	u64 id;
	u32 level;              /* 0 is the root of the hierarchy */
};

/*
 * Finds a cgroup by absolute path, or by its name below the root of the default hierarchy ("/system.slice",
 * "system.slice"). A name that does not exist there is looked up in the other hierarchies, v2 first; a warning then
 * states where it was found. Reports errors as errors of option. Returns 0, or a negative errno with *ref untouched.
 */
int cgroup__find(struct cgroup_ref *ref, const char *option, const char *path);

/*
 * Returns the hierarchy of --by cgroup without -G: that of the v1 cpu controller if it is mounted (v2
 * has no resource control then), otherwise v2.
 */
enum scope_hierarchy cgroup__default_hierarchy(void);

/* "v2", "v1 cpu", ... */
const char *cgroup_hierarchy_name(enum scope_hierarchy hierarchy);

/*
 * Returns the path of a cgroup below the root of its hierarchy, "/" for the root; allocated, not escaped. NULL if the
 * cgroup was removed, or if we are not permitted to look it up.
 */
char *cgroup__path(enum scope_hierarchy hierarchy, u64 id);

/*
 * Calls visit with the name ("/a/b") of each cgroup that begins with the text begins, with or without the leading "/":
 * first the cgroups of the default hierarchy, then the v2 cgroups that do not exist there. Returns 0, a negative errno,
 * or the first nonzero value that visit returns, which ends the visit.
 */
int cgroups__visit(const char *begins, int (*visit)(void *context, const char *name), void *context);

/* Returns the mount point of the hierarchy, allocated, or NULL if it is not mounted. */
char *cgroup__mount(enum scope_hierarchy hierarchy);

#endif /* TALLY_HOST_CGROUP_H */
