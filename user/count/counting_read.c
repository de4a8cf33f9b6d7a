// SPDX-License-Identifier: BSD-2-Clause
/* Snapshots of what has been counted. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "count/counting_parts.h"

#include "bpf/counting.h"
#include "counting.skel.h"

static int read_counters(const struct counting *c, struct counts *counts)
{
	int err = 0;
	size_t i;

	for (i = 0; i < c->counters.n && !err; i++) {
		const struct counter *each = &c->counters.counter[i];
		struct count count = {
			.row = c->plan->row[each->site],
			.place = c->plan->per_cpu ? each->cpu : COUNT_EVERYWHERE,
		};
		struct counter_value value;

		if (each->fd < 0)
			continue;
		err = counter__read(each, &value);
		count.value = value.value;
		count.enabled_ns = value.enabled_ns;
		count.running_ns = value.running_ns;
		if (!err)
			err = counts__add(counts, &count);
	}
	return err;
}

/* A place in code without a key: its slot of the per-CPU array. */
static int read_slots(const struct counting *c, struct counts *counts)
{
	int map = bpf_map__fd(c->bpf->maps.counts), ncpus = c->run->host.cpus_possible;
	int cpu, err = 0;
	u64 *per_cpu = calloc(ncpus, sizeof(*per_cpu));
	u32 row;

	if (!per_cpu)
		return -ENOMEM;
	for (row = 0; row < c->plan->nrows && !err; row++) {
		err = bpf_map_lookup_elem(map, &row, per_cpu);
		for (cpu = 0; cpu < ncpus && !err; cpu++) {
			struct count count = {
				.row = row, .value = per_cpu[cpu],
				.place = c->plan->per_cpu ? cpu : COUNT_EVERYWHERE,
			};

			if (count.value)
				err = counts__add(counts, &count);
		}
	}
	free(per_cpu);
	return err;
}

static void take_name(struct count *count, u64 stamp, const char *name)
{
	count->name_stamp = stamp;
	memcpy(count->name, name, sizeof(count->name));
}

static int add_keyed(const struct counting *c, struct counts *counts,
		     const struct counting_key *key, const struct counting_count *value)
{
	struct count count = {
		.key = key->task, .row = key->slot, .value = value->count,
		.place = c->plan->per_cpu ? (int)key->cpu : COUNT_EVERYWHERE,
	};

	take_name(&count, value->name_stamp, value->name);
	return counts__add(counts, &count);
}

static int add_charges(const struct counting *c, struct counts *counts,
		       const struct counting_key *key, const struct counting_charge *value)
{
	int err = 0;
	size_t i;

	for (i = 0; i < c->ncharged && !err; i++) {
		struct count count = {
			.key = key->task, .row = c->plan->row[c->charged[i]],
			.value = value->counter[i].value,
			.enabled_ns = value->counter[i].enabled_ns,
			.running_ns = value->counter[i].running_ns,
			.place = c->plan->per_cpu ? (int)key->cpu : COUNT_EVERYWHERE,
		};

		take_name(&count, value->name_stamp, value->name);
		err = counts__add(counts, &count);
	}
	return err;
}

/* Nothing is ever deleted from these maps, so walking them meets each element once. */
static int read_map(const struct counting *c, struct counts *counts, struct bpf_map *map,
		    bool charges)
{
	size_t key_size = bpf_map__key_size(map), value_size = bpf_map__value_size(map);
	void *value = calloc(1, value_size);
	char *key = calloc(2, key_size), *next = key ? key + key_size : NULL, *from = NULL;
	int fd = bpf_map__fd(map), err = key && value ? 0 : -ENOMEM;

	while (!err && !bpf_map_get_next_key(fd, from, next)) {
		memcpy(key, next, key_size);
		from = key;
		err = bpf_map_lookup_elem(fd, key, value);
		if (!err)
			err = charges ? add_charges(c, counts, (void *)key, value) :
					add_keyed(c, counts, (void *)key, value);
	}
	free(key);
	free(value);
	return err;
}

/* The counts of a system call in its first row are those of all its rows. */
static int copy_twins(const struct counting *c, struct counts *counts)
{
	size_t n = counts->n, i, k;
	const volatile u32 *slot;
	int err = 0;

	for (i = 0; i < c->plan->sites->n; i++) {
		slot = counting_syscall_slot(c, i);
		if (!slot || *slot == c->plan->row[i] + 1)
			continue;
		for (k = 0; k < n && !err; k++) {
			struct count twin = counts->count[k];

			if (twin.row + 1 != *slot)
				continue;
			twin.row = c->plan->row[i];
			err = counts__add(counts, &twin);
		}
	}
	return err;
}

int counting__read(struct counting *c, struct counts *counts, struct loss_counters *losses)
{
	int err = 0;

	*counts = (struct counts){};
	*losses = (struct loss_counters){};
	if (c->charges)
		err = counting_charge_now(c);
	else
		err = read_counters(c, counts);
	if (!err && c->bpf && !c->plan->by)
		err = read_slots(c, counts);
	if (!err && c->bpf && c->plan->by)
		err = read_map(c, counts, c->bpf->maps.keyed_counts, false);
	if (!err && c->charges)
		err = read_map(c, counts, c->bpf->maps.charges, true);
	if (!err && c->bpf)
		err = copy_twins(c, counts);
	if (!err && c->bpf)
		err = loss__read(losses, bpf_map__fd(c->bpf->maps.losses), c->bpf->obj);
	if (!err)
		losses->lost[LOSS_RECURSION] += attach__misses(&c->attachments);
	if (err)
		counts__free(counts);
	counts__settle(counts);
	return err;
}
