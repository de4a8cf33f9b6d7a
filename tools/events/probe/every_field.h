/* SPDX-License-Identifier: BSD-2-Clause */
/* All fields of a tracepoint, for streams whose probes name none. */
#ifndef TALLY_PROBE_EVERY_FIELD_H
#define TALLY_PROBE_EVERY_FIELD_H

#include "events/probe/spot.h"

/*
 * Fields as if they were named, in the order of the record: numbers with names by these, pointers
 * to code as symbols. Left out: what every record has (common_pid, ...), and what cannot be shown.
 * i: of the sites at the end. None for other events. Returns 0 or a negative errno, after
 * reporting the error. Free with probe_arguments__free().
 */
int every_field__of(struct probe_argument **argument, size_t *n, struct probe_plan *p, size_t i);

#endif /* TALLY_PROBE_EVERY_FIELD_H */
