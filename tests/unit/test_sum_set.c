// SPDX-License-Identifier: BSD-2-Clause
/* Sums by key: CPUs added up, the newest name, differences. */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "agg/sum_set.h"

struct key {
	u32 id;
	u32 cpu;
	u32 other;              /* so that the size is no multiple of 8 bytes */
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

/* A map's keys may be shorter: the members that they lack are zero. */
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

/* The larger of two maxima of an interval wins. A CPU without events since then has the maximum of an earlier one. */
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

struct timed_value {
	u64 run_ns, waits;
	struct timed_maximum longest[MAXIMUM_SLOTS];
};

struct timed_row {
	u64 key;
	struct timed_value value;
};

static const struct sum_layout timed_layout = {
	.key_size = sizeof(u64), .value_size = sizeof(struct timed_value), .writer_at = SUM_NO_WRITER,
	.nsums = 2, .nmaxima = 1, .timed = true, .measured = 1 << 1,
};

/* The earliest of equal maxima stays. */
static void maxima_with_times(void **state)
{
	static const struct timed_row rows[] = {
		{ 1, { 5, 1, { {}, { 3, 70, 500 } } } },
		{ 1, { 5, 1, { {}, { 3, 70, 400 } } } },
		{ 1, { 5, 1, { { 4, 7, 900 }, { 3, 60, 300 } } } },
	};
	struct sum_set set = { .layout = &timed_layout };
	const struct timed_row *row;

	(void)state;
	assert_int_equal(sum_set__insert(&set, rows, ARRAY_SIZE(rows)), 0);
	assert_int_equal(set.n, 1);
	row = sum_set__at(&set, 0);
	assert_int_equal(row->value.waits, 3);
	assert_int_equal(row->value.longest[1].value, 70);
	assert_int_equal(row->value.longest[1].at_ns, 400);
	assert_int_equal(row->value.longest[0].value, 7);
	assert_int_equal(row->value.longest[0].at_ns, 900);
	sum_set__free(&set);
}

/* The next interval began before the last one was read to its end: its wait is not shown twice. */
static void maxima_of_events_that_were_shown(void **state)
{
	static const struct timed_row then[] = {
		{ 1, { 5, 1, { { 4, 7, 900 } } } },
		{ 2, { 5, 1, { { 4, 7, 900 } } } },
	};
	static const struct timed_row now[] = {
		{ 1, { 9, 1, { { 4, 7, 900 } } } },
		{ 2, { 9, 2, { { 4, 7, 900 } } } },
	};
	struct sum_set earlier = { .layout = &timed_layout }, later = { .layout = &timed_layout }, d;
	const struct timed_row *row;

	(void)state;
	assert_int_equal(sum_set__insert(&earlier, then, 2), 0);
	assert_int_equal(sum_set__insert(&later, now, 2), 0);
	assert_int_equal(sum_set__difference(&d, &later, &earlier), 0);
	assert_int_equal(d.n, 2);
	row = sum_set__at(&d, 0);
	assert_int_equal(row[0].value.run_ns, 4);
	assert_int_equal(row[0].value.longest[0].interval, 0);
	assert_int_equal(row[1].value.longest[0].value, 7);
	sum_set__free(&d);
	sum_set__free(&earlier);
	sum_set__free(&later);
}

/* A read may end anywhere in an element. */
static void elements_of_an_iterator(void **state)
{
	enum { TASKS = 300 };
	struct sum_set set = { .layout = &timed_layout };
	struct timed_row row = {};
	int fd[2];
	size_t i;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	for (i = 0; i < TASKS; i++) {
		row.key = i << 32;
		row.value.run_ns = 1000 + i;
		assert_int_equal(write(fd[1], &row, sizeof(row)), sizeof(row));
	}
	assert_int_equal(write(fd[1], &row, 7), 7);     /* a partial element at the end */
	close(fd[1]);
	assert_int_equal(sum_set__read_elements(&set, fd[0]), 0);
	close(fd[0]);
	assert_int_equal(set.n, TASKS);
	for (i = 0; i < TASKS; i++) {
		const struct timed_row *at = sum_set__at(&set, i);

		assert_int_equal(at->value.run_ns, 1000 + (at->key >> 32));
	}
	assert_int_equal(sum_set__read_elements(&set, -1), -EBADF);
	sum_set__free(&set);
}

/* A slice was shown while it went on, and it ended while the next snapshot was read. */
static void sums_never_fall(void **state)
{
	static const struct timed_row shown[] = { { 1, { 100, 1, {} } }, { 4, { 7, 1, {} } } };
	static const struct timed_row read[] = { { 1, { 60, 2, {} } }, { 2, { 3, 1, {} } }, { 4, { 9, 1, {} } } };
	struct sum_set earlier = { .layout = &timed_layout }, later = { .layout = &timed_layout };
	const struct timed_row *row;

	(void)state;
	assert_int_equal(sum_set__insert(&earlier, shown, 2), 0);
	assert_int_equal(sum_set__insert(&later, read, 3), 0);
	sum_set__raise(&later, &earlier);
	row = sum_set__at(&later, 0);
	assert_int_equal(row[0].value.run_ns, 100);
	assert_int_equal(row[0].value.waits, 2);
	assert_int_equal(row[1].value.run_ns, 3);
	assert_int_equal(row[2].value.run_ns, 9);
	sum_set__free(&earlier);
	sum_set__free(&later);
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
		cmocka_unit_test(maxima_with_times),
		cmocka_unit_test(maxima_of_events_that_were_shown),
		cmocka_unit_test(elements_of_an_iterator),
		cmocka_unit_test(sums_never_fall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
