// SPDX-License-Identifier: BSD-2-Clause
#include "agg/measure.h"

#include <string.h>

#include "agg/task_key.h"

/* How many segments a key fills: CPUs it is seen on, times groups of four powers of two. */
#define SEGMENTS_WHEN_CHEAP (8 * 4)
#define SEGMENTS_WHEN_ALLOCATED (4 * 2)

int measure__prepare_map(struct bpf_map *map, const struct host *host, u32 max_keys, bool keyed)
{
	bool on_demand = host->version >= KERNEL_VERSION(6, 1, 0);
	u64 per_key = on_demand ? SEGMENTS_WHEN_CHEAP : SEGMENTS_WHEN_ALLOCATED;
	u64 cpus = on_demand ? 8 : 4, entries;
	int err;

	if (!keyed)
		return bpf_map__set_max_entries(map, 1);
	if ((u64)host->cpus_online < cpus)
		per_key = per_key / cpus * host->cpus_online;
	entries = per_key * max_keys;
	if (entries > 1U << 30)
		entries = 1U << 30;
	err = bpf_map__set_max_entries(map, entries);
	if (!err && on_demand)
		err = bpf_map__set_map_flags(map, BPF_F_NO_PREALLOC);
	return err;
}

/* Returns what this interval saw in *set; the snapshot becomes the next call's "before". */
static int difference(struct measure *m, struct hist_set *set, struct loss_counters *losses)
{
	struct loss_counters losses_now;
	struct hist_set now;
	int err;

	err = loss__read(&losses_now, m->losses_fd, m->obj);
	if (!err)
		err = hist_set__read(&now, &m->maps);
	if (err)
		return err;
	err = hist_set__difference(set, &now, &m->before);
	if (err) {
		hist_set__free(&now);
		return err;
	}
	*losses = loss__difference(&losses_now, &m->losses_before);
	hist_set__free(&m->before);
	m->before = now;
	m->losses_before = losses_now;
	return 0;
}

int measure__report(struct measure *m, struct report *r, const struct cli *cli)
{
	struct hist_set set;
	int err, column;
	size_t i;

	err = difference(m, &set, &r->counters);
	if (err)
		return err;
	r->has_events = true;
	for (i = 0; i < set.ngroups; i++)
		r->events += set.group[i].hist.count;
	err = task_key__report(r, &set, cli->by, m->hierarchy);
	hist_set__free(&set);
	column = cli->sort >= 0 ? cli->sort : report_sort_column(cli->by == BY_CPU ? "key" : "sum");
	report__sort_groups(r, column, cli->top);
	return err;
}

void measure__free(struct measure *m)
{
	hist_set__free(&m->before);
}
