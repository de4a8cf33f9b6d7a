// SPDX-License-Identifier: BSD-2-Clause
#include "report/stack_values.h"

#include <string.h>

size_t stack_values__of(const struct report_stacks *s, struct stack_value *value)
{
	bool is_time = !strcmp(s->unit, "ns"), is_size = !strcmp(s->unit, "bytes");

	value[0] = (struct stack_value){
		.type = s->type ?: is_time ? "time" : is_size ? "space" : s->unit,
		.unit = is_time ? "nanoseconds" : is_size ? "bytes" : "count", .scale = 1,
	};
	if (strcmp(s->unit, "samples") || !s->period)
		return 1;
	value[1] = (struct stack_value){ "cpu", "nanoseconds", s->period };
	return 2;
}

u64 stack_value__number(const struct stack_value *v, u64 value)
{
	u64 number;

	return __builtin_mul_overflow(value, v->scale, &number) || number > INT64_MAX ? INT64_MAX : number;
}
