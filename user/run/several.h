/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run of several measurements, each given as the command line of its tool:
 *
 *   tally run 'runqlat --by cgroup' 'biolatency --by disk' -d 10
 *
 * Options of the run (interval, duration, output, the command) follow the lines and may not appear
 * in them. Scope options of the run apply to every measurement; a line may add scope options that
 * the run does not set. A measurement that this kernel does not support is reported and left out.
 */
#ifndef TALLY_RUN_SEVERAL_H
#define TALLY_RUN_SEVERAL_H

#include "run/measurement.h"

/* Finds a tool by name. NULL if no tool that measures has that name. */
typedef const struct tool_spec *(*several_find)(const char *name);

/*
 * A run with built-in lines, whose reports go to a sink. begin() is given the run before anything is
 * loaded and before the sink is set, so it can write to the run's writer. Without a sink (report is
 * NULL), reports are written according to the options.
 *
 * reload() supplies new lines on SIGHUP, at most RUN_MOST; it keeps their texts until its next call.
 * Unchanged lines keep their figures. If a line is invalid, the run continues unchanged; a line that
 * this kernel does not support is reported and left out.
 */
struct several_plan {
	const char *const *line;
	size_t n;                       /* at most RUN_MOST */
	size_t needed;                  /* at least one of the first needed lines must work; 0: one of all */
	struct writer_sink sink;
	int (*begin)(void *context, struct run *run);   /* 0, or a negative errno after reporting it; may be NULL */
	int (*reload)(void *context, const char **line, size_t *n);     /* like begin(); NULL: SIGHUP ends the run */
};

/* The lines on a command line: all words up to the first number, which is the interval. */
struct several_lines {
	const char *line[RUN_MOST];     /* not copied */
	size_t n;
	bool interval_begun;            /* the remaining words are interval and count */
	bool too_many;
};

/* Whether arg is a line (cli_spec.takes). Lines beyond RUN_MOST are accepted: several_lines__check() reports them. */
bool several_lines__take(struct several_lines *l, char *arg);

/* Returns 0, or -EINVAL after reporting that there are too many. */
int several_lines__check(const struct several_lines *l);

/* cli: the run's, parsed and checked; borrowed. Returns the exit status. */
int several__run(several_find find, const struct several_plan *plan, struct cli *cli);

/* main() of tally run. Returns the exit status. */
int several__main(several_find find, int argc, char **argv);

#endif /* TALLY_RUN_SEVERAL_H */
