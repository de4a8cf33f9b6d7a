// SPDX-License-Identifier: BSD-2-Clause
/* Sums by key: CPUs added up, the newest name, differences. */
#include "unit.h"

#include "agg/sum_set.h"

struct key {
	u32 id;
	u32 cpu;
	u32 other;              /* not a multiple of 8 bytes in all */
};

struct value {
	u64 calls, bytes;
	u64 name_stamp;
	char name[SUM_NAME_LEN];
};

struct row {
	struct key key;
	struct value value;
};

static const struct sum_layout layout = {
	.key_size = sizeof(struct key), .value_size = sizeof(struct value),
	.writer_at = offsetof(struct key, cpu), .nsums = 2, .named = true,
};

#define MOST 8

#define ROW(id, cpu, other, calls, bytes, stamp, name)                                             \
	{ { id, cpu, other }, { calls, bytes, stamp, name } }

static struct sum_set set_of(const struct row *row, size_t n, const struct sum_layout *l)
{
	char keys[MOST * sizeof(struct key)], values[MOST * sizeof(struct value)];
	struct elements e = {
		.n = n, .key_size = l->key_size, .value_size = l->value_size, .keys = keys,
		.values = values,
	};
	struct sum_set set;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(keys + i * l->key_size, &row[i].key, l->key_size);
		memcpy(values + i * l->value_size, &row[i].value, l->value_size);
	}
	assert_int_equal(sum_set__make(&set, l, &e), 0);
	return set;
}

static void cpus_add_up(void **state)
{
	const struct row row[] = {
		ROW(2, 1, 7, 10, 100, 5, "older"),
		ROW(1, 0, 7, 1, 2, 3, "one"),
		ROW(2, 0, 7, 20, 200, 9, "newest"),
		ROW(2, 3, 7, 40, 400, 8, "newer"),
		ROW(2, 3, 6, 3, 3, 99, "other"),
	};
	struct sum_set set = set_of(row, ARRAY_SIZE(row), &layout);
	const struct row *r = sum_set__at(&set, 0);

	(void)state;
	assert_int_equal(set.n, 3);
	assert_int_equal(r->key.id, 1);
	assert_int_equal(r->value.calls, 1);
	r = sum_set__at(&set, 1);
	assert_int_equal(r->key.id, 2);
	assert_int_equal(r->key.other, 6);
	assert_string_equal(r->value.name, "other");
	r = sum_set__at(&set, 2);
	assert_int_equal(r->key.cpu, 0);
	assert_int_equal(r->value.calls, 70);
	assert_int_equal(r->value.bytes, 700);
	assert_string_equal(r->value.name, "newest");
	sum_set__free(&set);
	assert_int_equal(set.n, 0);
}

static void without_cpus(void **state)
{
	static const struct sum_layout plain = {
		.key_size = sizeof(struct key), .value_size = 2 * sizeof(u64),
		.writer_at = SUM_NO_WRITER, .nsums = 2,
	};
	const struct row row[] = { ROW(1, 1, 0, 1, 2, 0, ""), ROW(1, 2, 0, 3, 4, 0, "") };
	struct sum_set set = set_of(row, ARRAY_SIZE(row), &plain);
	const struct row *r;

	(void)state;
	assert_int_equal(set.n, 2);
	r = sum_set__at(&set, 1);
	assert_int_equal(r->key.cpu, 2);
	assert_int_equal(r->value.bytes, 4);
	sum_set__free(&set);
}

static void differences(void **state)
{
	const struct row before[] = {
		ROW(1, 0, 0, 1, 10, 0, ""), ROW(2, 0, 0, 5, 50, 0, ""), ROW(4, 0, 0, 2, 0, 0, ""),
		ROW(9, 0, 0, 2, 0, 0, ""),
	};
	const struct row now[] = {
		ROW(1, 0, 0, 4, 70, 1, "a"), ROW(2, 0, 0, 5, 50, 0, ""),
		ROW(3, 0, 0, 0, 7, 0, ""), ROW(4, 0, 0, 2, 3, 0, ""), ROW(5, 0, 0, 0, 0, 9, ""),
	};
	struct sum_set earlier = set_of(before, ARRAY_SIZE(before), &layout), grown;
	struct sum_set later = set_of(now, ARRAY_SIZE(now), &layout);
	const struct row *r;

	(void)state;
	assert_int_equal(sum_set__difference(&grown, &later, &earlier), 0);
	assert_int_equal(grown.n, 3);
	r = sum_set__at(&grown, 0);
	assert_int_equal(r->value.calls, 3);
	assert_int_equal(r->value.bytes, 60);
	assert_string_equal(r->value.name, "a");
	r = sum_set__at(&grown, 1);
	assert_int_equal(r->key.id, 3);
	assert_int_equal(r->value.bytes, 7);
	r = sum_set__at(&grown, 2);
	assert_int_equal(r->key.id, 4);
	assert_int_equal(r->value.calls, 0);
	assert_int_equal(r->value.bytes, 3);
	sum_set__free(&grown);
	sum_set__free(&earlier);
	sum_set__free(&later);
}

