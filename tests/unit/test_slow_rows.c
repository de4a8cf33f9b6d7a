// SPDX-License-Identifier: BSD-2-Clause
/* The two sides of `why --slow`: calls of random lengths, each of them on one side. */
#include "unit.h"

#include "agg/histogram.h"
#include "calls/why/path_sides.h"
#include "calls/why/slow_rows.h"

struct span_element {
	struct span_key key;
	struct span_sums sums;
};

/* Adds calls of one length, half of whose time has a cause. */
static void add(struct sum_set *set, u64 calls, u64 ns, u32 class)
{
	const struct span_element e[] = {
		{ .key = { .phase = WHY_PHASES, .slot = WHY_ANYWHERE, .class = class },
		  .sums = { .ns = calls * ns, .calls = calls } },
		{ .key = { .phase = WHY_WOKEN, .slot = WHY_ANYWHERE, .class = class },
		  .sums = { .ns = calls * ns / 2, .calls = calls, .count = calls } },
	};

	set->layout = &span_layout;
	assert_int_equal(0, sum_set__insert(set, e, 2));
}

static void a_limit_is_kept(void **state)
{
	struct span_sides sides;
	struct sum_set set = {};

	(void)state;
	add(&set, 7, 10, 0);
	add(&set, 2, 1000, 1);
	slow_rows__divide(&set, &sides, 500);
	assert_int_equal(sides.limit_ns, 500);
	assert_int_equal(sides.rest.calls, 7);
	assert_int_equal(sides.rest.ns, 70);
	assert_int_equal(sides.slow.calls, 2);
	assert_int_equal(sides.slow.ns, 2000);
	sum_set__free(&set);
}

static void one_class_is_all_slow(void **state)
{
	struct span_sides sides;
	struct sum_set set = {};

	(void)state;
	add(&set, 100, 1000, hist_index(1000));
	slow_rows__divide(&set, &sides, 0);
	assert_int_equal(sides.slow.calls, 100);
	assert_int_equal(sides.rest.calls, 0);
	sum_set__free(&set);
}

static void nothing_has_no_sides(void **state)
{
	struct span_sides sides;
	struct sum_set set = { .layout = &span_layout };

	(void)state;
	slow_rows__divide(&set, &sides, 0);
	assert_int_equal(sides.slow.calls + sides.rest.calls, 0);
	sum_set__free(&set);
}

/* The slow calls are the classes from the limit on. They are a tenth of all at most, and no further class fits. */
static void the_slowest_are_a_tenth(void **state)
{
	u64 calls[64], ns[64], all, slow, next;
	struct span_sides sides;
	struct sum_set set;
	size_t round, i, n;

	(void)state;
	for (round = 0; round < 2000; round++) {
		set = (struct sum_set){};
		n = 2 + random() % 62;
		for (i = all = 0; i < n; i++) {
			ns[i] = 1ULL << (random() % 40);
			ns[i] += random() % ns[i];
			calls[i] = 1 + random() % 100;
			all += calls[i];
			add(&set, calls[i], ns[i], hist_index(ns[i]));
		}
		slow_rows__divide(&set, &sides, 0);
		for (i = slow = 0; i < n; i++)
			slow += ns[i] >= sides.limit_ns ? calls[i] : 0;
		assert_int_equal(sides.slow.calls, slow);
		assert_int_equal(sides.rest.calls, all - slow);
		/* With the slowest class below the limit, the slow calls would be more than a tenth. */
		for (i = 0, next = 0; i < n; i++)
			if (ns[i] < sides.limit_ns && (u64)hist_index(ns[i]) > next)
				next = hist_index(ns[i]);
		for (i = 0; i < n; i++)
			slow += ns[i] < sides.limit_ns && hist_index(ns[i]) == next ? calls[i] : 0;
		if (sides.rest.calls)
			assert_true(slow > all / 10);
		for (i = 0; i < n && sides.slow.calls > all / 10; i++)
			if (ns[i] >= sides.limit_ns)
				assert_int_equal(histogram_bucket_first(hist_index(ns[i])), sides.limit_ns);
		sum_set__free(&set);
	}
}

/* Spans that are known one by one have no classes: with the next length, they would be more than a tenth. */
static void a_tenth_is_exact(void **state)
{
	struct path_span span[100];
	struct path p = { .span = span };
	struct span_sides sides;
	size_t round, i, slow, next;
	u64 length, most;

	(void)state;
	for (round = 0; round < 2000; round++) {
		p.nspans = 1 + random() % 100;
		for (i = 0; i < p.nspans; i++) {
			span[i].began = random() % 1000;
			span[i].ended = span[i].began + 1 + random() % 30;
		}
		assert_int_equal(path_sides__divide(&p, &sides, 0), 0);
		for (i = slow = 0, most = 0; i < p.nspans; i++) {
			length = span[i].ended - span[i].began;
			slow += length >= sides.limit_ns;
			if (length < sides.limit_ns && length > most)
				most = length;
		}
		assert_int_equal(sides.slow.calls, slow);
		assert_int_equal(sides.rest.calls, p.nspans - slow);
		assert_true(slow);
		for (i = next = 0; i < p.nspans; i++) {
			length = span[i].ended - span[i].began;
			next += length >= most;
			assert_true(slow <= p.nspans / 10 || length <= sides.limit_ns);
		}
		assert_true(!most || next > p.nspans / 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_is_kept),	cmocka_unit_test(one_class_is_all_slow),
		cmocka_unit_test(nothing_has_no_sides), cmocka_unit_test(the_slowest_are_a_tenth),
		cmocka_unit_test(a_tenth_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
