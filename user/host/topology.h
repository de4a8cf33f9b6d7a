/* SPDX-License-Identifier: BSD-2-Clause */
/* Online CPUs with their cores and sockets (sysfs, cputopology.rst). */
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
	struct cpu_place *cpu;  /* online CPUs, by number */
	size_t n;
};

/* Returns 0 or a negative errno. Without data in sysfs, each CPU is a core of socket 0. */
int topology__read(struct topology *t);
void topology__free(struct topology *t);

/* Highest number of an online CPU plus one, or of a possible CPU if unknown. */
u32 topology__end(const struct host *host);

/* Returns the place of a CPU, or NULL if it is not online. */
const struct cpu_place *topology__place(const struct topology *t, int cpu);

#endif /* TALLY_HOST_TOPOLOGY_H */
