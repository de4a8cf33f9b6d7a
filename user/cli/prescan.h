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
 * --version, that none is ambiguous or lacks its value or has one too many. *end becomes the
 * index of "--", or argc. Returns 0, or -EINVAL after saying what is wrong.
 */
int cli_prescan(const struct argp *argp, int argc, char **argv, int *end);

#endif /* TALLY_CLI_PRESCAN_H */
