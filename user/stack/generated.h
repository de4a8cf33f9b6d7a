/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports frames in generated code that no perf map names, and the option that makes the process's runtime write such a
 * map. The runtime is identified by the files that the process has mapped.
 *
 *   generated__add()     for each stack of a report that has such a frame
 *   generated__say()     "41.3 % in code that process 812 (Node.js) has generated, without names:
 *                         node --perf-basic-prof names it"
 */
#ifndef TALLY_STACK_GENERATED_H
#define TALLY_STACK_GENERATED_H

#include <stdio.h>

#include "base/types.h"
#include "sym/symbols.h"

/* Further processes only count in the sum. */
#define GENERATED_PROCESSES 64

/* All zero: none yet. */
struct generated {
	struct {
		u32 pid;
		u64 value;              /* of its stacks; saturates */
	} process[GENERATED_PROCESSES];
	size_t n;
	u64 value;                      /* of all processes; saturates */
};

void generated__add(struct generated *g, u32 pid, u64 value);

/* Writes a sentence about all processes, with advice for the one with the largest value. total: of the report. */
void generated__say(const struct generated *g, struct symbols *symbols, u64 total, FILE *f);

#endif /* TALLY_STACK_GENERATED_H */
