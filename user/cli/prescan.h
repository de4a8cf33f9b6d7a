/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A first look at the command line, by the same rules as getopt_long(3), before argp parses it:
 * it finds the command behind "--" and names what is wrong better than getopt does.
 */
#ifndef TALLY_CLI_PRESCAN_H
#define TALLY_CLI_PRESCAN_H

#include <argp.h>

#include "base/types.h"

/*
 * Checks that every option in argv is one of argp's (children included) or --help, --usage or
 * --version, that none is ambiguous or lacks its value or has one too many, or two that cannot both hold. *end becomes the
 * index of "--", or argc. Returns 0, or -EINVAL after saying what is wrong.
 */
int cli_prescan(const struct argp *argp, int argc, char **argv, int *end);

#define TOOLS_WITH_OPTION 64

/*
 * Which tools have a long option called exactly so? Writes a few of their names into tools (NULL: none are
 * wanted). False: no tool has it. The program defines this, which knows its tools; without it options that
 * are unknown are so everywhere.
 */
__attribute__((weak)) bool tools_with_option(const char *name, size_t len,
					     char tools[TOOLS_WITH_OPTION]);

#endif /* TALLY_CLI_PRESCAN_H */
