/* SPDX-License-Identifier: BSD-2-Clause */
/* -n: says what a run would do, from the opened and configured object, and does nothing. */
#ifndef TALLY_RUN_EXPLAIN_H
#define TALLY_RUN_EXPLAIN_H

#include "run/measurement.h"

/*
 * Writes a table: the source, the scope, each program and what it would be attached to, each map
 * with the memory it would take at most. Returns 0 or a negative errno.
 */
int measurement__explain(struct measurement *m, const struct bpf_object *obj, const char *source);

/* The same, with what more() adds behind. */
int measurement__explain_with(struct measurement *m, const struct bpf_object *obj,
			      const char *source, int (*more)(void *arg, struct report *r),
			      void *arg);
/* Adds a row: "program", "on_switch at tp_btf/sched_switch". Returns 0 or -ENOMEM. */
int explain__add(struct report *r, const char *what, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The most bytes a map of an opened or loaded object takes in the kernel, about. */
u64 map_bytes_at_most(const struct bpf_map *map, int cpus_possible);

#endif /* TALLY_RUN_EXPLAIN_H */
