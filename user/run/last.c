// SPDX-License-Identifier: BSD-2-Clause
#include "run/last.h"

#include <poll.h>

static bool command_has_ended(const struct measurement *m)
{
	struct pollfd p = { m->run->command.pidfd, POLLIN, 0 };

	return m->run->command.pid && poll(&p, 1, 0) > 0;
}

bool last_report__is_now(struct last_report *l, const struct measurement *m)
{
	const struct cli *cli = m->cli;

	l->reports++;
	return !cli->interval_ns || m->run->interrupted || (cli->count && l->reports == cli->count) ||
	       (cli->duration_ns && monotonic_ns() - l->began_ns >= cli->duration_ns) ||
	       command_has_ended(m);
}
