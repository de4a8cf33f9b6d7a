// SPDX-License-Identifier: BSD-2-Clause
#include "run/sum_table.h"

#include <errno.h>
#include <stdlib.h>

#include "agg/variable.h"
#include "cli/key_view.h"
#include "cli/order.h"
#include "report/column.h"
#include "run/map_room.h"
#include "run/measurement.h"

/* Begins the next interval, which has separate maxima. Returns the number of the interval that ends. */
static u64 begin_next(const struct bpf_object *obj)
{
	volatile u64 *interval = object_variable(obj, ".data", "interval");

	return interval ? (*interval)++ : 0;
}

static int read_interval(struct sum_table *t, struct sum_set *set, const struct sum_layout *layout,
			 const struct measurement *m, struct loss_counters *losses)
{
	const struct bpf_map *sums = bpf_object__find_map_by_name(m->obj, "sums");
	const struct bpf_map *lost = bpf_object__find_map_by_name(m->obj, "losses");
	int err = sums && lost ? 0 : -ENOENT;

	if (!err)
		err = loss__since(losses, &t->losses_before, bpf_map__fd(lost), m->obj);
	return err ?: sum_set__since(set, &t->before, &(struct sum_source){
		.layout = layout, .map_fd = bpf_map__fd(sums), .generation = elements__generation(m->obj),
		.running = t->running,
	});
}

static int add_key(struct sum_table_report *t, const struct sum_table_spec *spec, struct report_row *row,
		   const void *element)
{
	const void *task = (const char *)element + spec->task_at;

	if (spec->add_key)
		return spec->add_key(t, row, element);
	return task_key__add_fields(row, task, sum_layout__name(&spec->layout, element), t->cli->by, &t->names);
}

static int add_row(struct sum_table_report *t, const struct sum_table_spec *spec, struct report *r, const void *element,
		   size_t *nkeys)
{
	struct report_row row = {};
	int err = add_key(t, spec, &row, element);

	*nkeys = row.ncells;
	report_row__end_key(&row);
	if (!err)
		err = report_row__add_columns(&row, t->cli->columns, sum_layout__sums(&spec->layout, element),
					      &t->source);
	if (!err && spec->add_more)
		err = spec->add_more(t, &row, element);
	return report__end_row(r, &row, err);
}

static int add_heading(struct sum_table_report *t, const struct sum_table_spec *spec, struct report *r)
{
	void *none = calloc(1, sum_layout__size(&spec->layout));
	size_t nkeys;
	int err = none ? add_row(t, spec, r, none, &nkeys) : -ENOMEM;

	free(none);
	return report__keep_columns(r, err);
}

/* For text output only: a program that adds up rows would have to skip the total. */
static int add_total(struct sum_table_report *t, const struct sum_layout *layout, struct report *r, const void *total,
		     size_t nkeys)
{
	struct report_row row;
	int err = report_row__begin_total(&row, r, nkeys);

	if (!err)
		err = report_row__add_columns(&row, t->cli->columns, sum_layout__sums(layout, total), &t->source);
	return report__end_row(r, &row, err);
}

static size_t rows_shown(const struct sum_table_spec *spec, const struct cli *cli)
{
	return spec->total ? cli->top : table_rows(cli);
}

static int add_rows(struct measurement *m, struct report *r, struct sum_set *set, u64 interval)
{
	const struct sum_table_spec *spec = m->spec->table;
	struct sum_table_report t = {
		.own = m->own, .cli = m->cli, .names = { .cgroups = m->cgroups },
		.source = { interval, m->table.began_ns, m->table.traits },
	};
	const struct key_view view = { m->cli->by, &t.names, spec->task_at };
	void *total = calloc(1, sum_layout__size(&spec->layout));
	int err = total ? 0 : -ENOMEM;
	size_t i, nkeys = 0;

	if (spec->task_at != SUM_NO_TASK)
		key_view__sum_set(&view, set);
	for (i = 0; i < set->n && !err; i++) {
		const void *element = sum_set__at(set, i);

		r->events += column_sum(sum_layout__sums(&spec->layout, element), spec->events);
		err = add_row(&t, spec, r, element, &nkeys);
		sum_layout__add_up(&spec->layout, total, element);
	}
	if (!err && !r->nrows)
		err = add_heading(&t, spec, r);
	task_key_names__free(&t.names);
	report__hide_rare(r, m->cli->columns);
	report__sort_rows(r, m->cli->order, nkeys, rows_shown(spec, m->cli));
	if (!err && spec->total && r->nrows && m->cli->format == FORMAT_TEXT)
		err = add_total(&t, &spec->layout, r, total, nkeys);
	free(total);
	return err;
}

int sum_table__report(struct measurement *m, struct ring *names, struct report *r)
{
	const struct sum_table_spec *spec = m->spec->table;
	u64 interval = begin_next(m->obj);
	struct sum_set set = {};
	int err;

	r->table = true;
	r->total_from = spec->total;
	r->has_events = true;
	err = spec->read ? spec->read(m, &set, &r->counters) :
			   read_interval(&m->table, &set, &spec->layout, m, &r->counters);
	if (!err && names)
		err = ring__drain(names);
	if (!err && spec->adjust)
		err = spec->adjust(m->own, &set);
	if (!err)
		err = add_rows(m, r, &set, interval);
	sum_set__free(&set);
	return err;
}

int sum_table__prepare(const struct measurement *m)
{
	struct bpf_map *sums = bpf_object__find_map_by_name(m->obj, "sums");

	if (!sums)
		return -ENOENT;
	return m->spec->table->of_cpus ? map__set_room_for_writers(sums, &m->run->host, m->cli->max_keys) :
					 map__set_room_for_keys(sums, &m->run->host, m->cli->max_keys);
}

void sum_table__free(struct sum_table *t)
{
	bpf_link__destroy(t->running);
	sum_set__free(&t->before);
}
