/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stack that is large enough, whatever the limit on stacks is (ulimit -s, RLIMIT_STACK): the deepest calls take some
 * 40 KB, and a process that needs more than its limit is killed by SIGSEGV. Raising a hard limit needs
 * CAP_SYS_RESOURCE, and commands would inherit the new limit.
 */
#ifndef TALLY_BASE_ROOMY_STACK_H
#define TALLY_BASE_ROOMY_STACK_H

/*
 * Returns fn(argc, argv), called on a mapping if the limit is below its size of 1 MiB. Without memory for that, it is
 * called on the stack that there is.
 */
int roomy_stack__run(int (*fn)(int argc, char **argv), int argc, char **argv);

#endif /* TALLY_BASE_ROOMY_STACK_H */
