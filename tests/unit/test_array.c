// SPDX-License-Identifier: BSD-2-Clause
/* Growing arrays: capacities, contents, and their state after a failed allocation. */
#include "unit.h"

/* A realloc() that counts its calls, notes the size, and fails if told to. */
static struct {
	size_t calls, bytes;
	bool fails;
} asked;

static void *asked_realloc(void *old, size_t bytes)
{
	asked.calls++;
	asked.bytes = bytes;
	return asked.fails ? NULL : realloc(old, bytes);
}

#define realloc asked_realloc
#include "base/array.c"
#undef realloc

static int begin(void **state)
{
	(void)state;
	memset(&asked, 0, sizeof(asked));
	return 0;
}

struct triple {
	u32 a, b, c;
};

static void elements_stay(void **state)
{
	struct triple *list = NULL;
	u32 n = 0, i;

	(void)state;
	for (i = 0; i < 1000; i++)
		assert_int_equal(ARRAY_APPEND(list, n, (struct triple){ i, 2 * i, 3 * i }), 0);
	assert_int_equal(n, 1000);
	for (i = 0; i < n; i++) {
		assert_int_equal(list[i].a, i);
		assert_int_equal(list[i].c, 3 * i);
	}
	free(list);
}

/* Appending one element reallocates only if n is zero or a power of two. */
static void capacity_is_derived(void **state)
{
	unsigned short *list = NULL;
	size_t n = 0, calls;

	(void)state;
	while (n < 4096) {
		calls = asked.calls;
		assert_int_equal(ARRAY_ROOM(list, n), 0);
		assert_int_equal(asked.calls - calls, !n || !(n & (n - 1)));
		if (asked.calls > calls)
			assert_int_equal(asked.bytes, (n ? 2 * n : 1) * sizeof(*list));
		list[n] = n;
		n++;
	}
	free(list);
}

/* An array that has lost elements keeps its capacity, and grows within it. */
static void capacity_holds_for_fewer(void **state)
{
	u64 *list = NULL;
	size_t n, from;

	(void)state;
	for (from = 0; from < 64; from++) {
		n = from % 2 ? from : from / 2;
		while (n < 100)
			assert_int_equal(ARRAY_APPEND(list, n, n), 0);
	}
	free(list);
}

static void several_at_once(void **state)
{
	static const struct {
		size_t n, more, room; /* 0: there is enough */
	} cases[] = {
		{ 0, 0, 0 }, { 0, 1, 1 }, { 0, 2, 2 }, { 0, 3, 4 },  { 1, 1, 2 }, { 1, 0, 0 },	{ 2, 3, 8 },
		{ 3, 1, 0 }, { 3, 2, 8 }, { 5, 3, 0 }, { 5, 4, 16 }, { 8, 0, 0 }, { 8, 1, 16 }, { 9, 100, 128 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		char *list = NULL;

		asked.bytes = 0;
		assert_int_equal(array__grow(&list, cases[i].n, cases[i].more, 1), 0);
		assert_int_equal(asked.bytes, cases[i].room);
		free(list);
	}
}

static void added_elements_are_zero(void **state)
{
	struct triple *list = NULL, *t;
	u32 n = 0, i;

	(void)state;
	for (i = 0; i < 100; i++) {
		t = ARRAY_ADD(list, n);
		assert_non_null(t);
		assert_ptr_equal(t, &list[i]);
		assert_int_equal(t->a | t->b | t->c, 0);
		memset(t, 0xff, sizeof(*t));
	}
	assert_int_equal(n, 100);
	free(list);
}

static void stored_room(void **state)
{
	size_t room = 0, i;
	u32 *list = NULL;

	(void)state;
	for (i = 0; i < 1000; i++) {
		assert_int_equal(ARRAY_RESERVE(list, room, i + 1), 0);
		assert_true(room > i && room <= 2 * i + 16);
		assert_int_equal(asked.bytes, room * sizeof(*list));
		list[i] = i;
	}
	assert_int_equal(asked.calls, 7); /* 16 to 1024 */
	assert_int_equal(ARRAY_RESERVE(list, room, 0), 0);
	assert_int_equal(ARRAY_RESERVE(list, room, 1024), 0);
	assert_int_equal(asked.calls, 7);
	assert_int_equal(ARRAY_RESERVE(list, room, 5000), 0);
	assert_int_equal(room, 8192);
	assert_int_equal(list[999], 999);
	free(list);
}

static void reached_elements_are_zero(void **state)
{
	size_t room = 0, before, i;
	u32 *list = NULL, wanted;

	(void)state;
	for (wanted = 1; wanted < 2000; wanted += 37) {
		before = room;
		assert_int_equal(ARRAY_REACH(list, room, wanted), 0);
		for (i = 0; i < room; i++)
			assert_int_equal(list[i], i < before ? 7 : 0);
		for (i = 0; i < room; i++)
			list[i] = 7;
	}
	assert_int_equal(asked.calls, 7); /* 16, and 64 to 2048 */
	asked.fails = true;
	assert_int_equal(ARRAY_REACH(list, room, room + 1), -ENOMEM);
	assert_int_equal(room, 2048);
	free(list);
}

static void nothing_changes_without_memory(void **state)
{
	size_t room = 0;
	u32 *list = NULL, *before, n = 0;

	(void)state;
	assert_int_equal(ARRAY_APPEND(list, n, 7), 0);
	asked.fails = true;
	before = list;
	assert_int_equal(ARRAY_APPEND(list, n, 8), -ENOMEM);
	assert_int_equal(ARRAY_ROOM(list, n), -ENOMEM);
	assert_null(ARRAY_ADD(list, n));
	assert_int_equal(ARRAY_RESERVE(list, room, 1), -ENOMEM);
	assert_ptr_equal(list, before);
	assert_int_equal(list[0], 7);
	assert_int_equal(n, 1);
	assert_int_equal(room, 0);
	free(list);
}

/* Sizes that overflow are never requested. */
static void sizes_that_overflow(void **state)
{
	static const struct {
		size_t n, more, size;
	} cases[] = {
		{ SIZE_MAX, 2, 1 },	    { 1, SIZE_MAX, 1 },	  { SIZE_MAX / 2 + 1, 1, 1 },
		{ SIZE_MAX / 4 + 1, 1, 1 }, { 0, SIZE_MAX, 1 },	  { 0, SIZE_MAX / 16 + 1, 16 },
		{ 0, 2, SIZE_MAX / 2 },	    { 1ULL << 60, 1, 8 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[] = "old", *list = text;
		size_t room = cases[i].n;

		assert_int_equal(array__grow(&list, cases[i].n, cases[i].more, cases[i].size), -ENOMEM);
		assert_ptr_equal(list, text);
		if (!cases[i].n) {
			assert_int_equal(array__reserve(&list, &room, cases[i].more, cases[i].size), -ENOMEM);
			assert_int_equal(room, 0);
		}
	}
	assert_int_equal(asked.calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(elements_stay, begin),
		cmocka_unit_test_setup(capacity_is_derived, begin),
		cmocka_unit_test_setup(capacity_holds_for_fewer, begin),
		cmocka_unit_test_setup(several_at_once, begin),
		cmocka_unit_test_setup(added_elements_are_zero, begin),
		cmocka_unit_test_setup(stored_room, begin),
		cmocka_unit_test_setup(reached_elements_are_zero, begin),
		cmocka_unit_test_setup(nothing_changes_without_memory, begin),
		cmocka_unit_test_setup(sizes_that_overflow, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
