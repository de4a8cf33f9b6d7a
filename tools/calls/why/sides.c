// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/sides.h"

#include "base/array.h"

static double mean(u64 ns, u64 calls)
{
	return calls ? (double)ns / calls : 0;
}

double sides__difference(const struct span_sides *sides, u64 slow_ns, u64 rest_ns)
{
	return mean(slow_ns, sides->slow.calls) - mean(rest_ns, sides->rest.calls);
}

static struct field mean_field(const char *name, const char *of, const char *per, u64 ns, u64 calls)
{
	return (struct field){
		.name = name,
		.number = calls ? ns / calls : 0,
		.kind = calls ? FIELD_DURATION : FIELD_NONE,
		.role = ROLE_MEAN,
		.of = of,
		.per = per,
	};
}

static struct field sum_field(const char *name, u64 number, enum field_kind kind)
{
	return (struct field){ .name = name, .number = number, .kind = kind, .role = ROLE_COUNTER, .machine = true };
}

/* The share of calls on a side that contain some of this time. */
static struct field part_field(const char *name, const char *of, const char *per, u64 with, u64 calls)
{
	return (struct field){
		.name = name,
		.real = calls ? 100.0 * with / calls : 0,
		.kind = calls ? FIELD_REAL : FIELD_NONE,
		.decimals = 1,
		.role = ROLE_PERCENT,
		.of = of,
		.per = per,
		.spare = true,
	};
}

int sides__add_figures(struct report_row *row, const struct span_sides *sides, const struct span_part side[2])
{
	const struct span_part *slow = &side[1], *rest = &side[0];
	double all = sides__difference(sides, sides->slow.ns, sides->rest.ns);
	bool both = sides->slow.calls && sides->rest.calls && all;
	const struct field fields[] = {
		sum_field("slow_time", slow->ns, FIELD_TIME),
		sum_field("slow_calls", sides->slow.calls, FIELD_NUMBER),
		sum_field("slow_with", slow->calls, FIELD_NUMBER),
		sum_field("rest_time", rest->ns, FIELD_TIME),
		sum_field("rest_calls", sides->rest.calls, FIELD_NUMBER),
		sum_field("rest_with", rest->calls, FIELD_NUMBER),
		mean_field("slow", "slow_time", "slow_calls", slow->ns, sides->slow.calls),
		mean_field("rest", "rest_time", "rest_calls", rest->ns, sides->rest.calls),
		{ .name = "difference_percent",
		  .real = both ? 100.0 * sides__difference(sides, slow->ns, rest->ns) / all : 0,
		  .kind = both ? FIELD_REAL : FIELD_NONE,
		  .decimals = 1,
		  .role = ROLE_GAUGE },
		part_field("in_slow_percent", "slow_with", "slow_calls", slow->calls, sides->slow.calls),
		part_field("in_rest_percent", "rest_with", "rest_calls", rest->calls, sides->rest.calls),
	};

	return report_row__add_fields(row, fields, ARRAY_SIZE(fields));
}

int sides__add_all_figures(struct report_row *row, const struct span_sides *sides)
{
	const struct span_part all[2] = {
		{ sides->rest.ns, sides->rest.calls },
		{ sides->slow.ns, sides->slow.calls },
	};

	return sides__add_figures(row, sides, all);
}
