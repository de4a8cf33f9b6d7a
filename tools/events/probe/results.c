// SPDX-License-Identifier: BSD-2-Clause
#include "events/probe/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "agg/wide.h"

static bool has_histograms(const struct results_plan *plan)
{
	return plan->what == PROBE_HIST || plan->what == PROBE_BOUNDS;
}

static u32 size_of_elements(const struct bpf_object *obj, const char *name)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(obj, name);

	return map ? bpf_map__value_size(map) : 0;
}

int results__begin(struct results *r, const struct results_plan *plan, const struct bpf_object *obj)
{
	u32 key_size = sizeof(struct hist_slot) + plan->layout.size;

	*r = (struct results){
		.plan = plan,
		.obj = obj,
		.losses_fd = bpf_object__find_map_fd_by_name(obj, "losses"),
		.sum_maps =
			{
				.plain_fd = bpf_object__find_map_fd_by_name(obj, "sums"),
				.keyed_fd = bpf_object__find_map_fd_by_name(obj, "keyed_sums"),
				.nevents = plan->nevents,
				.key_size = key_size,
				.size = size_of_elements(obj, plan->keyed ? "keyed_sums" : "sums"),
				.keyed = plan->keyed,
				.in_turns = probe_sum__in_turns(plan->what, plan->ncounters),
				.generation = elements__generation(obj),
				.bias = plan->bias,
			},
		.hist_maps =
			{
				.whole_fd = bpf_object__find_map_fd_by_name(obj, "values"),
				.keyed_fd = bpf_object__find_map_fd_by_name(obj, "keyed_values"),
				.key_size = key_size,
				.keyed = plan->keyed,
				.is_signed = plan->bias,
				.generation = elements__generation(obj),
			},
		.names =
			{
				.event = plan->event,
				.nevents = plan->nevents,
				.hierarchy = plan->hierarchy,
				.cgroups = plan->cgroups,
			},
	};
	if (r->losses_fd < 0 || r->sum_maps.plain_fd < 0 || r->sum_maps.keyed_fd < 0 ||
	    r->hist_maps.whole_fd < 0 || r->hist_maps.keyed_fd < 0 || !r->sum_maps.generation)
		return -ENOENT;
	return 0;
}

/* Containers and units: keys by cgroup are shown under their names. */
static void change_key(void *context, void *key)
{
	struct results *r = context;

	r->err = r->err ?: layout__merge_key(&r->plan->layout, key, &r->names);
}

static int report_losses(struct results *r, struct report *report)
{
	struct loss_counters now;
	int err = loss__read(&now, r->losses_fd, r->obj);
	size_t i;

	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(r->plan->attachments); i++)
		if (r->plan->attachments[i])
			now.lost[LOSS_RECURSION] += attach__misses(r->plan->attachments[i]);
	now.lost[LOSS_UNWOUND] += r->left;
	report->counters = loss__difference(&now, &r->losses_before);
	report->has_events = true;
	r->losses_before = now;
	return 0;
}

/*
 * --- histograms --------------------------------------------------------------------------------
 */

static int hist_difference(struct results *r, struct hist_set *d)
{
	struct hist_set now;
	size_t i;
	int err;

	err = hist_set__read(&now, &r->hist_maps);
	if (err)
		return err;
	for (i = 0; r->plan->what == PROBE_BOUNDS && i < now.ngroups; i++)
		histogram__set_bounds(&now.group[i].hist, r->plan->bound, r->plan->nbounds);
	err = hist_set__difference(d, &now, &r->hists_before);
	if (err) {
		hist_set__free(&now);
		return err;
	}
	hist_set__replace(&r->hists_before, &now);
	if (r->plan->keyed && layout__merges(&r->plan->layout))
		err = hist_set__regroup(d, change_key, r);
	if (err || r->err)
		hist_set__free(d);
	return err ?: r->err;
}

