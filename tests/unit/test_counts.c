// SPDX-License-Identifier: BSD-2-Clause
/* Counts by key, place and row: settled, subtracted, folded, scaled. */
#include "unit.h"

#include "events/stat/counts.h"

#define ROWS 4
#define PLACES 5
#define KEYS 6

/* The naive model: a cell for each possible count. Place 0 is COUNT_EVERYWHERE. */
struct table {
	u64 value[KEYS][PLACES + 1][ROWS];
	u64 enabled[KEYS][PLACES + 1][ROWS];
	bool present[KEYS][PLACES + 1][ROWS];
};

static struct task_key key_of(u32 i)
{
	return (struct task_key){ .tid = i % 3, .comm = { 'a' + i / 3 } };
}

static struct count random_count(struct random *r, struct table *t)
{
	u32 key = random__below(r, KEYS), row = random__below(r, ROWS);
	int place = (int)random__below(r, PLACES + 1) - 1;
	struct count c = {
		.key = key_of(key), .place = place, .row = row, .value = random__any_size(r),
		.enabled_ns = random__below(r, 1000),
	};

	c.running_ns = c.enabled_ns / 2;
	t->value[key][place + 1][row] += c.value;
	t->enabled[key][place + 1][row] += c.enabled_ns;
	t->present[key][place + 1][row] = true;
	return c;
}

static u32 key_index(const struct task_key *key)
{
	u32 i;

	for (i = 0; i < KEYS; i++) {
		struct task_key k = key_of(i);

		if (!memcmp(&k, key, sizeof(k)))
			return i;
	}
	fail();
	return 0;
}

/* Checks that counts are in order, without duplicates, complete, and as in the table. */
static void assert_table(const struct counts *c, const struct table *t)
{
	size_t i, present = 0, k;
	const bool *p = &t->present[0][0][0];

	for (k = 0; k < sizeof(t->present) / sizeof(*p); k++)
		present += p[k];
	assert_int_equal(c->n, present);
	for (i = 0; i < c->n; i++) {
		const struct count *each = &c->count[i], *before = each - 1;
		u32 key = key_index(&each->key);
		int order;

		assert_true(t->present[key][each->place + 1][each->row]);
		assert_int_equal(each->value, t->value[key][each->place + 1][each->row]);
		assert_int_equal(each->enabled_ns, t->enabled[key][each->place + 1][each->row]);
		if (!i)
			continue;
		order = memcmp(&before->key, &each->key, sizeof(each->key));
		assert_true(order < 0 || (!order && (before->place < each->place ||
				(before->place == each->place && before->row < each->row))));
	}
}

static void settled_is_sorted_and_added_up(void **state)
{
	struct random r = { 31 };
	u32 n, k;

	(void)state;
	for (n = 0; n < 300; n++) {
		struct counts c = {};
		struct table t = {};
		struct count each;

		for (k = random__below(&r, 100); k; k--) {
			each = random_count(&r, &t);
			assert_int_equal(counts__add(&c, &each), 0);
		}
		counts__settle(&c);
		assert_table(&c, &t);
		counts__settle(&c);
		assert_table(&c, &t);
		counts__free(&c);
	}
}

static void difference_is_what_came_between(void **state)
{
	struct random r = { 32 };
	u32 n, step, k;

	(void)state;
	for (n = 0; n < 100; n++) {
		struct counts before = {}, now;
		struct table all = {};

		for (step = 0; step < 6; step++) {
			struct table interval = {};
			struct counts d;
			struct count each;

			assert_int_equal(counts__copy(&now, &before), 0);
			for (k = random__below(&r, 30); k; k--) {
				each = random_count(&r, &interval);
				assert_int_equal(counts__add(&now, &each), 0);
			}
			counts__settle(&now);
			/* Counts that existed before remain, with their growth, which is often zero. */
			for (k = 0; k < sizeof(all.present); k++)
				(&all.present[0][0][0])[k] |= (&interval.present[0][0][0])[k];
			memcpy(interval.present, all.present, sizeof(all.present));
			assert_int_equal(counts__copy(&d, &now), 0);
			counts__subtract(&d, &before);
			assert_table(&d, &interval);
			counts__free(&d);
			counts__free(&before);
			before = now;
		}
		counts__free(&before);
	}
}

