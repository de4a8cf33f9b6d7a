// SPDX-License-Identifier: BSD-2-Clause
/* offwaketime: blocked time by the stacks of both tasks, blocked and waker (stack/blocked.h). */
#include "stack/blocked.h"
#include "stack/options.h"
#include "tools.h"

static int offwaketime(int argc, char **argv)
{
	return blocked__main(BLOCKED_BY_BOTH, "offwaketime",
			     "How long tasks were blocked, by their stacks and those of whoever "
			     "woke them.\n" STACK_FORMATS_DOC " --by also takes state.",
			     argc, argv);
}

TOOL(offwaketime, AREA_SCHEDULER, "where tasks block and who wakes them: both stacks");
