/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of each group (cli/options.h): what they are called, and what is made of them. Each
 * group is a child of glibc's argp whose input is the struct cli. They say what is wrong.
 */
#ifndef TALLY_CLI_OPTION_GROUPS_H
#define TALLY_CLI_OPTION_GROUPS_H

#include "cli/options.h"

/* A day in a year's seconds is enough for any -d. */
#define LONGEST_NS (366 * 86400 * NSEC_PER_SEC)

/* Groups that have options. */
#define OPTION_GROUPS 11

/*
 * Puts those that are in groups (enum cli_groups, ORed) into child, which is all zeroes before.
 * keys_of_no_task: as in struct cli_spec.
 */
void option_groups__put(u32 groups, bool keys_of_no_task, struct argp_child child[OPTION_GROUPS]);

#endif /* TALLY_CLI_OPTION_GROUPS_H */
