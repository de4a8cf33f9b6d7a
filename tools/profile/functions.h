/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions in which samples were taken, and the sampled places within them. */
#ifndef TALLY_ANNOTATE_FUNCTIONS_H
#define TALLY_ANNOTATE_FUNCTIONS_H

#include "stack/stacks.h"
#include "sym/symbols.h"

struct sampled_place {
	u64 offset;             /* from the start of the function */
	u64 count;
};

struct sampled_function {
	struct symbol symbol;   /* symbol of one of its samples; the name is not NULL */
	u32 pid;                /* a process that runs the function; 0: the kernel */
	u64 runtime;            /* its address in this process */
	u64 count;
	bool matches;
	struct sampled_place *place;    /* sorted by offset; only for functions that match */
	size_t nplaces;
};

struct sampled_functions {
	struct sampled_function *function;
	size_t n;
	u64 total;              /* all samples, with or without a function */
};

/*
 * Groups the result of the last stack_store__read() by function. Functions that match the glob come
 * first. Functions are sorted by descending count. Returns 0 or -ENOMEM.
 */
int sampled_functions__find(struct sampled_functions *f, struct stacks *s, const char *glob);
void sampled_functions__free(struct sampled_functions *f);

/* Whether name matches the glob, either as a whole, or without its parameters or its symbol version. */
bool is_function_named(const char *name, const char *glob);

#endif /* TALLY_ANNOTATE_FUNCTIONS_H */
