/* SPDX-License-Identifier: BSD-2-Clause */
/* CPUs: which are online, and which core and socket each belongs to (sysfs, cputopology.rst). */
#ifndef TALLY_HOST_TOPOLOGY_H
#define TALLY_HOST_TOPOLOGY_H

#include "base/types.h"
#include "host/host.h"

struct cpu_place {
	int cpu;
	int core;               /* topology/core_id, unique within its socket */
	int socket;             /* topology/physical_package_id */
};

struct topology {
	struct cpu_place *cpu;  /* the online ones, by number */
	size_t n;
};

/* Returns 0 or a negative errno. Where sysfs does not tell, each CPU is a core of socket 0. */
int topology__read(struct topology *t);
void topology__free(struct topology *t);

/* One more than the highest number of a CPU that is online, or where that is not known, possible. */
u32 topology__end(const struct host *host);

/* The place of a CPU, or NULL if it is not online. */
const struct cpu_place *topology__place(const struct topology *t, int cpu);

#endif /* TALLY_HOST_TOPOLOGY_H */
