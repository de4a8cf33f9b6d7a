/* SPDX-License-Identifier: BSD-2-Clause */
/* Which functions samples were taken in, and where in them. */
#ifndef TALLY_ANNOTATE_FUNCTIONS_H
#define TALLY_ANNOTATE_FUNCTIONS_H

#include "stack/stacks.h"
#include "sym/symbols.h"

struct sampled_place {
	u64 offset;             /* from the start of the function */
	u64 count;
};

struct sampled_function {
	struct symbol symbol;   /* of one of its samples; the name is not NULL */
	u32 pid;                /* a process that runs it; 0: the kernel */
	u64 runtime;            /* its address there */
	u64 count;
	bool matches;
	struct sampled_place *place;    /* by offset; of those that match */
	size_t nplaces, room;
};

struct sampled_functions {
	struct sampled_function *function;
	size_t n;
	u64 total;              /* samples in all, with or without a function */
};

/*
 * Sorts what stack_store__read() has found last into functions; those that match the glob come
 * first, the largest count first. Returns 0 or -ENOMEM.
 */
int sampled_functions__find(struct sampled_functions *f, struct stacks *s, const char *glob);
void sampled_functions__free(struct sampled_functions *f);

/* Is a function of that name meant? Also without its parameters, or the version of its symbol. */
bool is_function_named(const char *name, const char *glob);

#endif /* TALLY_ANNOTATE_FUNCTIONS_H */
