// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscount/rows.h"

#include <stdio.h>
#include <string.h>

#include "cli/key_view.h"
#include "host/errno_name.h"
#include "host/syscalls.h"

_Static_assert(BY_SYSCALL == BY_OWN(0) && BY_ERRNO == BY_OWN(1), "own parts of keys");

/*
 * --- keys --------------------------------------------------------------------------------------
 */

/* "read"; "read@32" in the 32-bit table; "syscall_999" without a name. */
static int add_call(struct report_row *row, u32 call)
{
	const char *name = syscall_name(call_abi(call), call_number(call));
	const char *table = call_abi(call) == SYSCALL_COMPAT ? "@32" : "";
	char text[64];

	if (name)
		snprintf(text, sizeof(text), "%s%s", name, table);
	else if (call_number(call) == CALL_BEYOND)
		snprintf(text, sizeof(text), "(no such call)%s", table);
	else
		snprintf(text, sizeof(text), "syscall_%u%s", call_number(call), table);
	return report_row__add_text(row, "syscall", text);
}

static int add_errno(struct report_row *row, u32 number)
{
	const char *name = errno_name(number);
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	return report_row__add_text(row, "errno", name ?: number ? text : "success");
}

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	u64 outcome = *(const u64 *)own;
	int err = 0;

	(void)context;
	if (by & BY_SYSCALL)
		err = add_call(row, outcome_call(outcome));
	if (!err && by & BY_ERRNO)
		err = add_errno(row, outcome_errno(outcome));
	return err;
}

static const char *const part_names[] = { "syscall", "errno" };
const struct own_parts call_parts = {
	.name = part_names,
	.n = ARRAY_SIZE(part_names),
	.text = "syscall, errno",
	.add = add_parts,
};

/*
 * --- columns -----------------------------------------------------------------------------------
 */

static const struct {
	const char *name;
	bool is_time;
} orders[] = {
	{ "calls", false }, { "errors", false }, { "time", true },    { "avg", true },
	{ "max", true },    { "p50", true },     { "p99", true },     { "running", true },
	{ "longest", true }, { "key", false },
};

const char call_orders[] = "calls, errors, time, avg, p50, p99, max, running, longest or key";

void call_orders__complete(struct completion *c)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(orders); i++)
		completion__add(c, orders[i].name, "");
}

const char *call_order(const char *text, bool *is_time)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		if (strcmp(orders[i].name, text))
			continue;
		*is_time = orders[i].is_time;
		return orders[i].name;
	}
	return NULL;
}

static int add_times(struct report_row *row, const struct call_columns *columns,
		     const struct call *c)
{
	enum field_kind kind = columns->one_unit ? FIELD_TIME : FIELD_DURATION;
	enum field_kind time = c->calls ? kind : FIELD_NONE;
	const struct histogram *h = &c->hist;
	int err;

	/* Calls in progress contribute to this time, but not to the others. */
	err = report_row__add_sum(row, "time", c->time_ns, kind);
	if (!err)
		err = report_row__add_figure(row, "avg", histogram__average(h), time, ROLE_GAUGE);
	if (!err)
		err = report_row__add_figure(row, "p50", histogram__percentile(h, 5000), time, ROLE_GAUGE);
	if (!err)
		err = report_row__add_figure(row, "p99", histogram__percentile(h, 9900), time, ROLE_GAUGE);
	if (!err)
		err = report_row__add_figure(row, "max", h->max, time, ROLE_MAXIMUM);
	if (err || !columns->running)
		return err;
	err = report_row__add_figure(row, "running", c->running, FIELD_NUMBER, ROLE_GAUGE);
	return err ?: report_row__add_figure(row, "longest", c->longest_ns, c->running ? kind : FIELD_NONE, ROLE_GAUGE);
}

static int add_figures(struct report_row *row, const struct call_columns *columns,
		       const struct call *c)
{
	int err = report_row__add_sum(row, "calls", c->calls, FIELD_NUMBER);

	if (!err)
		err = report_row__add_sum(row, "errors", c->errors, FIELD_NUMBER);
	if (!err && columns->times)
		err = add_times(row, columns, c);
	return err;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

static int add_to_total(struct call *total, const struct call *c)
{
	total->calls += c->calls;
	total->errors += c->errors;
	total->time_ns += c->time_ns;
	total->running += c->running;
	if (c->longest_ns > total->longest_ns)
		total->longest_ns = c->longest_ns;
	return histogram__add(&total->hist, &c->hist);
}

/* Only for text output: programs can add up the rows themselves, and would have to skip this one. */
static int add_total(struct report *r, const struct call_columns *columns, const struct call *total,
		     size_t nkeys)
{
	struct report_row row;
	int err = report_row__begin_total(&row, r, nkeys);

	if (!err)
		err = add_figures(&row, columns, total);
	return report__end_row(r, &row, err);
}

/* *nkeys: number of key cells, which come first. */
static int add_row(struct report *r, const struct call_columns *columns, const struct call *c,
		   u32 by, struct task_key_names *names, size_t *nkeys)
{
	struct report_row row = {};
	int err = add_parts(NULL, &c->outcome, by, &row);

	if (!err)
		err = task_key__add_fields(&row, &c->task, c->name, by, names);
	*nkeys = row.ncells;
	if (!err)
		err = add_figures(&row, columns, c);
	return report__end_row(r, &row, err);
}

int calls__report(struct report *r, struct calls *set, const struct call_columns *columns,
		  const char *order, const struct measurement *m)
{
	struct task_key_names names = { .cgroups = m->cgroups };
	struct key_view view = { m->cli->by, &names, 0 };
	static const struct call none;
	struct call total = {};
	size_t i, nkeys = 0;
	int err = key_view__merges(&view) ? calls__regroup(set, key_view__change, &view) : 0;

	for (i = 0; i < set->n && !err; i++) {
		const struct call *c = &set->call[i];

		if (!c->calls && !c->running && !c->time_ns)
			continue;
		err = add_row(r, columns, c, m->cli->by, &names, &nkeys);
		if (!err)
			err = add_to_total(&total, c);
	}
	if (!err && !r->nrows)
		err = report__keep_columns(r, add_row(r, columns, &none, m->cli->by, &names, &nkeys));
	task_key_names__free(&names);
	r->events = total.calls;
	if (!order)
		order = columns->times ? "time" : "calls";
	report__sort_rows(r, strcmp(order, "key") ? order : NULL, nkeys, m->cli->top);
	r->total_from = 1;
	if (!err && r->nrows && m->cli->format == FORMAT_TEXT)
		err = add_total(r, columns, &total, nkeys);
	histogram__free(&total.hist);
	return err;
}