static int add_group(struct results *r, struct report *report, struct hist_group *from)
{
	struct report_row key = {};
	struct report_group g;
	int err = 0;

	if (r->plan->keyed)
		err = layout__add_cells(&key, &r->plan->layout, from->key, from->name, &r->names);
	if (err)
		return err;
	g = (struct report_group){ .key = key.cell, .nkey = key.ncells, .hist = from->hist };
	memset(&from->hist, 0, sizeof(from->hist));
	report->events += g.hist.count;
	return report__add_group(report, &g);
}

static int add_key_columns(struct results *r, struct report *report)
{
	void *none = calloc(1, r->plan->layout.size ?: 1);
	struct report_row row = {};
	int err = none ? layout__add_cells(&row, &r->plan->layout, none, "", &r->names) : -ENOMEM;

	free(none);
	return report__end_columns(report, &row, err);
}

static int report_histograms(struct results *r, struct report *report)
{
	struct hist_set d;
	int err = hist_difference(r, &d);
	size_t i;

	if (err)
		return err;
	for (i = 0; i < d.ngroups && !err; i++)
		err = add_group(r, report, &d.group[i]);
	if (!err && !d.ngroups)
		err = add_key_columns(r, report);
	hist_set__free(&d);
	return err;
}

/*
 * --- sums --------------------------------------------------------------------------------------
 */

static int sum_difference(struct results *r, struct probe_sums *d)
{
	struct probe_sums now;
	int err = probe_sums__read(&now, &r->sum_maps);

	if (err)
		return err;
	err = probe_sums__difference(d, &now, &r->sums_before);
	if (err) {
		probe_sums__free(&now);
		return err;
	}
	probe_sums__free(&r->sums_before);
	if (now.anew)
		probe_sums__free(&now);
	r->sums_before = now;
	if (r->plan->keyed && layout__merges(&r->plan->layout))
		probe_sums__regroup(d, change_key, r, r->plan->bias);
	if (r->err)
		probe_sums__free(d);
	return r->err;
}

static const struct {
	u32 figure;
	const char *name;
	enum field_role role;
} figures[] = {
	{ RESULT_COUNT, "count", ROLE_COUNTER }, { RESULT_SUM, "sum", ROLE_COUNTER }, { RESULT_AVG, "avg", ROLE_MEAN },
	{ RESULT_MIN, "min", ROLE_MINIMUM },     { RESULT_MAX, "max", ROLE_MAXIMUM },
};

static u32 figures_of(const struct results_plan *plan)
{
	return plan->what == PROBE_COUNT ? RESULT_COUNT : plan->figures | RESULT_COUNT;
}

/* Averages of times are whole nanoseconds, those of other numbers have decimals. */
static struct field average(const struct results_plan *plan, const struct sum_entry *e)
{
	struct field f = { .name = "avg", .role = ROLE_MEAN, .of = "sum", .per = "count" };

	if (plan->is_time) {
		f.kind = FIELD_TIME;
		f.number = e->sum / (__int128)e->count;
		return f;
	}
	f.kind = FIELD_REAL;
	f.decimals = 2;
	f.real = (long double)e->sum / e->count;
	f.exact = e->sum;
	f.exact_per = e->count;
	return f;
}

/* Sums beyond 64 bits become reals. */
static struct field total(const struct results_plan *plan, __int128 sum, struct field f)
{
	if (wide_fits(sum, plan->is_signed)) {
		f.number = sum;
		return f;
	}
	f.kind = FIELD_REAL;
	f.real = sum;
	f.exact = sum;
	f.exact_per = 1;
	return f;
}

static struct field figure(const struct results_plan *plan, const struct sum_entry *e, size_t i)
{
	struct field f = { .name = figures[i].name, .role = figures[i].role };

	if (figures[i].figure == RESULT_COUNT) {
		f.number = e->count;
		return f;
	}
	if (figures[i].figure == RESULT_AVG)
		return average(plan, e);
	f.kind = plan->is_time ? FIELD_TIME : plan->is_signed ? FIELD_SIGNED : FIELD_NUMBER;
	if (figures[i].figure == RESULT_SUM)
		return total(plan, e->sum, f);
	else
		f.number = figures[i].figure == RESULT_MIN ? e->min : e->max;
	return f;
}

