/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks as pprof reads them: the message Profile of profile.proto (github.com/google/pprof). It has
 *
 *   a sample      of each stack: its values (report/stack_values.h), and its key as labels
 *   a location    of each place: its address, where it is one and the same in all that was merged, and its
 *                 function, before which stand those inlined there, innermost first
 *   a function    of each name, as folded stacks have it (report/tree.h): "do_wait_[k]", "[incomplete]",
 *                 "libz.so.1+0x1234"; its system_name is without that mark. Inlined ones have none.
 *   a mapping     of each module, without addresses: a module is mapped elsewhere in each process
 *   comments      the command line, where the numbers come from, and what was lost
 *
 * All texts are escaped (report/escape.h).
 */
#ifndef TALLY_OUT_PPROF_H
#define TALLY_OUT_PPROF_H

#include "report/protobuf.h"
#include "report/report.h"

/* Adds the fields of the message, not compressed, to an empty one. Returns 0 or -ENOMEM. */
int pprof__encode(const struct report *r, struct protobuf *profile);

#endif /* TALLY_OUT_PPROF_H */
