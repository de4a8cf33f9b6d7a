/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates command lines of perf, bcc and strace in which only the tool's name was replaced into tally's options,
 * before they are parsed:
 *
 *   profile -F 99 -ag sleep 10     profile -F 99 -a -- sleep 10
 *   biolatency -DF                 biolatency --by disk --by flags
 *   runqslower 5000                runqslower --min 5000us, with a message
 *
 * An option that the tool itself has keeps its meaning, unless its value is only valid for the foreign option
 * (`stat -d CMD`). If the option means something else in the other tool, the user is warned. Options that tally does
 * not have are rejected, with a hint about the alternative.
 */
#ifndef TALLY_CLI_HABITS_H
#define TALLY_CLI_HABITS_H

#include <argp.h>

#include "cli/options.h"

/*
 * Makes *translated a new argv of *n words, in one allocation, which the caller frees with free().
 * Words of argv are not copied. argv[0] is the tool's name. Returns 0, -ENOMEM, or -EINVAL after
 * reporting the error.
 */
int habits__translate(const struct argp *argp, const struct cli_spec *spec, int argc, char **argv,
		      char ***translated, int *n);

/*
 * Returns another tool that does what was requested from this one, or NULL: `profile -e TRACEPOINT --filter EXPR` is
 * done by stackcount.
 */
const char *habits__other_tool(const struct argp *argp, int argc, char **argv);

/*
 * Returns the arguments of tally list that correspond to -l or --list of this tool, or NULL: bcc's syscount lists
 * system calls, perf probe lists the probes that it created. argv[0] is the tool's name.
 */
const char *habits__listing(int argc, char **argv);

#endif /* TALLY_CLI_HABITS_H */
