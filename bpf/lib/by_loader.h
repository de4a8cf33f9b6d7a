/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The section of programs that are not attached to a hook: the loader runs them (BPF_PROG_TEST_RUN, for raw tracepoints
 * since 5.10, commit 1b4d60ec162f). measurement__attach_programs() skips them, and -n does not list them.
 */
#ifndef TALLY_BY_LOADER_H
#define TALLY_BY_LOADER_H

#define BY_LOADER "raw_tp/by_loader"

#endif /* TALLY_BY_LOADER_H */
