/* SPDX-License-Identifier: BSD-2-Clause */
/* All fields of a tracepoint, for streams whose probes name none. */
#ifndef TALLY_PROBE_EVERY_FIELD_H
#define TALLY_PROBE_EVERY_FIELD_H

#include "probe/spot.h"

/*
 * Returns the fields as if the probe had named them, in the order of the record. Numbers with symbolic names are shown
 * by name, and pointers to code as symbols. Leaves out fields that all records have (common_pid, ...), and fields that
 * cannot be shown. i: the index of a site at the end. Events other than tracepoints have no fields. Returns 0 or a
 * negative errno, after reporting the error. Free with probe_arguments__free().
 */
int every_field__of(struct probe_argument **argument, size_t *n, struct probe_plan *p, size_t i);

#endif /* TALLY_PROBE_EVERY_FIELD_H */
