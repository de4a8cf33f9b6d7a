// SPDX-License-Identifier: BSD-2-Clause
#include "agg/latency_set.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg/elements.h"
#include "base/array.h"

int latency_set__add(struct latency_set *set, const struct latency *each)
{
	return ARRAY_APPEND(set->latency, set->n, *each);
}

static int compare(const void *a, const void *b)
{
	const struct latency *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static bool is_longer(const struct latency *a, const struct latency *b)
{
	if (!a->has_longest || !b->has_longest)
		return a->has_longest && !b->has_longest;
	if (a->longest_ns != b->longest_ns)
		return a->longest_ns > b->longest_ns;
	return a->longest_at_ns < b->longest_at_ns;
}

static void add_up(struct latency *to, const struct latency *from)
{
	to->run_ns += from->run_ns;
	to->switches += from->switches;
	to->wait_ns += from->wait_ns;
	if (is_longer(from, to)) {
		to->has_longest = true;
		to->longest_ns = from->longest_ns;
		to->longest_at_ns = from->longest_at_ns;
	}
	if (from->name_stamp > to->name_stamp || !to->name[0]) {
		to->name_stamp = from->name_stamp;
		memcpy(to->name, from->name, sizeof(to->name));
	}
}

void latency_set__settle(struct latency_set *set)
{
	size_t i, n = 0;

	if (!set->n)
		return;
	qsort(set->latency, set->n, sizeof(*set->latency), compare);
	for (i = 1; i < set->n; i++) {
		if (!compare(&set->latency[n], &set->latency[i]))
			add_up(&set->latency[n], &set->latency[i]);
		else
			set->latency[++n] = set->latency[i];
	}
	set->n = n + 1;
}

void latency_set__regroup(struct latency_set *set, void (*change)(void *context, void *key), void *context)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		change(context, &set->latency[i].key);
	latency_set__settle(set);
}

static int add_element(struct latency_set *set, const struct schedlat_key *key,
		       const struct schedlat_task *task, u64 interval)
{
	struct latency each = {
		.key = key->task, .run_ns = task->run_ns, .switches = task->switches,
		.wait_ns = task->wait_ns, .name_stamp = task->name_stamp,
	}, candidate = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(task->longest); i++) {
		const struct schedlat_longest *l = &task->longest[i];

		if (l->interval != interval && l->interval != interval + 1)
			continue;
		candidate.has_longest = true;
		candidate.longest_ns = l->wait_ns;
		candidate.longest_at_ns = l->at_ns;
		if (is_longer(&candidate, &each)) {
			each.has_longest = true;
			each.longest_ns = l->wait_ns;
			each.longest_at_ns = l->at_ns;
		}
	}
	memcpy(each.name, task->name, sizeof(each.name));
	return latency_set__add(set, &each);
}

int latency_set__read(struct latency_set *set, int map_fd, u64 interval,
		      volatile u32 *generation, bool *anew)
{
	struct elements e = {
		.key_size = sizeof(struct schedlat_key), .value_size = sizeof(struct schedlat_task),
	};
	const struct writer_place writer = {
		.at = offsetof(struct schedlat_key, writer), .generation = generation,
	};
	int err = elements__take(&e, map_fd, &writer, anew);
	size_t i;

	for (i = 0; i < e.n && !err; i++)
		err = add_element(set, elements__key(&e, i), elements__value(&e, i), interval);
	elements__free(&e);
	return err;
}

int latency_set__copy(struct latency_set *to, const struct latency_set *from)
{
	size_t i;

	*to = (struct latency_set){};
	for (i = 0; i < from->n; i++) {
		if (latency_set__add(to, &from->latency[i])) {
			latency_set__free(to);
			return -ENOMEM;
		}
	}
	return 0;
}

int latency_set__read_running(struct latency_set *set, int fd)
{
	struct schedlat_running running[64];
	size_t have = 0, i;
	ssize_t n;
	int err;

	/* A read may end in the middle of a record. */
	while ((n = read(fd, (char *)running + have, sizeof(running) - have)) > 0) {
		have += n;
		for (i = 0; i < have / sizeof(*running); i++) {
			struct latency each = { .key = running[i].task, .run_ns = running[i].run_ns };

			memcpy(each.name, running[i].name, sizeof(each.name));
			err = latency_set__add(set, &each);
			if (err)
				return err;
		}
		have %= sizeof(*running);
		memmove(running, &running[i], have);
	}
	return n < 0 ? -errno : 0;
}

int latency_set__difference(struct latency_set *out, struct latency_set *later,
			    const struct latency_set *earlier)
{
	size_t i, k = 0;

	*out = (struct latency_set){};
	for (i = 0; i < later->n; i++) {
		struct latency *now = &later->latency[i], each = *now;
		const struct latency *then;

		while (k < earlier->n && compare(&earlier->latency[k], now) < 0)
			k++;
		if (k < earlier->n && !compare(&earlier->latency[k], now)) {
			then = &earlier->latency[k];
			if (now->run_ns < then->run_ns)
				now->run_ns = then->run_ns;
			each.run_ns = now->run_ns - then->run_ns;
			each.switches -= then->switches;
			each.wait_ns -= then->wait_ns;
		}
		/*
		 * No switch in this interval: the wait is the next interval's, or was shown
		 * already.
		 */
		if (!each.switches)
			each.has_longest = false;
		if ((each.switches || each.run_ns) && latency_set__add(out, &each)) {
			latency_set__free(out);
			return -ENOMEM;
		}
	}
	return 0;
}

void latency_set__free(struct latency_set *set)
{
	free(set->latency);
	*set = (struct latency_set){};
}
