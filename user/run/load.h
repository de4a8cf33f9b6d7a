/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_RUN_LOAD_H
#define TALLY_RUN_LOAD_H

#include <bpf/libbpf.h>

/*
 * Loads an opened skeleton. Returns -EMFILE, already reported, if the limit on open files is too low:
 * libbpf probes kernel features by opening files and would mistake that failure for a missing feature.
 */
int skeleton__load(struct bpf_object_skeleton *skeleton);

#endif /* TALLY_RUN_LOAD_H */
