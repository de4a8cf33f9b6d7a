// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/slow_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/histogram.h"
#include "base/array.h"
#include "calls/why/cause.h"
#include "cli/order.h"

/* An element of the set of sums. */
struct span_element {
	struct span_key key;
	struct span_sums sums;
};

const struct sum_layout span_layout = {
	.key_size = sizeof(struct span_key),
	.value_size = sizeof(struct span_sums),
	.writer_at = offsetof(struct span_key, writer),
	.nsums = sizeof(struct span_sums) / sizeof(u64),
};

/*
 * --- the two sides -----------------------------------------------------------------------------
 */

static const struct span_element *at(const struct sum_set *set, size_t i)
{
	return sum_set__at(set, i);
}

/*
 * Returns the lowest class such that it and the slower classes contain at most a tenth of the calls. If even the
 * slowest class with calls contains more, returns this class.
 */
static u32 class_of_slowest(const struct sum_set *set)
{
	u64 calls[HIST_BUCKETS] = {}, all = 0, above = 0;
	u32 at_class, last = 0;
	size_t i;

	for (i = 0; i < set->n; i++)
		if (at(set, i)->key.phase == WHY_PHASES && at(set, i)->key.class < HIST_BUCKETS) {
			calls[at(set, i)->key.class] += at(set, i)->sums.calls;
			all += at(set, i)->sums.calls;
		}
	for (i = HIST_BUCKETS; i > 0; i--) {
		at_class = i - 1;
		above += calls[at_class];
		if (calls[at_class] && last && above > all / 10)
			break;
		if (calls[at_class])
			last = at_class;
	}
	return last;
}

struct limit {
	u32 class;
};

static void choose_side(void *context, void *key)
{
	const struct limit *limit = context;
	struct span_key *k = key;

	k->class = k->class >= limit->class;
}

void slow_rows__divide(struct sum_set *set, struct span_sides *sides, u64 limit_ns)
{
	struct limit limit = { .class = 1 };
	size_t i;

	*sides = (struct span_sides){ .limit_ns = limit_ns };
	if (!limit_ns) {
		limit.class = class_of_slowest(set);
		sides->limit_ns = histogram_bucket_first(limit.class);
	}
	sum_set__regroup(set, choose_side, &limit);
	for (i = 0; i < set->n; i++) {
		struct span_side *side = at(set, i)->key.class ? &sides->slow : &sides->rest;

		if (at(set, i)->key.phase != WHY_PHASES)
			continue;
		side->calls += at(set, i)->sums.calls;
		side->ns += at(set, i)->sums.ns;
	}
}

/*
 * --- causes ------------------------------------------------------------------------------------
 */

/* A row. side[1] describes slow calls. */
struct cause {
	u32 slot, kind;
	enum why_cause cause;
	struct span_part side[2];
};

struct causes {
	struct cause *cause;
	size_t n;
};

static int add_part(struct causes *c, const struct cause *key, u32 side, u64 ns, u64 calls)
{
	struct cause *to = NULL;
	size_t i;

	for (i = 0; i < c->n && !to; i++)
		if (c->cause[i].slot == key->slot && c->cause[i].kind == key->kind && c->cause[i].cause == key->cause)
			to = &c->cause[i];
	if (!to) {
		if (ARRAY_APPEND(c->cause, c->n, *key))
			return -ENOMEM;
		to = &c->cause[c->n - 1];
	}
	to->side[side].ns += ns;
	to->side[side].calls += calls;
	return 0;
}

static struct cause cause_of(const struct span_key *key, u32 phase)
{
	const struct why_key as = { .slot = key->slot, .phase = phase, .kind = key->kind };

	return (struct cause){ .slot = key->slot, .kind = key->kind, .cause = why_cause_of(&as) };
}

/* Divides the time on a CPU by mode, in proportion to the kernel's ticks. Without a tick, it remains undivided. */
static int add_on_cpu(struct causes *c, const struct span_element *e)
{
	const struct span_sums *s = &e->sums;
	const struct cause user = cause_of(&e->key, WHY_USER), system = cause_of(&e->key, WHY_SYSTEM);
	u64 ticks = s->user + s->system, user_ns;
	int err;

	if (!ticks) {
		const struct cause undivided = cause_of(&e->key, WHY_ON_CPU);

		return add_part(c, &undivided, e->key.class, s->ns, s->calls);
	}
	user_ns = (u64)((unsigned __int128)s->ns * s->user / ticks);
	err = user_ns ? add_part(c, &user, e->key.class, user_ns, s->calls) : 0;
	if (!err && user_ns < s->ns)
		err = add_part(c, &system, e->key.class, s->ns - user_ns, s->calls);
	return err;
}

