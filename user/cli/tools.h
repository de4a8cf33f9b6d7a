/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions that options and completion ask about the other tools. The program, which knows its tools, answers. */
#ifndef TALLY_CLI_TOOLS_H
#define TALLY_CLI_TOOLS_H

#include "base/types.h"

struct completion;

#define TOOLS_WITH_OPTION 64

/* Without answers (NULL) an unknown option is just unknown, and no tool completes a word. */
struct cli_tools {
	/* Whether any tool has this long option; writes a few of those tools' names into tools, unless NULL. */
	bool (*with_option)(const char *name, size_t len, char tools[TOOLS_WITH_OPTION]);
	void (*complete)(struct completion *c); /* adds the tools that measure */
	void (*complete_events)(struct completion *c);
};

/* Set once by main(), before options are parsed. */
extern struct cli_tools cli_tools;

#endif /* TALLY_CLI_TOOLS_H */
