// SPDX-License-Identifier: BSD-2-Clause
/* wakeuptime: blocked time by the stack of the task that ended it (sched/blocked.h). */
#include "sched/blocked.h"
#include "tools.h"

static void init(void *own)
{
	blocked__init(own, BLOCKED_BY_WAKER);
}

static const struct tool_spec spec = {
	.name = "wakeuptime",
	.cli = {
		.groups = BLOCKED_GROUPS,
		.usual_keys = STACKS_ON_DEMAND,
		.doc = "How long tasks were blocked, by the stacks of their wakers.\n"
		       STACK_FORMATS_DOC " --by also takes state.",
		.rows = blocked_rows,
		.own_keys = true,
		.keys = STACK_KEYS ", state",
	},
	.own_size = sizeof(struct blocked),
	BLOCKED_HOOKS,
	.init = init,
};

TOOL_MEASURING(wakeuptime, spec, AREA_SCHEDULER,
	       "who wakes blocked tasks: their time by the waker's stack");
