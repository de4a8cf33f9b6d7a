/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks as a pprof profile: the message Profile of profile.proto (github.com/google/pprof). It contains
 *
 *   a sample      per stack: its values (report/stack_values.h), and its key as labels
 *   a location    per frame: its address, unless it differs between merged stacks, and its function, preceded by
 *                 the functions inlined there, innermost first
 *   a function    per name, as in folded stacks (report/tree.h): "do_wait_[k]", "[incomplete]",
 *                 "libz.so.1+0x1234"; system_name is the name without that suffix, empty if inlined
 *   a mapping     per module, without addresses: these differ between processes
 *   comments      the command line, the source of the numbers, and the losses
 *
 * All texts are escaped (report/escape.h).
 */
#ifndef TALLY_OUT_PPROF_H
#define TALLY_OUT_PPROF_H

#include "report/protobuf.h"
#include "report/report.h"

/* Encodes the message, uncompressed, into an empty one. Returns 0 or -ENOMEM. */
int pprof__encode(const struct report *r, struct protobuf *profile);

#endif /* TALLY_OUT_PPROF_H */
