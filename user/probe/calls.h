/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans for function calls whose programs only get their sites (probe_request.latency and bare). */
#ifndef TALLY_PROBE_CALLS_H
#define TALLY_PROBE_CALLS_H

#include "probe/plan.h"

/* Call after probe_plan__choose(). Adds the flags of bpf/lib/call_site.h to the slots, which are function numbers. */
void probe_calls__number(struct probe_plan *p);

/* Returns the number of calls that were missed because the program was already running. */
u64 probe_calls__misses(const struct probe_plan *p);

#endif /* TALLY_PROBE_CALLS_H */
