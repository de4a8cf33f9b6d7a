/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cgroups: from a path to what the kernel compares (hierarchy, id, level), and from an id back to
 * a name. The id of a cgroup is that of its directory (kernfs_node.id): st_ino on 64-bit kernels
 * since 5.5 (commit 40430452fd5d), in v1 and v2 alike.
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
 * Finds a cgroup by absolute path or by its name below the root of the default hierarchy
 * ("/system.slice", "system.slice"). Says what is wrong if it is none. Returns 0 or a negative
 * errno, then *ref is untouched.
 */
int cgroup__find(struct cgroup_ref *ref, const char *path);

/*
 * The hierarchy --by cgroup speaks of where no -G names one: that of the v1 cpu controller where
 * it is mounted (there the v2 hierarchy has no resources), v2 everywhere else.
 */
enum scope_hierarchy cgroup__default_hierarchy(void);

/* "v2", "v1 cpu", ... */
const char *cgroup_hierarchy_name(enum scope_hierarchy hierarchy);

/*
 * The path of a cgroup below the root of its hierarchy, "/" for the root, in new memory, not
 * escaped; NULL if it has been removed or may not be looked up.
 */
char *cgroup__path(enum scope_hierarchy hierarchy, u64 id);

#endif /* TALLY_HOST_CGROUP_H */
