// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "machine/vitals/vital.h"

int readings__add(struct readings *r, const struct reading *reading, const char *object)
{
	struct reading copy = *reading;

	copy.object = strdup(object ?: "-");
	if (!copy.object)
		return -ENOMEM;
	if (!ARRAY_APPEND(r->reading, r->n, copy))
		return 0;
	free(copy.object);
	return -ENOMEM;
}

static int compare(const void *a, const void *b)
{
	const struct reading *x = a, *y = b;

	if (x->vital != y->vital)
		return x->vital < y->vital ? -1 : 1;
	return strcmp(x->object, y->object) ?: (x->id > y->id) - (x->id < y->id);
}

void readings__sort(struct readings *r)
{
	if (r->n)
		qsort(r->reading, r->n, sizeof(*r->reading), compare);
}

const struct reading *readings__find(const struct readings *r, const struct reading *like)
{
	return r->n ? bsearch(like, r->reading, r->n, sizeof(*like), compare) : NULL;
}

void readings__free(struct readings *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		free(r->reading[i].object);
	free(r->reading);
	*r = (struct readings){};
}

struct vital_change vital_change(const struct reading *before, const struct reading *now, bool is_new)
{
	static const struct reading zero;
	enum vital_kind kind = vitals[now->vital].kind;
	struct vital_change c = { .now = now, .has_level = kind != VITAL_COUNTER };

	if (kind == VITAL_GAUGE)
		return c;
	if (!before && is_new)
		before = &zero;
	if (!before || (kind == VITAL_COUNTER && now->value < before->value))
		return c;
	c.has_count = true;
	c.count = now->value > before->value ? now->value - before->value : 0;
	c.elapsed_ns = before->at_ns ? now->at_ns - before->at_ns : 0;
	/* The bytes that a link could carry are known only if its speed has not changed. */
	c.has_whole = now->has_whole && before->has_whole && now->whole > before->whole && now->limit == before->limit;
	c.whole = c.has_whole ? now->whole - before->whole : 0;
	return c;
}

double vital_of_limit(const struct vital_change *c)
{
	return c->has_level && c->now->has_limit && c->now->limit ? 100.0 * c->now->value / c->now->limit : -1;
}

double vital_of_whole(const struct vital_change *c)
{
	return c->has_count && c->has_whole ? 100.0 * c->count / c->whole : -1;
}

double vital_nearness(const struct vital_change *c)
{
	const struct vital *v = &vitals[c->now->vital];
	double percent = v->kind == VITAL_COUNTER ? vital_of_whole(c) : vital_of_limit(c);

	return v->near && percent >= v->near ? percent : -1;
}

bool vital_is_finding(const struct vital_change *c)
{
	const struct vital *v = &vitals[c->now->vital];

	return (v->is_error && c->has_count && c->count) || vital_nearness(c) >= 0;
}
