/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of the groups that tools share (cli/options.h), as rows that set a struct cli. */
#ifndef TALLY_CLI_OPTION_GROUPS_H
#define TALLY_CLI_OPTION_GROUPS_H

#include "cli/options.h"

/* Upper limit of -d and intervals: 366 days. */
#define LONGEST_NS (366 * 86400 * NSEC_PER_SEC)

/*
 * Fills in the rows of a tool's groups, except those that own replaces. cli: the struct that they set, or NULL.
 */
void option_groups__fill(struct option_rows *rows, const struct cli_spec *spec, const struct option_rows *own,
			 struct cli *cli);

#endif /* TALLY_CLI_OPTION_GROUPS_H */
