/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries about the other tools, for options and completion. Set by the main program, which knows all tools. */
#ifndef TALLY_CLI_TOOLS_H
#define TALLY_CLI_TOOLS_H

#include "base/types.h"

struct completion;

#define TOOLS_WITH_OPTION 64

/* Members may be NULL: then errors for unknown options name no other tools, and completion offers no tools. */
struct cli_tools {
	/* Whether any tool has this long option. Writes the names of a few such tools into tools, unless it is NULL. */
	bool (*with_option)(const char *name, size_t len, char tools[TOOLS_WITH_OPTION]);
	void (*complete)(struct completion *c); /* adds the tools that measure */
	void (*complete_events)(struct completion *c);
};

/* Set once by main(), before options are parsed. */
extern struct cli_tools cli_tools;

#endif /* TALLY_CLI_TOOLS_H */
