/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of each group (cli/options.h) and their parsers. Each group is a child of glibc's
 * argp whose input is the struct cli. Parsers report errors.
 */
#ifndef TALLY_CLI_OPTION_GROUPS_H
#define TALLY_CLI_OPTION_GROUPS_H

#include "cli/options.h"

/* Upper limit of -d and intervals: 366 days. */
#define LONGEST_NS (366 * 86400 * NSEC_PER_SEC)

/* Number of groups that have options. */
#define OPTION_GROUPS 17

/* Options of CLI_EVENTS. event/complete.c declares the values of -e. */
extern const struct argp_option event_options[];

/* Adds the groups of a tool to child, which must be all zeros. */
void option_groups__put(const struct cli_spec *spec, struct argp_child child[OPTION_GROUPS]);

#endif /* TALLY_CLI_OPTION_GROUPS_H */
