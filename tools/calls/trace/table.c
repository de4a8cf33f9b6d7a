// SPDX-License-Identifier: BSD-2-Clause
/* --summary: sums of calls as a table. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/diag.h"
#include "calls/trace/trace.h"

static const char *const columns[] = {"total", "calls", "errors", "avg", "min", "max"};

void trace_table__complete_column(struct completion *c)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		completion__add(c, columns[i], "");
	completion__add(c, "call", "");
}

/* Returns the column of this name, as called here or by strace, or NULL. "call" is the first column. */
static const char *column_named(const char *name)
{
	static const struct {
		const char *strace, *name;
	} others[] = {
		{"time", "total"}, {"time-percent", "total"}, {"time-total", "total"},
		{"total-time", "total"}, {"time-avg", "avg"}, {"avg-time", "avg"},
		{"time-min", "min"}, {"min-time", "min"}, {"time-max", "max"}, {"max-time", "max"},
		{"count", "calls"}, {"error", "errors"}, {"name", "call"}, {"syscall", "call"},
		{"syscall-name", "call"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(name, others[i].strace))
			name = others[i].name;
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (!strcmp(name, columns[i]))
			return columns[i];
	return strcmp(name, "call") ? NULL : "call";
}

static int refuse_column(const char *option, const char *name)
{
	diag_error("%s: unknown column '%s'; expected one of total, calls, errors, avg, min, max, call", option, name);
	return -EINVAL;
}

int trace_table__sort_column(const char *name, const char **column)
{
	const char *found = column_named(name);

	if (!found)
		return refuse_column("--sort", name);
	*column = strcmp(found, "call") ? found : NULL;
	return 0;
}

int trace_table__add_columns(struct trace *t, const char *names)
{
	char *text = strdup(names), *rest = text, *name;
	const char *found;
	size_t i;
	int err = text ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, ","))) {
		found = column_named(name);
		if (!found)
			err = refuse_column("--columns", name);
		for (i = 0; found && i < ARRAY_SIZE(columns); i++)
			if (found == columns[i])
				t->columns |= 1U << i;
		t->has_columns = true;
	}
	free(text);
	return err;
}

/* Columns that were not requested appear only in output for programs. */
static void hide_columns(const struct trace *t, struct report_row *row)
{
	const char *name;
	size_t i, k;

	for (i = 0; i < row->ncells && t->has_columns; i++) {
		name = row->cell[i].name;
		for (k = 0; k < ARRAY_SIZE(columns); k++)
			if (!strcmp(name, columns[k]) && t->columns & 1U << k)
				break;
		if (k == ARRAY_SIZE(columns) && strcmp(name, "call"))
			row->cell[i].machine = true;
	}
}

static int add_time(struct report_row *row, const char *name, u64 ns, bool known, enum field_role role)
{
	return report_row__add_figure(row, name, ns, known ? FIELD_DURATION : FIELD_NONE, role);
}

/* Page faults have no durations. */
static int add_figures(struct report_row *row, const struct call_sum *s,
		       const struct trace_running *running)
{
	bool any = s->count && running, has_error = any && s->count > 1 && s->squares;
	bool any_runs = running && running->count;
	int err = report_row__add_sum(row, "calls", s->count, FIELD_NUMBER);

	if (!err)
		err = report_row__add_sum(row, "errors", s->errors,
					  running ? FIELD_NUMBER : FIELD_NONE);
	if (!err)
		err = report_row__add_sum(row, "total", s->ns, running ? FIELD_DURATION : FIELD_NONE);
	if (!err)
		err = report_row__add_mean(row, "avg", any ? s->ns / s->count : 0, any ? FIELD_DURATION : FIELD_NONE,
					   "total", "calls");
	if (!err)
		err = add_time(row, "std_error", has_error ? call_sum__error(s) : 0, has_error, ROLE_GAUGE);
	if (!err)
		err = add_time(row, "min", s->min_ns, any, ROLE_MINIMUM);
	if (!err)
		err = add_time(row, "max", s->max_ns, any, ROLE_MAXIMUM);
	if (!err)
		err = report_row__add_figure(row, "running", any_runs ? running->count : 0,
					     any_runs ? FIELD_NUMBER : FIELD_NONE, ROLE_GAUGE);
	return err ?: add_time(row, "for", any_runs ? running->max_ns : 0, any_runs, ROLE_GAUGE);
}

static int add_row(struct report *r, const char *name, const struct call_sum *s,
		   const struct trace_running *running)
{
	struct report_row row = {};
	int err = report_row__add_text(&row, "call", name);

	if (!err)
		err = add_figures(&row, s, running);
	if (!err)
		return report__add_row(r, &row);
	report_row__free(&row);
	return err;
}

