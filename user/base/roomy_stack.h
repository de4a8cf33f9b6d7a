/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs code on a stack that is large enough even if the stack limit is small (ulimit -s, RLIMIT_STACK): the deepest
 * calls take some 40 KB, and a process that exceeds its limit is killed by SIGSEGV. Raising a hard limit would need
 * CAP_SYS_RESOURCE, and commands would inherit the new limit.
 */
#ifndef TALLY_BASE_ROOMY_STACK_H
#define TALLY_BASE_ROOMY_STACK_H

/*
 * Calls fn(argc, argv) and returns its result. If the stack limit is below 1 MiB, fn runs on a mapping of that size, or
 * on the existing stack if there is no memory for the mapping.
 */
int roomy_stack__run(int (*fn)(int argc, char **argv), int argc, char **argv);

#endif /* TALLY_BASE_ROOMY_STACK_H */