static int add_counter(struct report_row *row, const struct results_counter *counter, u64 sum,
		       u64 count)
{
	struct field all = { .name = counter->name, .number = sum, .role = ROLE_COUNTER };
	struct field each = { .name = counter->each, .role = ROLE_MEAN, .of = counter->name, .per = "count" };

	all.kind = counter->is_time ? FIELD_TIME : FIELD_NUMBER;
	each.kind = counter->is_time ? FIELD_TIME : FIELD_REAL;
	each.number = sum / count;
	each.real = (double)sum / count;
	each.decimals = 2;
	each.exact = sum;
	each.exact_per = count;
	return report_row__add_field(row, &all) ?: report_row__add_field(row, &each);
}

static int add_row(struct results *r, struct report *report, const struct sum_entry *e)
{
	u32 wanted = figures_of(r->plan);
	struct report_row row = {};
	struct field f;
	size_t i;
	int err;

	if (r->plan->keyed)
		err = layout__add_cells(&row, &r->plan->layout, e->key, e->name, &r->names);
	else
		err = report_row__add_text(&row, "event", e->event < r->plan->nevents ?
								  r->plan->event[e->event] : NULL);
	for (i = 0; i < ARRAY_SIZE(figures) && !err; i++) {
		if (!(wanted & figures[i].figure))
			continue;
		f = figure(r->plan, e, i);
		err = report_row__add_field(&row, &f);
	}
	for (i = 0; i < r->plan->ncounters && !err; i++)
		err = add_counter(&row, &r->plan->counter[i], e->counter[i], e->count);
	if (err) {
		report_row__free(&row);
		return err;
	}
	report->events += e->count;
	return report__add_row(report, &row);
}

static int add_columns(struct results *r, struct report *report)
{
	const struct sum_entry none = { .key = calloc(1, r->plan->layout.size ?: 1), .count = 1 };
	u64 events = report->events;
	int err = none.key ? add_row(r, report, &none) : -ENOMEM;

	free((void *)none.key);
	report->events = events;
	return report__keep_columns(report, err);
}

static const char *default_column(const struct results_plan *plan)
{
	u32 wanted = figures_of(plan);
	size_t i;

	for (i = 1; i < ARRAY_SIZE(figures); i++)
		if (wanted & figures[i].figure)
			return figures[i].name;
	return figures[0].name;
}

bool results__has_column(const struct results_plan *plan, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(figures); i++)
		if (figures_of(plan) & figures[i].figure && !strcmp(figures[i].name, name))
			return true;
	for (i = 0; plan->keyed && i < plan->layout.n; i++)
		if (!strcmp(plan->layout.field[i].name, name))
			return true;
	return !plan->keyed && !strcmp(name, "event");
}

static int report_sums(struct results *r, const struct cli *cli, const char *sort,
		       struct report *report)
{
	size_t nkeys = r->plan->keyed ? layout__ncells(&r->plan->layout) : 1, i;
	struct probe_sums d;
	int err = sum_difference(r, &d);

	if (err)
		return err;
	report->table = true;
	for (i = 0; i < d.n && !err; i++)
		err = add_row(r, report, &d.entry[i]);
	if (!err && !report->nrows)
		err = add_columns(r, report);
	probe_sums__free(&d);
	report__sort_rows(report, sort ?: default_column(r->plan), nkeys, cli->top);
	return err;
}

int results__report(struct results *r, const struct cli *cli, const char *sort,
		    struct report *report)
{
	int err = report_losses(r, report);

	if (err || r->plan->what == PROBE_STREAM)
		return err;
	if (has_histograms(r->plan))
		return report_histograms(r, report);
	return report_sums(r, cli, sort, report);
}

void results__free(struct results *r)
{
	probe_sums__free(&r->sums_before);
	hist_set__free(&r->hists_before);
	layout_names__free(&r->names);
}
