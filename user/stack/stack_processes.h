/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Per-process data needed for stacks: mappings, unwind tables, interpreters. It is read for existing processes when the
 * run begins, and for later ones when a record or a program reports them: stacks__watch().
 */
#ifndef TALLY_STACK_STACK_PROCESSES_H
#define TALLY_STACK_STACK_PROCESSES_H

#include "stack/stacks.h"

/*
 * Part of stacks__begin(): sets s->watch_fd, which becomes readable when stacks__watch() must be called. Returns 0 or a
 * negative errno.
 */
int stack_processes__begin(struct stacks *s, const struct measurement *m);

#endif /* TALLY_STACK_STACK_PROCESSES_H */
