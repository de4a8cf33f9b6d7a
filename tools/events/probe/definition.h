/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One probe as typed, modelled on perf-probe(1):
 *
 *   definition := [NAME "="] EVENT { [ALIAS "="] EXPR }      parts are separated by blanks
 *
 * EVENT is anything of event/event.h, EXPR of expr/expr.h; blanks inside parentheses, brackets and
 * quotes do not separate. Pure functions.
 */
#ifndef TALLY_PROBE_DEFINITION_H
#define TALLY_PROBE_DEFINITION_H

#include "base/complaint.h"
#include "expr/expr.h"

struct probe_argument {
	char *name;             /* the alias, the last member of the expression, or its text */
	struct expr *expr;      /* its positions refer to text */
	char *text;
};

struct probe_definition {
	const char *typed;      /* the whole text; borrowed */
	char *name;             /* NULL: none was given */
	char *event;
	size_t event_at;        /* its position in typed */
	struct probe_argument *argument;
	size_t n;
};

/*
 * Returns 0 and the caller calls probe_definition__free(), or -EINVAL (-ENOMEM) with *c about
 * typed. For an error in an argument, *c is about its text, and *argument is that text, which the
 * caller frees; otherwise *argument is NULL.
 */
int probe_definition__parse(struct probe_definition *d, const char *typed, struct complaint *c,
			    char **argument);
void probe_definition__free(struct probe_definition *d);

/*
 * A list of expressions, "comm,sk->sk_family,NAME=EXPR", as arguments. Commas inside parentheses,
 * brackets and quotes do not separate. Errors as above.
 */
int probe_arguments__parse(struct probe_argument **argument, size_t *n, const char *typed,
			   struct complaint *c, char **part);
void probe_arguments__free(struct probe_argument *argument, size_t n);

#endif /* TALLY_PROBE_DEFINITION_H */
