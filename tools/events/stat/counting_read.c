// SPDX-License-Identifier: BSD-2-Clause
/* Takes snapshots of the counts. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "events/stat/counting_parts.h"

#include "bpf/events/counting.h"
#include "bpf/lib/writer.h"
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

/* Reads sites without a key from their slots in the per-CPU array. */
static int read_slots(const struct counting *c, struct counts *counts)
{
	int map = bpf_map__fd(c->bpf->maps.counts), ncpus = c->m->run->host.cpus_possible;
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

static int read_slot(const struct counting *c, u32 slot, u64 *per_cpu, u64 *sum)
{
	int cpu, err = bpf_map_lookup_elem(bpf_map__fd(c->bpf->maps.counts), &slot, per_cpu);

	*sum = 0;
	for (cpu = 0; cpu < c->m->run->host.cpus_possible && !err; cpu++)
		*sum += per_cpu[cpu];
	return err;
}

int counting__read_lost(const struct counting *c, u64 *lost)
{
	u64 *per_cpu = calloc(c->m->run->host.cpus_possible, sizeof(*per_cpu));
	const volatile u32 *slot;
	int err = per_cpu ? 0 : -ENOMEM;
	size_t i;

	memset(lost, 0, c->plan->nrows * sizeof(*lost));
	for (i = 0; i < c->plan->nrows && c->bpf && c->plan->by && !err; i++)
		err = read_slot(c, i, per_cpu, &lost[i]);
	/* As copy_twins() does. */
	for (i = 0; i < c->plan->sites->n && c->bpf && !err; i++) {
		slot = counting_syscall_slot(c, i);
		if (slot && *slot)
			lost[c->plan->row[i]] = lost[*slot - 1];
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
		.place = c->plan->per_cpu ? (int)WRITER_CPU(key->writer) : COUNT_EVERYWHERE,
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
			.place = c->plan->per_cpu ? (int)WRITER_CPU(key->writer) : COUNT_EVERYWHERE,
		};

		take_name(&count, value->name_stamp, value->name);
		err = counts__add(counts, &count);
	}
	return err;
}

static int add_elements(const struct counting *c, struct counts *counts, const struct elements *e,
			bool charges)
{
	int err = 0;
	size_t i;

	for (i = 0; i < e->n && !err; i++)
		err = charges ? add_charges(c, counts, elements__key(e, i), elements__value(e, i)) :
				add_keyed(c, counts, elements__key(e, i), elements__value(e, i));
	return err;
}

static int read_map(const struct counting *c, struct counts *counts, struct counts *left,
		    struct bpf_map *map, bool charges)
{
	struct elements e = {
		.key_size = bpf_map__key_size(map), .value_size = bpf_map__value_size(map),
	};
	const struct writer_place writer = {
		.at = offsetof(struct counting_key, writer),
		/* Without keys there is one element per CPU, and no room for more. */
		.generation = c->plan->by ? &c->bpf->bss->writer_generation : NULL,
	};
	bool anew;
	int err = elements__take(&e, bpf_map__fd(map), &writer, &anew);

	if (!err)
		err = add_elements(c, counts, &e, charges);
	if (!err && !anew)
		err = add_elements(c, left, &e, charges);
	elements__free(&e);
	return err;
}

/* Copies the counts of a system call from its first row to its other rows. */
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

/* For counters, and programs without keys: the whole snapshot stays in the kernel. */
static int read_unkeyed(struct counting *c, struct counts *counts, struct counts *left)
{
	int err = c->charges ? counting_charge_now(c) : read_counters(c, counts);

	if (!err && c->bpf && !c->plan->by)
		err = read_slots(c, counts);
	return err ?: counts__copy(left, counts);
}

static int read_all(struct counting *c, struct counts *counts, struct counts *left)
{
	int err = read_unkeyed(c, counts, left);

	if (!err && c->bpf && c->plan->by)
		err = read_map(c, counts, left, c->bpf->maps.keyed_counts, false);
	if (!err && c->charges)
		err = read_map(c, counts, left, c->bpf->maps.charges, true);
	if (!err && c->bpf)
		err = copy_twins(c, counts);
	if (!err && c->bpf)
		err = copy_twins(c, left);
	return err;
}

int counting__read(struct counting *c, struct counts *counts, struct counts *left,
		   struct loss_counters *losses)
{
	int err;

	*counts = *left = (struct counts){};
	*losses = (struct loss_counters){};
	err = read_all(c, counts, left);
	if (!err && c->bpf)
		err = loss__read(losses, bpf_map__fd(c->bpf->maps.losses), c->bpf->obj);
	if (!err)
		losses->lost[LOSS_RECURSION] += attach__misses(&c->attachments);
	if (err) {
		counts__free(counts);
		counts__free(left);
	}
	counts__settle(counts);
	counts__settle(left);
	return err;
}
