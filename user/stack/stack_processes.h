/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Knowledge of processes whose stacks are taken: mappings, tables for walking, interpreters. It is read when the run
 * begins for running processes, and for others when a record or a program reports them: stacks__watch().
 */
#ifndef TALLY_STACK_STACK_PROCESSES_H
#define TALLY_STACK_STACK_PROCESSES_H

#include "stack/stacks.h"

/* Part of stacks__begin(): sets s->watch_fd, which is readable when there is news. Returns 0 or a negative errno. */
int stack_processes__begin(struct stacks *s, const struct measurement *m);

#endif /* TALLY_STACK_STACK_PROCESSES_H */
