// SPDX-License-Identifier: BSD-2-Clause
/* offwaketime: blocked time by the stacks of both the blocked task and its waker (sched/blocked.h). */
#include "sched/blocked.h"
#include "tools.h"

static void init(void *own)
{
	blocked__init(own, BLOCKED_BY_BOTH);
}

static const struct tool_spec spec = {
	.name = "offwaketime",
	.cli = {
		.groups = BLOCKED_GROUPS,
		.usual_keys = STACKS_ON_DEMAND,
		.doc = "How long tasks were blocked, by their stacks and those of their wakers.\n"
		       STACK_FORMATS_DOC " --by also takes state.",
		.rows = blocked_rows,
		.own_keys = true,
		.keys = STACK_KEYS ", state",
	},
	.own_size = sizeof(struct blocked),
	BLOCKED_HOOKS,
	.init = init,
};

TOOL_MEASURING(offwaketime, spec, AREA_SCHEDULER,
	       "where tasks block and who wakes them: both stacks");