/* Adds the time of calls that has no cause as unknown. */
static int add_unknown(struct causes *c, const struct span_sides *sides, const u64 told[2])
{
	const struct span_key key = { .slot = WHY_ANYWHERE };
	const struct cause unknown = cause_of(&key, WHY_UNKNOWN);
	int err = 0;

	if (sides->rest.ns > told[0])
		err = add_part(c, &unknown, 0, sides->rest.ns - told[0], 0);
	if (!err && sides->slow.ns > told[1])
		err = add_part(c, &unknown, 1, sides->slow.ns - told[1], 0);
	return err;
}

/* Returns the key of a cause's row, as used for its objects. */
static struct why_key row_of(const struct cause *c)
{
	return (struct why_key){ .slot = c->slot, .phase = c->cause, .kind = c->kind };
}

static int put_object(struct why_objects *objects, const struct span_element *e, const struct cause *cause)
{
	const struct why_key row = row_of(cause);

	return e->key.class ? why_objects__put(objects, &row, &e->key.object, e->sums.ns) : 0;
}

static int find_causes(struct causes *c, const struct sum_set *set, const struct span_sides *sides,
		       struct why_objects *objects)
{
	u64 told[2] = {};
	size_t i;
	int err = 0;

	for (i = 0; i < set->n && !err; i++) {
		const struct span_element *e = at(set, i);
		const struct cause cause = cause_of(&e->key, e->key.phase);

		if (e->key.phase == WHY_PHASES)
			continue;
		told[e->key.class] += e->sums.ns;
		if (e->key.phase == WHY_ON_CPU)
			err = add_on_cpu(c, e);
		else
			err = add_part(c, &cause, e->key.class, e->sums.ns, e->sums.calls) ?:
				      put_object(objects, e, &cause);
	}
	why_objects__sort(objects);
	return err ?: add_unknown(c, sides, told);
}

bool slow_rows__wait_for_threads(const struct sum_set *set, const struct span_sides *sides)
{
	u64 waits[2] = {};
	size_t i;

	for (i = 0; i < set->n; i++) {
		const struct span_element *e = at(set, i);

		if (e->key.phase != WHY_PHASES && why_causes[cause_of(&e->key, e->key.phase).cause].by_threads)
			waits[e->key.class] += e->sums.ns;
	}
	return sides->slow.calls && sides__difference(sides, waits[1], waits[0]) >=
					    sides__difference(sides, sides->slow.ns, sides->rest.ns) / 2;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

#define KEYS 3

static int add_row(struct report *r, const struct span_sides *sides, const struct why_objects *objects,
		   const struct cause *c)
{
	const struct why_key key = row_of(c);
	struct report_row row = {};
	char call[64];
	int err = report_row__add_text(&row, "cause", why_causes[c->cause].name);

	if (!err)
		err = report_row__add_text(&row, "call", why_call_name(call, &key));
	if (!err)
		err = report_row__add_text(&row, "kind", why_kind_name(c->kind));
	if (!err)
		err = sides__add_figures(&row, sides, c->side);
	if (!err)
		err = why_objects__add(objects, &row, &key, c->side[1].ns);
	if (!err)
		err = why_add_next(&row, why_causes[c->cause].next);
	return report__end_row(r, &row, err);
}

static int add_total(struct report *r, const struct span_sides *sides, const struct why_objects *objects)
{
	static const struct why_key no_row = { .phase = WHY_CAUSES };
	struct report_row row;
	int err = report_row__begin_total(&row, r, KEYS);

	if (!err)
		err = sides__add_all_figures(&row, sides);
	if (!err)
		err = why_objects__add(objects, &row, &no_row, 0);
	if (!err)
		err = why_add_next(&row, NULL);
	return report__end_row(r, &row, err);
}

static int add_rows(struct report *r, const struct causes *c, const struct span_sides *sides,
		    const struct why_objects *objects, const struct cli *cli)
{
	size_t i;
	int err = 0;

	for (i = 0; i < c->n && !err; i++)
		err = add_row(r, sides, objects, &c->cause[i]);
	report__sort_rows(r, cli->order ? "difference_percent" : NULL, KEYS, table_rows(cli));
	if (!err && c->n && cli->format == FORMAT_TEXT)
		err = add_total(r, sides, objects);
	if (!err && !c->n)
		err = report__keep_columns(r, add_row(r, sides, objects, &(struct cause){ .slot = WHY_ANYWHERE }));
	return err;
}

int slow_rows__add(const struct sum_set *set, const struct span_sides *sides, struct why_objects *objects,
		   const struct cli *cli, struct report *r)
{
	struct causes causes = {};
	int err = find_causes(&causes, set, sides, objects);

	if (!err)
		err = add_rows(r, &causes, sides, objects, cli);
	free(causes.cause);
	return err;
}
