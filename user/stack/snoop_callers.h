/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -g of tools that only show lines (run/snoop.h): adds the stack of each event. The programs of the tool have the
 * constant take (enum stack_flags) and write a struct stack_id into the record. The tool sets snoop.callers, includes
 * caller_rows in its options, and uses these hooks instead of SNOOP_HOOKS.
 */
#ifndef TALLY_STACK_SNOOP_CALLERS_H
#define TALLY_STACK_SNOOP_CALLERS_H

#include "run/snoop.h"
#include "stack/callers.h"

int snoop_callers__check(void *own, struct cli *cli);
int snoop_callers__open(struct measurement *m);
int snoop_callers__attach(struct measurement *m);

#define SNOOP_CALLERS_HOOKS                                                                                            \
	.check = snoop_callers__check, .open = snoop_callers__open, .attach = snoop_callers__attach,                   \
	.report = snoop__report

/* Called by show() to add the stack to the line. Returns the same values as callers__find(). */
int snoop_callers__find(const struct snoop *s, const struct stack_id *id, struct stream_line *line);

#endif /* TALLY_STACK_SNOOP_CALLERS_H */
