/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run of several measurements, each given as the command line of its tool:
 *
 *   tally run 'runqlat --by cgroup' 'biolatency --by disk' -d 10
 *
 * What belongs to the run (interval, duration, output, the command) stands behind the lines and not in
 * them. Scope options of the run are every measurement's; a line may narrow them by one that the run
 * does not have. A measurement that this kernel cannot do is named, and the others go on.
 */
#ifndef TALLY_RUN_SEVERAL_H
#define TALLY_RUN_SEVERAL_H

#include "run/measurement.h"

/* Finds what is known by that name; NULL: nothing that measures. */
typedef const struct tool_spec *(*several_find)(const char *name);

/* The main() of such a tool. Returns the exit status. */
int several__main(several_find find, int argc, char **argv);

#endif /* TALLY_RUN_SEVERAL_H */
