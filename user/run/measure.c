// SPDX-License-Identifier: BSD-2-Clause
#include "run/measure.h"

#include <errno.h>
#include <stdio.h>

#include "agg/elements.h"
#include "cli/task_key.h"
#include "run/map_room.h"
#include "run/measurement.h"
#include "run/tabulate.h"

/* Segments per key: number of CPUs on which the key occurs, times groups of four powers of two. */
#define SEGMENTS_WHEN_CHEAP (8 * 4)
#define SEGMENTS_WHEN_ALLOCATED (4 * 2)

static int prepare_map(struct bpf_map *map, const struct host *host, u32 max_keys, bool keyed)
{
	bool on_demand = map__allocates_on_demand(host);
	u64 per_key = on_demand ? SEGMENTS_WHEN_CHEAP : SEGMENTS_WHEN_ALLOCATED;
	u64 cpus = on_demand ? 8 : 4;

	if (!keyed)
		return bpf_map__set_max_entries(map, 1);
	if ((u64)host->cpus_online < cpus)
		per_key = per_key / cpus * host->cpus_online;
	return map__set_room_for_keys(map, host, per_key * max_keys);
}

static struct bpf_map *keyed_map(const struct bpf_object *obj, const char *name)
{
	char keyed[64];

	snprintf(keyed, sizeof(keyed), "keyed_%s", name);
	return bpf_object__find_map_by_name(obj, keyed);
}

static int prepare(struct measure *m, const struct measurement *measurement, struct bpf_object *obj, const char *name,
		   size_t key_size, bool is_keyed)
{
	struct bpf_map *keyed = keyed_map(obj, name);

	if (!keyed)
		return -ENOENT;
	m->obj = obj;
	m->maps.keyed = is_keyed;
	m->maps.key_size = key_size;
	return prepare_map(keyed, &measurement->run->host, measurement->cli->max_keys, is_keyed);
}

int measure__prepare(struct measure *m, const struct measurement *measurement,
		     struct bpf_object *obj, const char *name, size_t key_size)
{
	return prepare(m, measurement, obj, name, key_size, measurement->cli->by);
}

int measure__prepare_keyed(struct measure *m, const struct measurement *measurement, struct bpf_object *obj,
			   const char *name, size_t key_size)
{
	return prepare(m, measurement, obj, name, key_size, true);
}

int measure__begin(struct measure *m, const struct measurement *measurement, const char *name)
{
	m->maps.whole_fd = bpf_object__find_map_fd_by_name(m->obj, name);
	m->maps.keyed_fd = bpf_map__fd(keyed_map(m->obj, name));
	m->maps.generation = elements__generation(m->obj);
	m->losses_fd = bpf_object__find_map_fd_by_name(m->obj, "losses");
	if (m->maps.whole_fd < 0 || m->losses_fd < 0)
		return -ENOENT;
	return measurement__fill_scope(measurement, m->obj);
}

int measure__difference(struct measure *m, struct hist_set *set, struct loss_counters *losses)
{
	struct hist_set now;
	int err;

	err = loss__since(losses, &m->losses_before, m->losses_fd, m->obj);
	if (!err)
		err = hist_set__read(&now, &m->maps);
	if (err)
		return err;
	err = hist_set__difference(set, &now, &m->before);
	if (err) {
		hist_set__free(&now);
		return err;
	}
	hist_set__replace(&m->before, &now);
	return 0;
}

static int add_groups(struct measurement *measurement, struct hist_set *set, struct report *r)
{
	double scale = measurement__scale(measurement, r);
	const struct cli *cli = measurement->cli;
	size_t i;

	r->has_events = true;
	for (i = 0; i < set->ngroups; i++) {
		if (scale != 1)
			histogram__scale(&set->group[i].hist, scale);
		r->events += set->group[i].hist.count;
	}
	return task_key__report(r, set, cli->by, cli->own_parts, measurement->cgroups);
}

int measure__groups(struct measure *m, struct measurement *measurement, struct report *r)
{
	struct hist_set set;
	int err = measure__difference(m, &set, &r->counters);

	if (err)
		return err;
	err = add_groups(measurement, &set, r);
	hist_set__free(&set);
	return err;
}

void measure__sort(struct report *r, const struct cli *cli)
{
	int column = cli->sort >= 0 ? cli->sort
				    : report_sort_column(cli->by == BY_CPU ? "key" : "sum");

	report__sort_groups(r, column, cli->top);
}

static const struct tabulation plain = {};

int measure__report(struct measure *m, struct measurement *measurement, struct report *r)
{
	int err = measure__groups(m, measurement, r);

	return err ?: measure__shape(m, measurement, r, &plain, FORM_USUAL);
}

int measure__report_set(struct measure *m, struct measurement *measurement, struct hist_set *set,
			struct report *r)
{
	int err = add_groups(measurement, set, r);

	return err ?: measure__shape(m, measurement, r, &plain, FORM_USUAL);
}

void measure__free(struct measure *m)
{
	hist_set__free(&m->before);
}
