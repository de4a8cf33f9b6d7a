// SPDX-License-Identifier: BSD-2-Clause
/* wakeuptime: blocked time by the stack of the task that ended it (stack/blocked.h). */
#include "stack/blocked.h"
#include "stack/options.h"
#include "tools.h"

static int wakeuptime(int argc, char **argv)
{
	return blocked__main(BLOCKED_BY_WAKER, "wakeuptime",
			     "How long tasks were blocked, by the stack of whoever woke "
			     "them.\n" STACK_FORMATS_DOC " --by also takes state.",
			     argc, argv);
}

TOOL(wakeuptime, AREA_SCHEDULER, "who wakes blocked tasks: their time by the waker's stack");
