// SPDX-License-Identifier: BSD-2-Clause
#include "report/column.h"

#include "bpf/lib/maximum.h"
#include "report/role.h"

u64 column_sum(const u64 *sums, u64 which)
{
	u64 all = 0;

	for (; which; which &= which - 1)
		all += sums[__builtin_ctzll(which)];
	return all;
}

static u64 maximum_of(const struct interval_maximum *slot, u64 interval)
{
	u64 most = 0;
	size_t i;

	for (i = 0; i < MAXIMUM_SLOTS; i++)
		if ((slot[i].interval == interval || slot[i].interval == interval + 1) && slot[i].value > most)
			most = slot[i].value;
	return most;
}

static u64 number_of(const struct column *c, const u64 *value, u64 interval)
{
	u64 plus = column_sum(value, c->plus), minus = column_sum(value, c->minus);

	if (c->slots)
		return maximum_of((const struct interval_maximum *)(value + c->slots), interval);
	return plus > minus ? plus - minus : 0;
}

int report_row__add_columns(struct report_row *row, const struct column *columns, const u64 *value, u64 interval)
{
	const struct column *c;
	int err = 0;

	for (c = columns; c->name && !err; c++) {
		const struct field f = {
			.name = c->name, .number = number_of(c, value, interval), .kind = c->kind, .role = c->role,
			.decimals = c->decimals, .machine = c->machine, .of = c->of, .per = c->per,
		};

		if (c->plus || c->slots || c->of)
			err = report_row__add_field(row, &f);
	}
	report_row__derive(row, 0);
	return err;
}
