// SPDX-License-Identifier: BSD-2-Clause
/*
 * Texts and line tables of CPython's code, and the layout that CPython describes itself: known cases, damaged bytes and
 * hostile ones. tests/live/test_python.py compares lines with those of the interpreter.
 */
#include "unit.h"

#include "runtime/python_code.h"
#include "runtime/python_file.h"
#include "runtime/python_layout.h"

#define ENTRY(kind, units) (0x80 | (kind) << 3 | ((units) - 1))

/* --- texts ------------------------------------------------------------------------------------- */

static void assert_text(u32 each, const void *bytes, u32 size, u64 length, const char *want)
{
	const struct python_text t = { .length = length, .state = each << 2, .bytes = size };
	char *got = python_text(&t, bytes, 64);

	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
	free(got);
}

static void test_texts(void **state)
{
	const __u16 two[] = { 'a', 0x65e5, 0xd800, 0x7ff };
	const u32 four[] = { 0x10348, 0x110000, 0xffffffff, 0 };

	(void)state;
	assert_text(1, "main", 4, 4, "main");
	assert_text(1, "\xfc" "ber", 4, 4, "\xc3\xbc" "ber");
	assert_text(1, "", 0, 0, "");
	assert_text(1, "cut", 3, 10, "cut...");
	assert_text(2, two, sizeof(two), 4, "a\xe6\x97\xa5?\xdf\xbf");
	assert_text(2, two, 3, 4, "a...");
	assert_text(4, four, sizeof(four), 4, "\xf0\x90\x8d\x88???");
	assert_text(3, "abc", 3, 1, NULL);
	assert_text(0, "abc", 3, 3, NULL);
	assert_text(1, "abc", 65, 65, NULL);
}

/* --- lines ------------------------------------------------------------------------------------- */

static void test_lines(void **state)
{
	const u8 table[] = {
		ENTRY(15, 1),                   /* 0: none */
		ENTRY(0, 2), 0,                 /* 1, 2: the first line */
		ENTRY(11, 1), 0, 9,             /* 3: the next one */
		ENTRY(13, 8), 0x42, 0x02,       /* 4 to 11: 65 further */
		ENTRY(14, 1), 3, 0, 1, 2,       /* 12: one back */
		ENTRY(9, 1), 7,                 /* 13: the same */
	};
	static const u32 want[] = { 0, 10, 10, 11, 76, 76, 76, 76, 76, 76, 76, 76, 75, 75, 0, 0 };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(python_line(PYTHON_LOCATIONS, table, sizeof(table), 10, i), want[i]);
	/* There is no line before line 1. */
	assert_int_equal(python_line(PYTHON_LOCATIONS, table + 9, sizeof(table) - 9, 1, 0), 0);
	assert_int_equal(python_line(PYTHON_LOCATIONS, NULL, 0, 10, 0), 0);
}

