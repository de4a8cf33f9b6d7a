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

/*
 * A run whose lines are not typed but known, and whose reports go to a sink. begin() tells it of the run, before
 * anything is loaded; its writer is what it writes to, with the sink taken away meanwhile.
 */
struct several_plan {
	const char *const *line;
	size_t n;                       /* at most RUN_MOST */
	struct writer_sink sink;
	int (*begin)(void *context, struct run *run);   /* 0, or a negative errno after saying why it cannot be */
};

/* cli: of the run, parsed and checked; the caller's. Returns the exit status. */
int several__run(several_find find, const struct several_plan *plan, struct cli *cli);

/* The main() of such a tool. Returns the exit status. */
int several__main(several_find find, int argc, char **argv);

#endif /* TALLY_RUN_SEVERAL_H */
