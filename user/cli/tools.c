// SPDX-License-Identifier: BSD-2-Clause
#include "cli/tools.h"

#include "cli/complete.h"

struct cli_tools cli_tools;

void complete_tools(struct completion *c)
{
	if (cli_tools.complete)
		cli_tools.complete(c);
}
