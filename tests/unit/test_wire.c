// SPDX-License-Identifier: BSD-2-Clause
/* The reader returns the values that were written, and trusts nothing that it receives. */
#include "unit.h"

#include "base/wire.h"

static void there_and_back(void **state)
{
	const u32 numbers[] = { 1, 2, 3 };
	struct wire w = {};
	struct unwire u;
	char *text;
	u32 *copy;
	u64 n;

	(void)state;
	wire__number(&w, 42);
	wire__text(&w, "text");
	wire__text(&w, NULL);
	wire__text(&w, "");
	wire__array(&w, numbers, 3, sizeof(numbers[0]));
	assert_int_equal(w.err, 0);
	u = (struct unwire){ w.data, w.n, 0 };
	assert_int_equal(unwire__number(&u), 42);
	text = unwire__text(&u);
	assert_string_equal(text, "text");
	free(text);
	assert_null(unwire__text(&u));
	text = unwire__text(&u);
	assert_string_equal(text, "");
	free(text);
	copy = unwire__array(&u, &n, sizeof(*copy));
	assert_int_equal(n, 3);
	assert_memory_equal(copy, numbers, sizeof(numbers));
	free(copy);
	assert_int_equal(u.err, 0);
	assert_int_equal(u.left, 0);
	assert_int_equal(unwire__number(&u), 0);
	assert_int_equal(u.err, -EBADMSG);
	free(w.data);
}

/* Counts beyond the data that follows, and texts with a NUL in them. */
static void lies(void **state)
{
	struct wire w = {};
	struct unwire u;
	void *array;
	u64 n;

	(void)state;
	wire__number(&w, UINT64_MAX / 4);
	u = (struct unwire){ w.data, w.n, 0 };
	assert_int_equal(unwire__count(&u, 8), 0);
	assert_int_equal(u.err, -EBADMSG);
	u = (struct unwire){ w.data, w.n, 0 };
	assert_null(unwire__text(&u));
	assert_int_equal(u.err, -EBADMSG);
	u = (struct unwire){ w.data, w.n, 0 };
	array = unwire__array(&u, &n, 16);
	assert_int_equal(n, 0);
	assert_int_equal(u.err, -EBADMSG);
	free(array);
	w.n = 0;
	wire__number(&w, 3);
	wire__put(&w, "a\0b", 3);
	u = (struct unwire){ w.data, w.n, 0 };
	assert_null(unwire__text(&u));
	assert_int_equal(u.err, -EBADMSG);
	free(w.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(lies),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
