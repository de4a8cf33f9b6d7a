// SPDX-License-Identifier: BSD-2-Clause
#include "base/child_signal.h"

#include <signal.h>

static bool was_ignored;

void child_signal__take(void)
{
	was_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
}

void child_signal__give_back(void)
{
	if (was_ignored)
		signal(SIGCHLD, SIG_IGN);
}
