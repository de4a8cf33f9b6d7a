/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the cgroups of a measurement: path, container, unit. A cgroup is looked up when a report first contains it,
 * and keeps its name for the rest of the run, even after it was removed (the kernel never reuses an id). If it was
 * removed before the lookup, all three names are "(removed, id N)".
 *
 * The name of the container or unit is "-" if the cgroup is not in one.
 */
#ifndef TALLY_HOST_CGROUP_NAMES_H
#define TALLY_HOST_CGROUP_NAMES_H

#include "base/table.h"
#include "base/types.h"
#include "host/container_name.h"

#include "bpf/lib/scope.h"

/* Texts are not escaped. */
struct cgroup_name {
	u64 id;
	bool is_removed;
	char *path;
	/*
	 * The runtime's name of the container, or the first digits of its id. Prefixed with USER/ for containers of a
	 * user, and with OUTER/, an id, for containers inside another container.
	 */
	char *container;
	char *container_id;     /* first digits of the id, or the name of an LXC container, machine or pod */
	bool has_several;       /* this report has containers with this name and different ids */
	char *unit;
};

/* Initialise to all zeros, except hierarchy. */
struct cgroup_names {
	enum scope_hierarchy hierarchy;
	struct container_files files;
	struct cgroup_name **name;
	size_t n;
	struct table by_id, by_text;
};

/* The names that two cgroups must share to be merged in a report. */
enum cgroup_names_part {
	CGROUP_CONTAINER = 1 << 0,
	CGROUP_UNIT = 1 << 1,
};

/* Returns NULL without memory. The result is valid until the next cgroup_names__begin(). */
const struct cgroup_name *cgroup_names__find(struct cgroup_names *names, u64 id);

/* Adds an unknown cgroup with its path, without a lookup. path: NULL if it was removed. Returns 0 or -ENOMEM. */
int cgroup_names__tell(struct cgroup_names *names, u64 id, const char *path);

/*
 * Sets *first to the first cgroup, among those requested in this report, that has the same container, unit, or both
 * (parts: enum cgroup_names_part, ORed; constant within a report). Returns 0 or -ENOMEM.
 */
int cgroup_names__first(struct cgroup_names *names, u64 id, u32 parts, u64 *first);

/* Begins a report. Known names are kept, up to a limit. */
void cgroup_names__begin(struct cgroup_names *names);

void cgroup_names__free(struct cgroup_names *names);

#endif /* TALLY_HOST_CGROUP_NAMES_H */
