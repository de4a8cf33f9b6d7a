/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans of calls of functions whose programs only get their sites (probe_request.latency and bare). */
#ifndef TALLY_PROBE_CALLS_H
#define TALLY_PROBE_CALLS_H

#include "probe/plan.h"

/* After probe_plan__choose(): adds the flags of bpf/lib/call_site.h to the slots, which are numbers of functions. */
void probe_calls__number(struct probe_plan *p);

/* Calls that no program saw, since it was already running. */
u64 probe_calls__misses(const struct probe_plan *p);

#endif /* TALLY_PROBE_CALLS_H */