/* The function takes indexes of two-byte instructions; the tables have byte addresses. */
static void test_lines_of_3_10(void **state)
{
	const u8 table[] = {
		2, 0,                           /* 0: the first line */
		4, 1,                           /* 1, 2: the next one */
		0, 100, 2, 0x9c,                /* 3: 100 further, for no instruction; back again */
		2, 0x80,                        /* 4: none */
		254, 127, 254, 127,             /* 5 to 131, 132 to 258 */
	};
	static const struct { u32 at, line;
	} want[] = {
		{ 0, 10 },
		{ 1, 11 },
		{ 2, 11 },
		{ 3, 11 },
		{ 4, 0 },
		{ 5, 138 },
		{ 131, 138 },
		{ 132, 265 },
		{ 258, 265 },
		{ 259, 0 },
		{ PYTHON_NO_INSTRUCTION, 0 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(python_line(PYTHON_LINETABLE, table, sizeof(table), 10, want[i].at), want[i].line);
	assert_int_equal(python_line(PYTHON_LINETABLE, table, 3, 10, 1), 0);
	assert_int_equal(python_line(PYTHON_LINETABLE, table, 0, 10, 0), 0);
	assert_int_equal(python_line(PYTHON_LINETABLE, (const u8 []){ 2, 0xf0 }, 2, 10, 0), 0);
}

static void test_lines_of_3_9(void **state)
{
	const u8 table[] = { 0, 1, 6, 1, 255, 0, 45, 127, 0, 1, 8, 0xfe };
	static const struct { u32 at, line; } want[] = {
		{ 0, 11 }, { 2, 11 }, { 3, 12 }, { 152, 12 }, { 153, 140 }, { 156, 140 }, { 157, 138 }, { 10000, 138 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(python_line(PYTHON_LNOTAB, table, sizeof(table), 10, want[i].at), want[i].line);
	assert_int_equal(python_line(PYTHON_LNOTAB, table, 0, 10, 5), 10);
	assert_int_equal(python_line(PYTHON_LNOTAB, table, 1, 10, 5), 10);
	assert_int_equal(python_line(PYTHON_LNOTAB, (const u8 []){ 0, 0xf0 }, 2, 10, 0), 0);
}

/* A truncated table gives the lines of the whole table, or none. */
static void test_cut_lines(void **state)
{
	const u8 table[] = { ENTRY(14, 4), 0x41, 0x41, 0x41, 1, 0x41, 1, 0x41, 1, 0x41, 1, ENTRY(13, 4), 2 };
	u32 whole = python_line(PYTHON_LOCATIONS, table, sizeof(table), 1, 0), n;

	(void)state;
	for (n = 0; n < sizeof(table); n++)
		if (python_line(PYTHON_LOCATIONS, table, n, 1, 0))
			assert_int_equal(python_line(PYTHON_LOCATIONS, table, n, 1, 0), whole);
}

static void test_any_lines(void **state)
{
	u8 table[64];
	u32 round, i;

	(void)state;
	srand(1);
	for (round = 0; round < 200000; round++) {
		for (i = 0; i < sizeof(table); i++)
			table[i] = rand() >> 7;
		python_line(round % 3, table, rand() % (sizeof(table) + 1), rand(), rand() % 64);
	}
	memset(table, 0x7f, sizeof(table));
	table[0] = ENTRY(13, 1);
	assert_int_equal(python_line(PYTHON_LOCATIONS, table, sizeof(table), 1, 0), 0);
}

/* --- layouts ----------------------------------------------------------------------------------- */

/* Releases that describe their own layout, and where they describe that of str and bytes objects. */
static const struct { u32 version, bytes, text_state; } telling[] = {
	{ 0x030d00f0, 66, 68 }, { 0x030e00f0, 76, 78 }, { 0x030f00f0, 88, 90 },
};

static void test_layouts(void **state)
{
	struct python_layout l;
	u8 none[PYTHON_HEAD] = {};
	u32 i;

	(void)state;
	assert_int_equal(python_layout__find(&l, 0x030b02f0, none, 0), 0);
	assert_int_equal(l.code_name, 128);
	assert_int_equal(python_layout__find(&l, 0x030c01f0, none, 0), 0);
	assert_int_equal(python_layout__find(&l, 0x03090000, none, 0), 0);
	assert_int_equal(l.line_table, PYTHON_LNOTAB);
	assert_int_equal(python_layout__find(&l, 0x030a0000, none, 0), 0);
	assert_int_equal(l.line_table, PYTHON_LINETABLE);
	assert_int_equal(python_layout__find(&l, 0x03080000, none, 0), -EOPNOTSUPP);
	assert_int_equal(python_layout__find(&l, 0x03100000, none, 0), -EOPNOTSUPP);
	assert_int_equal(python_layout__find(&l, 0x02070000, none, 0), -EOPNOTSUPP);
	for (i = 0; i < ARRAY_SIZE(telling); i++) {
		assert_int_equal(python_layout__find(&l, telling[i].version, none, sizeof(none)), -EBADMSG);
		assert_int_equal(python_layout__find(&l, telling[i].version, none, 0), -EBADMSG);
	}
}

/* Programs do not look beyond the bytes they read, whatever layout an interpreter claims. */
static void any_layout(u32 version, u32 bytes, u32 text_state)
{
	u64 head[PYTHON_HEAD / 8];
	struct python_layout l;
	u32 round, i, taken = 0;

	for (round = 0; round < 100000; round++) {
		for (i = 0; i < ARRAY_SIZE(head); i++)
			head[i] = rand() % 1000 ? (u64)(rand() % 257) : (u64)rand() << rand() % 40;
		memcpy(head, "xdebugpy", 8);
		head[1] = version;
		head[2] = 0;
		head[bytes] = head[text_state] = 32;
		head[text_state + 1] = 16;
		if (python_layout__find(&l, version, (u8 *)head, sizeof(head)))
			continue;
		taken++;
		assert_true(l.thread_size <= PYTHON_BLOCK && l.frame_size <= PYTHON_BLOCK &&
			    l.code_size <= PYTHON_BLOCK);
		assert_true(l.thread_id + 8 <= l.thread_size && l.frame_code + 8 <= l.frame_size);
		assert_true(l.frame_owner < l.frame_size && l.code_line + 4 <= l.code_size);
	}
	assert_true(taken > 100);
	head[bytes] = 24;
	assert_int_equal(python_layout__find(&l, version, (u8 *)head, sizeof(head)), -EBADMSG);
	head[2] = 1;
	assert_int_equal(python_layout__find(&l, version, (u8 *)head, sizeof(head)), -EOPNOTSUPP);
}

static void test_any_layout(void **state)
{
	u32 i;

	(void)state;
	srand(2);
	for (i = 0; i < ARRAY_SIZE(telling); i++)
		any_layout(telling[i].version, telling[i].bytes, telling[i].text_state);
}

static void test_any_answer(void **state)
{
	struct python_file f;
	u8 answer[4096];
	u32 round, i;

	(void)state;
	srand(3);
	for (round = 0; round < 20000; round++) {
		for (i = 0; i < sizeof(answer); i++)
			answer[i] = rand() >> 7;
		assert_true(python_file__take(&f, answer, rand() % sizeof(answer)) < 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lines_of_3_10),
		cmocka_unit_test(test_lines_of_3_9),
		cmocka_unit_test(test_cut_lines),
		cmocka_unit_test(test_any_lines),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_any_layout),
		cmocka_unit_test(test_any_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
