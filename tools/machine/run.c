// SPDX-License-Identifier: BSD-2-Clause
/* run: several measurements at once. See run/several.h. */
#include <string.h>

#include "run/several.h"
#include "tools.h"

static int run(int argc, char **argv)
{
	return several__main(find_tool_spec, argc, argv);
}

TOOL(run, AREA_MACHINE, "several measurements at once, over the same time");
