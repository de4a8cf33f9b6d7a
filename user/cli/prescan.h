/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the command line according to the rules of getopt_long(3) before argp parses it: finds the
 * command after "--", and reports errors better than getopt.
 */
#ifndef TALLY_CLI_PRESCAN_H
#define TALLY_CLI_PRESCAN_H

#include <argp.h>

#include "base/types.h"

/*
 * Checks that every option in argv is one of argp's (including children) or --help, --usage or
 * --version, that none is ambiguous, lacks its value or has an unexpected one, and that no two
 * exclude each other. Sets *end to the index of "--", or to argc. Returns 0, or -EINVAL after
 * reporting the error.
 */
int cli_prescan(const struct argp *argp, int argc, char **argv, int *end);

#endif /* TALLY_CLI_PRESCAN_H */
