// SPDX-License-Identifier: BSD-2-Clause
#include "report/incomplete.h"

#include <string.h>

#include "agg/wide.h"

static bool is_incomplete(const struct report_stacks *s, const struct report_stack *stack)
{
	u32 i;

	for (i = 0; i < stack->nframes; i++) {
		const struct report_frame *f = &s->frame[stack->frame[i]];

		if (f->kind == FRAME_NOTE && f->name && !strcmp(f->name, "[incomplete]"))
			return true;
	}
	return false;
}

struct incomplete report_stacks__incomplete(const struct report_stacks *s, size_t event)
{
	struct incomplete sum = {};
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct report_stack *stack = &s->stack[i];

		if ((s->nevents && stack->event != event) || !is_incomplete(s, stack))
			continue;
		add_saturating(&sum.value, stack->value);
		add_saturating(&sum.before, stack->before);
	}
	return sum;
}

static double percent(u64 value, u64 total)
{
	return total ? 100.0 * value / total : 0;
}

double report_stacks__incomplete_percent(const struct report_stacks *s, size_t event)
{
	return percent(report_stacks__incomplete(s, event).value, s->nevents ? s->event[event].total : s->total);
}

void put_incomplete(FILE *f, const struct report_stacks *s, size_t event)
{
	struct incomplete sum = report_stacks__incomplete(s, event);
	double after = report_stacks__incomplete_percent(s, event);

	if (s->compared && (sum.value || sum.before))
		fprintf(f, ", [incomplete] %.1f%% before and %.1f%% after", percent(sum.before, s->before), after);
	else if (sum.value)
		fprintf(f, ", %.1f%% [incomplete]", after);
}
