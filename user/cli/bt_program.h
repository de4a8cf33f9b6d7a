/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the tally command line that corresponds to a bpftrace one-liner. */
#ifndef TALLY_CLI_BT_PROGRAM_H
#define TALLY_CLI_BT_PROGRAM_H

#include <stdbool.h>

/*
 * program: the argument of bpftrace -e. Returns the words after "tally", allocated: the tool made for such programs, or
 * `probe` with the first event of the program. NULL if tally knows none of its events, or without memory. Sets
 * *drops_filter if the program has a filter that these words lack.
 */
char *bt_program__here(const char *program, bool *drops_filter);

#endif /* TALLY_CLI_BT_PROGRAM_H */
