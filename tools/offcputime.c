// SPDX-License-Identifier: BSD-2-Clause
/* offcputime: blocked time by the stack of the task that blocked (stack/blocked.h). */
#include "stack/blocked.h"
#include "stack/options.h"
#include "tools.h"

static int offcputime(int argc, char **argv)
{
	return blocked__main(BLOCKED_BY_TASK, "offcputime",
			     "How long tasks were off the CPU because they blocked, by their "
			     "stacks.\n" STACK_FORMATS_DOC " --by also takes state.",
			     argc, argv);
}

TOOL(offcputime, AREA_SCHEDULER, "where tasks block: time off the CPU by stack");
