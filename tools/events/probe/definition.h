/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One probe as people type it, after perf-probe(1):
 *
 *   definition := [NAME "="] EVENT { [ALIAS "="] EXPR }      parts are separated by blanks
 *
 * EVENT is anything of event.h, EXPR of expr.h; blanks inside of parentheses, brackets and quotes
 * separate nothing. Pure.
 */
#ifndef TALLY_PROBE_DEFINITION_H
#define TALLY_PROBE_DEFINITION_H

#include "base/complaint.h"
#include "expr/expr.h"

struct probe_argument {
	char *name;             /* the alias, the last member of the expression, or its text */
	struct expr *expr;      /* places in it are those in text */
	char *text;
};

struct probe_definition {
	const char *typed;      /* all of it; borrowed */
	char *name;             /* NULL: none was given */
	char *event;
	size_t event_at;        /* where it stands in typed */
	struct probe_argument *argument;
	size_t n;
};

/*
 * 0 with *d to be freed by probe_definition__free(), or -EINVAL (-ENOMEM) with *c about typed. Of
 * an argument, *c is about its text alone; then *argument is that text (to be freed), else NULL.
 */
int probe_definition__parse(struct probe_definition *d, const char *typed, struct complaint *c,
			    char **argument);
void probe_definition__free(struct probe_definition *d);

/*
 * A list of expressions, "comm,sk->sk_family,NAME=EXPR", as arguments. Commas inside of
 * parentheses, brackets and quotes separate nothing. Errors as above.
 */
int probe_arguments__parse(struct probe_argument **argument, size_t *n, const char *typed,
			   struct complaint *c, char **part);
void probe_arguments__free(struct probe_argument *argument, size_t n);

#endif /* TALLY_PROBE_DEFINITION_H */
