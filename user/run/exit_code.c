// SPDX-License-Identifier: BSD-2-Clause
#include "run/exit_code.h"

#include <errno.h>

#include "run/run.h"

/* Returns the exit status of the run itself, regardless of its command. */
static int own_exit_code(const struct run *run, int err)
{
	/* The reader of the output has closed it: a normal end. */
	if (run->writer.failed == -EPIPE)
		err = 0;
	if (run->unwritten)
		return EXIT_FAILED;
	if (run->measuring && err && !run->usage)
		return EXIT_FAILED;
	switch (err) {
	case 0:
		return run->cli->strict && run->lost ? EXIT_LOST : EXIT_DONE;
	case -EINVAL:
		return EXIT_USAGE;
	case -EPERM:
	case -EOPNOTSUPP:
		return EXIT_UNABLE;
	default:
		return EXIT_FAILED;
	}
}

int run__exit_code(const struct run *run, int err)
{
	const struct command *c = &run->command;
	int code = own_exit_code(run, err);

	if (!run->cli->command || run->cli->explain || code == EXIT_USAGE)
		return code;
	if (c->exec_err)
		return c->exec_err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	if (code != EXIT_DONE && code != EXIT_LOST)
		return EXIT_TOOL_FAILED;
	if (run->command_status)
		return run->command_status;
	return code == EXIT_LOST ? EXIT_TOOL_FAILED : EXIT_DONE;
}
