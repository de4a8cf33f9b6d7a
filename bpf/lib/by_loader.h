/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The section of programs that are attached nowhere: the loader runs them (BPF_PROG_TEST_RUN, for raw tracepoints since
 * 5.10, commit 1b4d60ec162f). Not attached by measurement__attach_programs(), and not shown by -n.
 */
#ifndef TALLY_BY_LOADER_H
#define TALLY_BY_LOADER_H

#define BY_LOADER "raw_tp/by_loader"

#endif /* TALLY_BY_LOADER_H */
