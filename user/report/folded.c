// SPDX-License-Identifier: BSD-2-Clause
/*
 * Folded stacks: one line "key;outermost;...;innermost value" per stack, as read by flamegraph.pl. The format cannot
 * hold anything else, so losses and incomplete stacks are reported as warnings.
 */
#include "report/diag.h"
#include "report/incomplete.h"
#include "report/text.h"
#include "report/tree.h"

static void tell_losses(const struct report *r)
{
	int i;

	for (i = 0; i < LOSS_REASONS; i++)
		if (r->counters.lost[i])
			diag_warn("%s: %llu %s: %s; %llu events are included", loss_kind_name(loss_kind(i)),
				  r->counters.lost[i], loss_name(i), text_loss_sentence(r, i), r->events);
}

/* With several events, the percentage refers to the stacks of the first event. */
static void tell_incomplete(const struct report *r)
{
	double percent = report_stacks__incomplete_percent(r->stacks, 0);

	if (percent >= INCOMPLETE_TO_NOTE)
		diag_warn("%.1f%% of these stacks are [incomplete]: their outer callers are missing", percent);
}

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
	tell_losses(r);
	tell_incomplete(r);
	return err;
}
