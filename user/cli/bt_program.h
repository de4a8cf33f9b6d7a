/* SPDX-License-Identifier: BSD-2-Clause */
/* Which line of tally answers a one-liner of bpftrace. */
#ifndef TALLY_CLI_BT_PROGRAM_H
#define TALLY_CLI_BT_PROGRAM_H

#include <stdbool.h>

/*
 * program: the text behind bpftrace -e. Returns the words behind "tally", allocated: those of the tool that is made for
 * such programs, or `probe` with the first event of the program. NULL: no event of it is known here, or no memory.
 * *drops_filter: the program has a filter that these words lack.
 */
char *bt_program__here(const char *program, bool *drops_filter);

#endif /* TALLY_CLI_BT_PROGRAM_H */
