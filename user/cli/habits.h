/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command lines as people type them for perf, bcc and strace, with only the tool's name exchanged, put
 * into tally's words before they are parsed:
 *
 *   profile -F 99 -ag sleep 10     profile -F 99 -a -- sleep 10
 *   biolatency -DF                 biolatency --by disk --by flags
 *   runqslower 5000                runqslower --min 5000us, which is said
 *
 * An option that the tool has itself always means what it means here; only a value that it cannot have
 * (`stat -d CMD`) tells that another one is meant. What cannot be had is refused in a line that says what to type instead.
 */
#ifndef TALLY_CLI_HABITS_H
#define TALLY_CLI_HABITS_H

#include <argp.h>

#include "cli/options.h"

/*
 * *translated becomes a new argv of *n words, one piece of memory for free(); the words of argv that are
 * kept are not copied. argv[0] is the tool's name. Returns 0, -ENOMEM, or -EINVAL after saying what is wrong.
 */
int habits__translate(const struct argp *argp, const struct cli_spec *spec, int argc, char **argv,
		      char ***translated, int *n);

/*
 * Another tool that does what this one is asked for, or NULL: `profile -e TRACEPOINT --filter EXPR` is
 * stackcount's.
 */
const char *habits__other_tool(const struct argp *argp, int argc, char **argv);

#endif /* TALLY_CLI_HABITS_H */