static void change_other(void *context, void *key)
{
	(void)context;
	((struct key *)key)->other = 0;
	((struct key *)key)->id %= 2;
}

static void regrouped(void **state)
{
	const struct row row[] = {
		ROW(1, 0, 7, 1, 2, 3, "older"), ROW(2, 0, 7, 10, 0, 4, "two"),
		ROW(3, 0, 8, 4, 5, 6, "newer"),
	};
	struct sum_set set = set_of(row, ARRAY_SIZE(row), &layout), none = {};
	const struct row *r;

	(void)state;
	sum_set__regroup(&set, change_other, NULL);
	assert_int_equal(set.n, 2);
	r = sum_set__at(&set, 0);
	assert_int_equal(r->value.calls, 10);
	r = sum_set__at(&set, 1);
	assert_int_equal(r->value.calls, 5);
	assert_int_equal(r->value.bytes, 7);
	assert_string_equal(r->value.name, "newer");
	sum_set__free(&set);
	sum_set__regroup(&none, change_other, NULL);
}

static void of_nothing(void **state)
{
	const struct row row[] = { ROW(1, 0, 0, 1, 10, 0, "") };
	struct sum_set none = set_of(NULL, 0, &layout), one = set_of(row, 1, &layout), d, zero = {};

	(void)state;
	assert_int_equal(sum_set__difference(&d, &one, &zero), 0);
	assert_int_equal(d.n, 1);
	sum_set__free(&d);
	assert_int_equal(sum_set__difference(&d, &none, &zero), 0);
	assert_int_equal(d.n, 0);
	sum_set__free(&d);
	assert_int_equal(sum_set__difference(&d, &zero, &zero), 0);
	assert_int_equal(d.n, 0);
	sum_set__free(&d);
	sum_set__free(&none);
	sum_set__free(&one);
}

/* A map's keys may end before the members that are zero. */
static void short_keys(void **state)
{
	static const u32 keys[][2] = { { 5, 0 }, { 5, 1 }, { 4, 1 } };
	static const struct value values[] = { { 1, 10, 1, "a" }, { 2, 20, 2, "b" }, { 4, 40, 3, "c" } };
	const struct elements e = {
		.n = 3, .key_size = sizeof(keys[0]), .value_size = sizeof(struct value), .keys = (char *)keys,
		.values = (char *)values,
	};
	const struct row *row;
	struct sum_set set;

	(void)state;
	assert_int_equal(sum_set__make(&set, &layout, &e), 0);
	assert_int_equal(set.n, 2);
	row = sum_set__at(&set, 0);
	assert_int_equal(row->key.id, 4);
	row = sum_set__at(&set, 1);
	assert_int_equal(row->key.id, 5);
	assert_int_equal(row->key.cpu, 0);
	assert_int_equal(row->key.other, 0);
	assert_int_equal(row->value.calls, 3);
	assert_int_equal(row->value.bytes, 30);
	assert_string_equal(row->value.name, "b");
	sum_set__free(&set);
}

struct slow_value {
	u64 calls;
	struct interval_maximum slowest[MAXIMUM_SLOTS];
	u64 name_stamp;
	char name[SUM_NAME_LEN];
};

/* Maxima of the same interval: the larger one. A CPU without events since then has that of an earlier one. */
static void maxima(void **state)
{
	static const struct sum_layout slow = {
		.key_size = sizeof(u32), .value_size = sizeof(struct slow_value), .writer_at = SUM_NO_WRITER,
		.nsums = 1, .nmaxima = 1, .named = true,
	};
	static const u32 keys[] = { 5, 5, 5 };
	static const struct slow_value values[] = {
		{ 1, { { 2, 30 }, { 3, 10 } }, 1, "a" },
		{ 2, { { 4, 20 }, { 3, 40 } }, 3, "b" },
		{ 4, { { 4, 25 }, { 1, 90 } }, 2, "c" },
	};
	const struct elements e = {
		.n = 3, .key_size = sizeof(u32), .value_size = sizeof(struct slow_value), .keys = (char *)keys,
		.values = (char *)values,
	};
	struct sum_set set, before = {}, d;
	const struct slow_value *v;

	(void)state;
	assert_int_equal(sum_set__make(&set, &slow, &e), 0);
	assert_int_equal(sum_set__difference(&d, &set, &before), 0);
	assert_int_equal(d.n, 1);
	v = (const struct slow_value *)sum_layout__sums(&slow, sum_set__at(&d, 0));
	assert_int_equal(v->calls, 7);
	assert_int_equal(v->slowest[0].interval, 4);
	assert_int_equal(v->slowest[0].value, 25);
	assert_int_equal(v->slowest[1].interval, 3);
	assert_int_equal(v->slowest[1].value, 40);
	assert_string_equal(v->name, "b");
	sum_set__free(&d);
	sum_set__free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_add_up),
		cmocka_unit_test(without_cpus),
		cmocka_unit_test(differences),
		cmocka_unit_test(short_keys),
		cmocka_unit_test(regrouped),
		cmocka_unit_test(of_nothing),
		cmocka_unit_test(maxima),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
