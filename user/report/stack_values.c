// SPDX-License-Identifier: BSD-2-Clause
#include "report/stack_values.h"

#include <string.h>

static struct stack_value of_event(const struct report_event *e, u32 index)
{
	return (struct stack_value){ .type = e->name, .unit = "count", .scale = 1, .event = index };
}

/* Adds the CPU time of only one clock: with several clocks, the first one's. */
static size_t values_of_events(const struct report_stacks *s, struct stack_value *value)
{
	size_t n = 0, i;
	bool has_time = false;

	for (i = 0; i < s->nevents && i < REPORT_MOST_EVENTS; i++) {
		const struct report_event *e = &s->event[i];

		value[n++] = of_event(e, i);
		if (has_time || strcmp(e->unit, "samples") || !e->period)
			continue;
		has_time = true;
		value[n++] = (struct stack_value){ "cpu", "nanoseconds", e->period, i };
	}
	return n;
}

size_t stack_values__of(const struct report_stacks *s, struct stack_value *value)
{
	bool is_time = !strcmp(s->unit, "ns"), is_size = !strcmp(s->unit, "bytes");

	if (s->nevents)
		return values_of_events(s, value);
	value[0] = (struct stack_value){
		.type = s->type ?: is_time ? "time" : is_size ? "space" : s->unit,
		.unit = is_time ? "nanoseconds" : is_size ? "bytes" : "count", .scale = 1,
	};
	if (strcmp(s->unit, "samples") || !s->period)
		return 1;
	value[1] = (struct stack_value){ "cpu", "nanoseconds", s->period, 0 };
	return 2;
}

u64 stack_value__number(const struct stack_value *v, u64 value)
{
	u64 number;

	return __builtin_mul_overflow(value, v->scale, &number) || number > INT64_MAX ? INT64_MAX : number;
}
