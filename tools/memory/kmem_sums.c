// SPDX-License-Identifier: BSD-2-Clause
#include "memory/kmem_sums.h"

#include <stddef.h>

/* A map element, summed over the CPUs of its key. */
struct kmem_row {
	struct kmem_key key;
	struct kmem_sums sums;
};

static const struct sum_layout layout = {
	.key_size = sizeof(struct kmem_key), .value_size = sizeof(struct kmem_sums),
	.writer_at = offsetof(struct kmem_key, writer),
	.nsums = offsetof(struct kmem_sums, name_stamp) / sizeof(u64), .named = true,
};

static int add_figures(const struct kmem_table *t, struct report_row *row,
		       const struct kmem_sums *s, bool failed)
{
	u64 wasted = s->allocated - s->requested;
	const struct field figures[] = {
		{ .name = "allocs", .number = s->allocs, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "requested", .number = s->requested, .kind = FIELD_SIZE, .role = ROLE_COUNTER,
		  .machine = t->pages },
		{ .name = "allocated", .number = s->allocated, .kind = FIELD_SIZE, .role = ROLE_COUNTER },
		{ .name = "wasted", .number = wasted, .kind = FIELD_SIZE, .machine = t->pages,
		  .role = ROLE_COUNTER },
		{ .name = "wasted_percent", .decimals = 1, .machine = t->pages,
		  .role = ROLE_PERCENT, .of = "wasted", .per = "allocated",
		  .real = s->allocated ? 100.0 * wasted / s->allocated : 0,
		  .kind = s->allocated ? FIELD_REAL : FIELD_NONE },
		{ .name = "failed", .number = s->failed, .kind = FIELD_NUMBER, .role = ROLE_COUNTER,
		  .machine = !failed },
		{ .name = "frees", .number = s->frees, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
	};
	const struct field followed[] = {
		{ .name = "freed", .number = s->freed, .kind = FIELD_SIZE, .role = ROLE_COUNTER },
		{ .name = "other_cpu", .number = s->elsewhere, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "unseen", .number = s->unseen, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
	};
	int err = report_row__add_fields(row, figures, ARRAY_SIZE(figures));

	if (!err && t->follow)
		err = report_row__add_fields(row, followed, ARRAY_SIZE(followed));
	return err;
}

static int fill_row(struct kmem_table *t, const struct kmem_row *e, bool failed, struct report *r,
		    size_t *nkeys)
{
	struct report_row row = {};
	int err = kmem_key__add(t->keys, &e->key, e->sums.name, &row);

	*nkeys = row.ncells;
	if (!err)
		err = add_figures(t, &row, &e->sums, failed);
	return report__end_row(r, &row, err);
}

static void as_shown(void *keys, void *key)
{
	kmem_key__as_shown(keys, key);
}

int kmem_table__report(struct kmem_table *t, int sums_fd, volatile u32 *generation,
		       struct report *r, const char *order, size_t top)
{
	static const struct kmem_row none;
	size_t i, nkeys = 0;
	bool failed = false;
	struct sum_set set;
	const struct sum_source source = { .layout = &layout, .map_fd = sums_fd, .generation = generation };
	int err = sum_set__since(&set, &t->before, &source);

	if (err)
		return err;
	sum_set__regroup(&set, as_shown, t->keys);
	for (i = 0; i < set.n; i++) {
		const struct kmem_row *e = sum_set__at(&set, i);

		r->events += e->sums.allocs + e->sums.failed + e->sums.frees;
		failed |= e->sums.failed != 0;
	}
	for (i = 0; i < set.n && !err; i++)
		err = fill_row(t, sum_set__at(&set, i), failed, r, &nkeys);
	if (!err && !r->nrows)
		err = report__keep_columns(r, fill_row(t, &none, failed, r, &nkeys));
	sum_set__free(&set);
	report__sort_rows(r, order, nkeys, top);
	return err;
}

void kmem_table__free(struct kmem_table *t)
{
	sum_set__free(&t->before);
}
