// SPDX-License-Identifier: BSD-2-Clause
#include "run/sum_table.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/key_view.h"
#include "cli/order.h"

static int read_interval(struct sum_table *t, struct sum_set *set, const struct sum_layout *layout,
			 const struct measurement *m, struct loss_counters *losses)
{
	const struct bpf_map *sums = bpf_object__find_map_by_name(m->obj, "sums");
	const struct bpf_map *lost = bpf_object__find_map_by_name(m->obj, "losses");
	int err = sums && lost ? 0 : -ENOENT;

	if (!err)
		err = loss__since(losses, &t->losses_before, bpf_map__fd(lost), m->obj);
	return err ?: sum_set__since(set, &t->before, layout, bpf_map__fd(sums), elements__generation(m->obj));
}

static int add_row(struct sum_table_report *t, const struct sum_table_spec *spec, struct report *r, const void *element,
		   size_t *nkeys)
{
	struct report_row row = {};
	int err = spec->add_key(t, &row, element);

	*nkeys = row.ncells;
	report_row__end_key(&row);
	if (!err)
		err = spec->add_figures(t, &row, element);
	return report__end_row(r, &row, err);
}

static int add_columns(struct sum_table_report *t, const struct sum_table_spec *spec, struct report *r)
{
	void *none = calloc(1, sum_layout__size(&spec->layout));
	size_t nkeys;
	int err = none ? add_row(t, spec, r, none, &nkeys) : -ENOMEM;

	free(none);
	return report__keep_columns(r, err);
}

static int add_rows(struct measurement *m, const struct sum_table_spec *spec, struct report *r, const char *order,
		    struct sum_set *set)
{
	struct sum_table_report t = {
		.own = m->own, .cli = m->cli, .names = { .cgroups = m->cgroups },
	};
	const struct key_view view = { m->cli->by, &t.names, spec->task_at };
	size_t i, nkeys = 0;
	int err = 0;

	if (spec->task_at != SUM_NO_TASK)
		key_view__sum_set(&view, set);
	for (i = 0; i < set->n && !err; i++) {
		r->events += spec->events(sum_set__at(set, i));
		err = add_row(&t, spec, r, sum_set__at(set, i), &nkeys);
	}
	if (!err && !r->nrows)
		err = add_columns(&t, spec, r);
	task_key_names__free(&t.names);
	report__sort_rows(r, order, nkeys, table_rows(m->cli));
	return err;
}

int sum_table__report(struct sum_table *t, const struct sum_table_spec *spec, struct measurement *m, struct ring *names,
		      const char *order, struct report *r)
{
	struct sum_set set = {};
	int err;

	r->table = true;
	r->has_events = true;
	err = read_interval(t, &set, &spec->layout, m, &r->counters);
	if (!err && names)
		err = ring__drain(names);
	if (!err && spec->add_quiet)
		err = spec->add_quiet(m->own, &set);
	if (!err)
		err = add_rows(m, spec, r, order, &set);
	sum_set__free(&set);
	return err;
}

void sum_table__free(struct sum_table *t)
{
	sum_set__free(&t->before);
}
