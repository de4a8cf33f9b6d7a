// SPDX-License-Identifier: BSD-2-Clause
/* offcputime: blocked time by the stack of the task that blocked (sched/blocked.h). */
#include "sched/blocked.h"
#include "tools.h"

static void init(void *own)
{
	blocked__init(own, BLOCKED_BY_TASK);
}

static const struct tool_spec spec = {
	.name = "offcputime",
	.cli = {
		.groups = BLOCKED_GROUPS,
		.usual_keys = STACKS_ON_DEMAND,
		.doc = "How long tasks were off the CPU because they blocked, by their "
		       "stacks.\n" STACK_FORMATS_DOC " --by also takes state.",
		.rows = blocked_rows,
		.own_keys = true,
		.keys = STACK_KEYS ", state",
	},
	.own_size = sizeof(struct blocked),
	BLOCKED_HOOKS,
	.init = init,
};

TOOL_MEASURING(offcputime, spec, AREA_SCHEDULER, "where tasks block: time off the CPU by stack");