static int read_running(struct trace *t, u32 slot, struct trace_running *running)
{
	int err = bpf_map__lookup_elem(t->bpf->maps.running, &slot, sizeof(slot), running,
				       sizeof(*running), 0);

	if (running->visit != t->bpf->bss->visit)
		*running = (struct trace_running){};
	return err;
}

static void add_to_total(struct call_sum *total, const struct call_sum *s)
{
	if (!total->count || s->min_ns < total->min_ns)
		total->min_ns = s->min_ns;
	if (s->max_ns > total->max_ns)
		total->max_ns = s->max_ns;
	total->count += s->count;
	total->errors += s->errors;
	total->ns += s->ns;
	/* Omits the squares, because the error of a mean over different calls is meaningless. */
}

static int read_faults(struct trace *t, u32 in_kernel, u64 *sum)
{
	int cpus = libbpf_num_possible_cpus(), err, i;
	u64 *cpu = calloc(cpus > 0 ? cpus : 1, sizeof(*cpu));

	*sum = 0;
	err = cpu ? bpf_map_lookup_elem(bpf_map__fd(t->bpf->maps.faults), &in_kernel, cpu) :
		    -ENOMEM;
	for (i = 0; i < cpus && !err; i++)
		*sum += cpu[i];
	free(cpu);
	return err;
}

/* Page faults are not part of the total, which consists of times. */
static int add_faults(struct trace *t, struct report *r)
{
	static const char *const names[2] = {"page_fault_user", "page_fault_kernel"};
	struct call_sum faults = {};
	int err = 0;
	u64 now;
	u32 i;

	for (i = 0; i < 2 && !err; i++) {
		err = read_faults(t, i, &now);
		faults.count = now - t->faults_before[i];
		t->faults_before[i] = now;
		r->events += faults.count;
		if (!err && faults.count)
			err = add_row(r, names[i], &faults, NULL);
	}
	return err;
}

static int fill_rows(struct trace *t, struct measurement *m, struct report *r,
		     const struct call_sum *now)
{
	struct trace_running running, all_running = {};
	struct call_sum sum, total = {};
	char name[CALL_NAME_SPACE];
	size_t i;
	u32 slot;
	int err = 0;

	for (slot = 0; slot < TRACE_SLOTS && !err; slot++) {
		sum = now[slot];
		err = read_running(t, slot, &running);
		if (err || (!sum.count && !running.count))
			continue;
		if (sum.count)
			add_to_total(&total, &sum);
		all_running.count += running.count;
		if (running.max_ns > all_running.max_ns)
			all_running.max_ns = running.max_ns;
		call_name(name, slot, slot % SYSCALL_NUMBERS);
		err = add_row(r, name, &sum, &running);
	}
	r->events = total.count;
	if (!err && t->faults)
		err = add_faults(t, r);
	if (!err && !r->nrows)
		err = report__keep_columns(r, add_row(r, "", &total, &all_running));
	report__sort_rows(r, t->sort, 1, m->cli->top);
	r->total_from = 1;
	/* Only for text output: programs can add up the rows themselves, and would have to skip this one. */
	if (!err && r->nrows && m->cli->format == FORMAT_TEXT)
		err = add_row(r, "total", &total, &all_running);
	if (!err && r->nrows && m->cli->format == FORMAT_TEXT)
		r->row[r->nrows - 1].is_total = true;
	for (i = 0; i < r->nrows; i++)
		hide_columns(t, &r->row[i]);
	return err;
}

static int read_sums(struct trace *t, struct measurement *m, struct call_sum *now)
{
	t->bpf->bss->closed = !m->cli->interval_ns;
	t->bpf->bss->visit++;
	if (tasks__visit(t->bpf->progs.sum_running))
		diag_detail("no task iterator: unfinished calls are not shown");
	return call_sums__take(now, bpf_map__fd(t->bpf->maps.sums), m->run->host.cpus_possible,
			       &t->bpf->bss->writer_generation);
}

int trace_table__report(struct measurement *m, struct report *r)
{
	struct trace *t = m->own;
	struct call_sum *now = calloc(TRACE_SLOTS, sizeof(*now));
	int err = now ? 0 : -ENOMEM;

	r->value = "system calls";
	r->metric = "call";
	r->source = TRACE_SOURCE;
	r->table = true;
	r->has_events = true;
	if (!err)
		err = loss__since(&r->counters, &t->losses_before,
				  bpf_map__fd(t->bpf->maps.losses), t->bpf->obj);
	if (!err)
		err = read_sums(t, m, now);
	if (!err)
		err = fill_rows(t, m, r, now);
	free(now);
	return err;
}
