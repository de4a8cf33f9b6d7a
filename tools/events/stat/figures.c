// SPDX-License-Identifier: BSD-2-Clause
#include "events/stat/table.h"

const char *figures_unit(const struct event_site *site)
{
	return site->is_time ? "ns" : site->unit ?: "count";
}

struct field figures_value(const struct event_site *site, u64 value)
{
	struct field f = { .name = "count", .number = value, .role = ROLE_COUNTER };

	if (site->is_time) {
		f.kind = FIELD_TIME;
	} else if (site->unit) {
		f.kind = FIELD_REAL;
		f.real = value * site->scale;
		f.decimals = 3;
	}
	return f;
}

static u8 decimals_of(double value)
{
	return value >= 1000 ? 0 : value >= 10 ? 1 : 3;
}

static int add_remark(struct report_row *row, const char *name, const char *text, bool machine)
{
	const struct field f = { .name = name, .kind = FIELD_NONE, .role = ROLE_REMARK, .machine = machine };

	return report_row__add_text_as(row, &f, text);
}

int figures__put(struct report_row *row, const char *name, const char *unit,
		       const struct figures *f)
{
	struct field ratio = { .name = "ratio", .kind = FIELD_NONE, .role = ROLE_GAUGE, .no_metric = true }, error;
	struct field running = { .name = "running_percent", .kind = FIELD_REAL, .real = f->running,
				 .decimals = 1, .machine = !f->scaled, .role = ROLE_REMARK };
	int err;

	if (f->ratio) {
		ratio.kind = FIELD_REAL;
		ratio.real = f->ratio->value;
		ratio.decimals = decimals_of(f->ratio->value);
	}
	err = report_row__add_field(row, &f->count);
	if (!err)
		err = report_row__add_text(row, "event", name);
	if (!err)
		err = report_row__add_field(row, &ratio);
	if (!err)
		err = add_remark(row, "of", f->ratio ? f->ratio->of : f->why, false);
	if (!err && f->error) {
		error = (struct field){.name = "stderr_percent",
				       .kind = FIELD_REAL,
				       .real = *f->error,
				       .decimals = 2,
				       .role = ROLE_REMARK};
		err = report_row__add_field(row, &error);
	}
	if (!err)
		err = report_row__add_field(row, &running);
	if (!err)
		err = add_remark(row, "unit", unit, true);
	return err ?: add_remark(row, "why", f->why, true);
}
