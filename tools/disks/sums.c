// SPDX-License-Identifier: BSD-2-Clause
#include "disks/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"

static int compare(const void *a, const void *b)
{
	const struct request_sums *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static struct request_sums of_element(const struct biotop_key *key, const struct biotop_sums *s,
				      u64 interval)
{
	struct request_sums sums = {
		.key = *key, .requests = s->requests, .bytes = s->bytes, .queue_ns = s->queue_ns,
		.device_ns = s->device_ns, .errors = s->errors, .requeues = s->requeues,
		.name_stamp = s->name_stamp,
	};
	size_t i;

	sums.key.writer = 0;
	memcpy(sums.name, s->name, sizeof(sums.name));
	for (i = 0; i < ARRAY_SIZE(s->slowest); i++) {
		const struct biotop_slowest *slow = &s->slowest[i];

		if ((slow->interval == interval || slow->interval == interval + 1) &&
		    slow->ns > sums.slowest_ns)
			sums.slowest_ns = slow->ns;
	}
	return sums;
}

static void add_up(struct request_sums *to, const struct request_sums *from)
{
	to->requests += from->requests;
	to->bytes += from->bytes;
	to->queue_ns += from->queue_ns;
	to->device_ns += from->device_ns;
	to->errors += from->errors;
	to->requeues += from->requeues;
	if (from->slowest_ns > to->slowest_ns)
		to->slowest_ns = from->slowest_ns;
	if (from->name_stamp > to->name_stamp) {
		to->name_stamp = from->name_stamp;
		memcpy(to->name, from->name, sizeof(to->name));
	}
}

/* Sorts, and merges equal keys. */
static void settle(struct request_sums_set *set)
{
	size_t i, n = 0;

	if (!set->n)
		return;
	qsort(set->sums, set->n, sizeof(*set->sums), compare);
	for (i = 1; i < set->n; i++) {
		if (!compare(&set->sums[n], &set->sums[i]))
			add_up(&set->sums[n], &set->sums[i]);
		else
			set->sums[++n] = set->sums[i];
	}
	set->n = n + 1;
}

int request_sums__read(struct request_sums_set *set, int map_fd, u64 interval,
		       volatile u32 *generation, bool *anew)
{
	struct elements e = {
		.key_size = sizeof(struct biotop_key), .value_size = sizeof(struct biotop_sums),
	};
	const struct writer_place writer = {
		.at = offsetof(struct biotop_key, writer), .generation = generation,
	};
	int err = elements__take(&e, map_fd, &writer, anew);
	size_t i;

	*set = (struct request_sums_set){};
	if (!err && e.n) {
		set->sums = calloc(e.n, sizeof(*set->sums));
		err = set->sums ? 0 : -ENOMEM;
	}
	for (i = 0; i < e.n && !err; i++)
		set->sums[set->n++] = of_element(elements__key(&e, i), elements__value(&e, i),
						 interval);
	elements__free(&e);
	settle(set);
	return err;
}

static void subtract(struct request_sums *later, const struct request_sums *earlier)
{
	later->requests -= earlier->requests;
	later->bytes -= earlier->bytes;
	later->queue_ns -= earlier->queue_ns;
	later->device_ns -= earlier->device_ns;
	later->errors -= earlier->errors;
	later->requeues -= earlier->requeues;
}

void request_sums__subtract(struct request_sums_set *later, const struct request_sums_set *earlier)
{
	size_t i, k = 0, n = 0;

	for (i = 0; i < later->n; i++) {
		struct request_sums each = later->sums[i];

		while (k < earlier->n && compare(&earlier->sums[k], &each) < 0)
			k++;
		if (k < earlier->n && !compare(&earlier->sums[k], &each))
			subtract(&each, &earlier->sums[k]);
		if (each.requests)
			later->sums[n++] = each;
	}
	later->n = n;
}

void request_sums__regroup(struct request_sums_set *set, void (*change)(void *context, void *key), void *context)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		change(context, &set->sums[i].key);
	settle(set);
}

int request_sums__copy(struct request_sums_set *to, const struct request_sums_set *from)
{
	*to = (struct request_sums_set){};
	if (!from->n)
		return 0;
	to->sums = malloc(from->n * sizeof(*to->sums));
	if (!to->sums)
		return -ENOMEM;
	memcpy(to->sums, from->sums, from->n * sizeof(*to->sums));
	to->n = from->n;
	return 0;
}

void request_sums__free(struct request_sums_set *set)
{
	free(set->sums);
	*set = (struct request_sums_set){};
}
