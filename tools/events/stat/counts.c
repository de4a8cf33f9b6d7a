// SPDX-License-Identifier: BSD-2-Clause
#include "events/stat/counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int counts__add(struct counts *c, const struct count *each)
{
	return ARRAY_APPEND(c->count, c->n, *each);
}

static int compare(const void *a, const void *b)
{
	const struct count *x = a, *y = b;
	int d = memcmp(&x->key, &y->key, sizeof(x->key));

	if (d)
		return d;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void add_up(struct count *to, const struct count *from)
{
	to->value += from->value;
	to->enabled_ns += from->enabled_ns;
	to->running_ns += from->running_ns;
	if (from->name_stamp > to->name_stamp) {
		to->name_stamp = from->name_stamp;
		memcpy(to->name, from->name, sizeof(to->name));
	}
}

void counts__settle(struct counts *c)
{
	size_t i, n = 0;

	if (!c->n)
		return;
	qsort(c->count, c->n, sizeof(*c->count), compare);
	for (i = 1; i < c->n; i++) {
		if (!compare(&c->count[n], &c->count[i]))
			add_up(&c->count[n], &c->count[i]);
		else
			c->count[++n] = c->count[i];
	}
	c->n = n + 1;
}

void counts__subtract(struct counts *later, const struct counts *earlier)
{
	size_t i, k = 0;

	for (i = 0; i < later->n; i++) {
		struct count *now = &later->count[i];

		while (k < earlier->n && compare(&earlier->count[k], now) < 0)
			k++;
		if (k == earlier->n || compare(&earlier->count[k], now))
			continue;
		now->value -= earlier->count[k].value;
		now->enabled_ns -= earlier->count[k].enabled_ns;
		now->running_ns -= earlier->count[k].running_ns;
	}
}

void counts__fold(struct counts *c, const int *place, size_t n)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		int *at = &c->count[i].place;

		*at = place && *at >= 0 && (size_t)*at < n ? place[*at] : COUNT_EVERYWHERE;
	}
	counts__settle(c);
}

void counts__regroup(struct counts *c, void (*change)(void *context, void *key), void *context)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		change(context, &c->count[i].key);
	counts__settle(c);
}

int counts__copy(struct counts *to, const struct counts *from)
{
	size_t i;

	*to = (struct counts){};
	for (i = 0; i < from->n; i++) {
		if (counts__add(to, &from->count[i])) {
			counts__free(to);
			return -ENOMEM;
		}
	}
	return 0;
}

void counts__free(struct counts *c)
{
	free(c->count);
	*c = (struct counts){};
}

bool count__scale(const struct count *each, u64 *value, double *running)
{
	*value = each->value;
	*running = 100;
	if (each->enabled_ns == each->running_ns)
		return true;
	*running = 100.0 * each->running_ns / each->enabled_ns;
	if (*running < 1)
		return false;
	*value = ((unsigned __int128)each->value * each->enabled_ns + each->running_ns / 2) / each->running_ns;
	return true;
}
