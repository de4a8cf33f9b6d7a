/* SPDX-License-Identifier: BSD-2-Clause */
/* Why stacks of a report are [incomplete]: counts by reason and module. */
#ifndef TALLY_STACK_BROKEN_H
#define TALLY_STACK_BROKEN_H

#include <limits.h>
#include <stdio.h>

#include "stack/names.h"

/* Further modules are counted by reason only. */
#define BROKEN_MODULES 64

struct broken {                 /* initialise to all zeros */
	u64 total;              /* all events, including events with whole stacks */
	u64 value[STACK_BREAKS];
	struct broken_module {
		char name[NAME_MAX + 1];        /* file name; a copy, since names are freed when programs end */
		u64 value[STACK_BREAKS];
	} module[BROKEN_MODULES];
	size_t n;
};

/* Adds count events with this stack. */
void broken__count(struct broken *b, const struct stack_path *path, u64 count);

/*
 * True if many stacks are incomplete. If so, broken__say() writes a sentence with the share, the main reason and
 * advice.
 */
bool broken__is_much(const struct broken *b);
void broken__say(const struct broken *b, FILE *f);

/* With -v, prints a line with the total and a line for each reason. */
void broken__tell(const struct broken *b);

#endif /* TALLY_STACK_BROKEN_H */
