// SPDX-License-Identifier: BSD-2-Clause
/*
 * Folded stacks: one line "key;outermost;...;innermost value" per stack, as flamegraph.pl reads
 * them.
 */
#include "report/tree.h"

int write_folded(struct writer *w, const struct report *r)
{
	const struct report_stacks *s = r->stacks;
	struct stack_labels labels = {};
	int err = stack_labels__make(&labels, s, LABELS_FOLDED);
	size_t i;

	for (i = 0; !err && i < s->n; i++) {
		put_folded_stack(w->file, &labels, &s->stack[i]);
		fprintf(w->file, " %llu\n", s->stack[i].value);
	}
	stack_labels__free(&labels);
	return err;
}
