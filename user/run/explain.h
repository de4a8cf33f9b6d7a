/* SPDX-License-Identifier: BSD-2-Clause */
/* -n: describes what a run would do, from the opened and configured object, without running it. */
#ifndef TALLY_RUN_EXPLAIN_H
#define TALLY_RUN_EXPLAIN_H

#include "run/measurement.h"

/*
 * Writes a table: the source, the scope, each program with its attach point, each map with its
 * maximum memory. obj is NULL if nothing is loaded. Returns 0 or a negative errno.
 */
int measurement__explain(struct measurement *m, const struct bpf_object *obj, const char *source);

/* Like measurement__explain(), followed by the rows that more() adds. */
int measurement__explain_with(struct measurement *m, const struct bpf_object *obj, const char *source,
			      int (*more)(void *arg, struct report *r), void *arg);
/* Adds a row: "program", "on_switch at tp_btf/sched_switch". Returns 0 or -ENOMEM. */
int explain__add(struct report *r, const char *what, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* A more() for a struct probe_plan: adds its sites and how each is attached. */
int explain__add_sites(void *plan, struct report *r);

/* Upper estimate, in bytes, of the kernel memory of a map. Its object must be opened or loaded. */
u64 map_bytes_at_most(const struct bpf_map *map, int cpus_possible);

#endif /* TALLY_RUN_EXPLAIN_H */
