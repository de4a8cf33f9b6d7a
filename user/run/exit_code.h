/* SPDX-License-Identifier: BSD-2-Clause */
/* The exit status of every tool: EXIT STATUS of tally(1). */
#ifndef TALLY_RUN_EXIT_CODE_H
#define TALLY_RUN_EXIT_CODE_H

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_DIFFERENT = 1,     /* tally diff --test found a difference; its errors exit with EXIT_TOOL_FAILED */
	EXIT_USAGE = 2,
	EXIT_LOST = 3,          /* --strict, and something was lost */
	EXIT_UNABLE = 4,        /* not possible with this kernel or this user's rights */
	/*
	 * With a command, the status is the command's own unless the run was interrupted or ended before it. The
	 * following cover the other cases, as in env(1) and timeout(1).
	 */
	EXIT_TOOL_FAILED = 125, /* instead of 1, 3 and 4 */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/*
 * Returns the exit status for err, an error of any function of run/run.h or of libbpf. Must be called after
 * run__release().
 */
struct run;
int run__exit_code(const struct run *run, int err);

#endif /* TALLY_RUN_EXIT_CODE_H */
