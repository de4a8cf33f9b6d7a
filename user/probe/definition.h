/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One probe as typed, modelled on perf-probe(1):
 *
 *   definition := [NAME "="] EVENT { [ALIAS "="] EXPR }      parts are separated by blanks
 *
 * EVENT has the syntax of event/event.h, EXPR that of expr/expr.h; blanks inside parentheses,
 * brackets and quotes do not separate. The functions have no side effects.
 */
#ifndef TALLY_PROBE_DEFINITION_H
#define TALLY_PROBE_DEFINITION_H

#include "base/complaint.h"
#include "expr/expr.h"

struct probe_argument {
	char *name;             /* the alias, the last member of the expression, or its text */
	bool is_named;          /* it is the alias */
	struct expr *expr;      /* expression whose positions refer to text */
	char *text;
};

struct probe_definition {
	const char *typed;      /* the whole text; borrowed */
	char *name;             /* NULL if none was given */
	char *event;
	size_t event_at;        /* its position in typed */
	struct probe_argument *argument;
	size_t n;
};

/*
 * Returns 0, in which case the caller calls probe_definition__free(), or -EINVAL (-ENOMEM) after
 * describing the fault of `typed` in *c. If the fault is in an argument, *c refers to the text of
 * the argument; *argument is this text, which the caller frees. Otherwise *argument is NULL.
 */
int probe_definition__parse(struct probe_definition *d, const char *typed, struct complaint *c,
			    char **argument);
void probe_definition__free(struct probe_definition *d);

/*
 * Parses a list of expressions, "comm,sk->sk_family,NAME=EXPR", as arguments. Commas inside parentheses, brackets and
 * quotes do not separate. Errors are returned as above.
 */
int probe_arguments__parse(struct probe_argument **argument, size_t *n, const char *typed,
			   struct complaint *c, char **part);
void probe_arguments__free(struct probe_argument *argument, size_t n);

#endif /* TALLY_PROBE_DEFINITION_H */