static void folding_adds_up_places(void **state)
{
	static const int core[] = { 0, 65536, 0, 65536 };       /* one of PLACES CPUs is beyond this */
	struct random r = { 33 };
	u32 n, k;

	(void)state;
	for (n = 0; n < 300; n++) {
		u64 of_core[2] = {}, everywhere = 0, whole = 0, sum = 0;
		struct counts c = {}, all;
		struct table t = {};
		struct count each;
		size_t i;

		for (k = random__below(&r, 100); k; k--) {
			each = random_count(&r, &t);
			if (each.place < 0 || (size_t)each.place >= ARRAY_SIZE(core))
				everywhere += each.value;
			else
				of_core[each.place % 2] += each.value;
			whole += each.value;
			assert_int_equal(counts__add(&c, &each), 0);
		}
		assert_int_equal(counts__copy(&all, &c), 0);
		counts__fold(&c, core, ARRAY_SIZE(core));
		for (i = 0; i < c.n; i++) {
			assert_true(c.count[i].place == COUNT_EVERYWHERE || !c.count[i].place ||
				    c.count[i].place == 65536);
			if (c.count[i].place == COUNT_EVERYWHERE)
				everywhere -= c.count[i].value;
			else
				of_core[c.count[i].place == 65536] -= c.count[i].value;
		}
		assert_int_equal(everywhere | of_core[0] | of_core[1], 0);
		counts__fold(&all, NULL, 0);
		for (i = 0; i < all.n; i++) {
			assert_int_equal(all.count[i].place, COUNT_EVERYWHERE);
			sum += all.count[i].value;
		}
		assert_int_equal(sum, whole);
		assert_true(all.n <= KEYS * ROWS);
		counts__free(&c);
		counts__free(&all);
	}
}

static void the_newest_name_stays(void **state)
{
	struct count each = { .place = COUNT_EVERYWHERE, .value = 1 };
	static const struct { u64 stamp; const char *name; } names[] = {
		{ 5, "old" }, { 9, "newest" }, { 7, "newer" }, { 0, "" },
	};
	struct counts c = {};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		each.name_stamp = names[i].stamp;
		snprintf(each.name, sizeof(each.name), "%s", names[i].name);
		assert_int_equal(counts__add(&c, &each), 0);
	}
	counts__settle(&c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.count[0].value, 4);
	assert_string_equal(c.count[0].name, "newest");
	assert_int_equal(c.count[0].name_stamp, 9);
	counts__free(&c);
}

static void nothing_is_no_trouble(void **state)
{
	struct counts none = {}, copy;

	(void)state;
	counts__settle(&none);
	counts__subtract(&none, &none);
	counts__fold(&none, NULL, 0);
	assert_int_equal(counts__copy(&copy, &none), 0);
	assert_int_equal(copy.n, 0);
	counts__free(&copy);
	counts__free(&none);
}

static void assert_scaled(u64 value, u64 enabled, u64 running, u64 expected, double percent)
{
	struct count c = { .value = value, .enabled_ns = enabled, .running_ns = running };
	double share;
	u64 scaled;

	assert_true(count__scale(&c, &scaled, &share));
	assert_int_equal(scaled, expected);
	assert_true(share > percent - 1e-9 && share < percent + 1e-9);
}

static void scaling(void **state)
{
	struct count c = { .value = 1, .enabled_ns = 1000, .running_ns = 9 };
	double share;
	u64 scaled;

	(void)state;
	assert_scaled(0, 0, 0, 0, 100);                         /* it was never enabled */
	assert_scaled(77, 0, 0, 77, 100);
	assert_scaled(77, 1000, 1000, 77, 100);
	assert_scaled(100, 1000, 500, 200, 50);
	assert_scaled(0, 1000, 500, 0, 50);
	assert_scaled(100, 1000, 10, 10000, 1);
	assert_scaled(1, 3, 2, 2, 200.0 / 3);                   /* 1.5, rounded */
	assert_scaled(10, 3, 2, 15, 200.0 / 3);
	/* The intermediate product has more than 64 bits. */
	assert_scaled(1ULL << 60, 4000000000000ULL, 2000000000000ULL, 1ULL << 61, 50);
	assert_scaled(UINT64_MAX, 1ULL << 62, 1ULL << 62, UINT64_MAX, 100);
	/* The running time is too short to scale. */
	assert_false(count__scale(&c, &scaled, &share));
	assert_true(share < 1);
	c.running_ns = 0;
	assert_false(count__scale(&c, &scaled, &share));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settled_is_sorted_and_added_up),
		cmocka_unit_test(difference_is_what_came_between),
		cmocka_unit_test(folding_adds_up_places),
		cmocka_unit_test(the_newest_name_stays),
		cmocka_unit_test(nothing_is_no_trouble),
		cmocka_unit_test(scaling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
