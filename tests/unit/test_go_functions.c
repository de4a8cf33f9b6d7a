// SPDX-License-Identifier: BSD-2-Clause
/* Functions of Go programs: tables of each layout, whole and damaged. test_go.py tests programs made by Go. */
#include "unit.h"

#include "types/go_functions.h"

#define TEXT 0x401000
#define END 0x100               /* end of the last function, from TEXT */

static const struct function {
	u32 start;
	const char *name;
	enum go_kind kind;
} functions[] = {
	{ 0x00, "main.main", GO_COMPILED }, { 0x20, "main.(*shape).spin", GO_COMPILED },
	{ 0x40, "runtime.goexit", GO_ASSEMBLY }, { 0xc0, "x_cgo_init", GO_FOREIGN },
};

#define FUNCTIONS ARRAY_SIZE(functions)

struct made {
	u8 byte[1024];
	size_t n;
};

static void put_at(struct made *m, size_t at, u64 value, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		m->byte[at + i] = value >> 8 * i;
	if (m->n < at + bytes)
		m->n = at + bytes;
}

/* Puts names, list and descriptions. Offsets are relative to list, or to the table in the oldest layout. */
static void make_table(struct made *m, u32 magic, u32 word, bool is_narrow, bool is_first)
{
	size_t header = 8 + 8 * word, names = is_first ? 0 : header, name = header, list, at, i;
	u32 width = is_narrow ? 4 : word, flags = magic == 0xfffffff0 ? 37 : 41;
	u64 base = is_narrow ? 0 : TEXT;

	*m = (struct made){};
	put_at(m, 0, magic, 4);
	put_at(m, 7, word, 1);
	put_at(m, 6, 1, 1);
	for (i = 0; i < FUNCTIONS; i++)
		name += strlen(functions[i].name) + 1;
	list = is_first ? 8 + word : name;
	at = is_first ? name : list + (2 * FUNCTIONS + 1) * width;
	put_at(m, 8, FUNCTIONS, word);
	if (is_narrow) {
		put_at(m, 8 + 2 * word, TEXT, word);
		put_at(m, 8 + 3 * word, names, word);
		put_at(m, 8 + 7 * word, list, word);
	} else if (!is_first) {
		put_at(m, 8 + 2 * word, names, word);
		put_at(m, 8 + 6 * word, list, word);
	}
	/* The oldest layout has its list where the others have the rest of the header. */
	name = is_first ? 512 : header;
	for (i = 0; i < FUNCTIONS; i++) {
		put_at(m, list + 2 * i * width, base + functions[i].start, width);
		put_at(m, list + (2 * i + 1) * width, is_first ? at : at - list, width);
		put_at(m, at, base + functions[i].start, width);
		put_at(m, at + width, name - names, 4);
		memcpy(m->byte + name, functions[i].name, strlen(functions[i].name) + 1);
		name += strlen(functions[i].name) + 1;
		m->n = m->n < name ? name : m->n;
		if (is_narrow) {
			put_at(m, at + 20, functions[i].kind == GO_FOREIGN ? 0 : 77, 4);
			put_at(m, at + flags - 1, i, 1);
			put_at(m, at + flags, functions[i].kind == GO_ASSEMBLY ? 5 : 1, 1);
		}
		at += is_narrow ? flags + 1 : width + 4;
	}
	put_at(m, list + 2 * FUNCTIONS * width, base + END, width);
}

static const struct {
	u32 magic, word;
	bool is_narrow, is_first;
} layouts[] = {
	{ 0xfffffffb, 8, false, true }, { 0xfffffffb, 4, false, true }, { 0xfffffffa, 8, false, false },
	{ 0xfffffff0, 8, true, false }, { 0xfffffff1, 8, true, false }, { 0xfffffff1, 4, true, false },
};

struct found {
	size_t n;
	size_t kinds;           /* functions whose kind is known */
	size_t i;               /* functions[] below it were seen */
};

static int check_one(void *arg, const struct go_function *f)
{
	struct found *found = arg;

	while (found->i < FUNCTIONS && f->start != TEXT + functions[found->i].start)
		found->i++;
	assert_true(found->i < FUNCTIONS);
	assert_int_equal(f->len, strlen(functions[found->i].name));
	assert_memory_equal(f->name, functions[found->i].name, f->len);
	assert_true(f->kind == GO_UNKNOWN || f->kind == functions[found->i].kind);
	assert_int_equal(f->id, f->kind == GO_UNKNOWN ? 0 : found->i);
	found->kinds += f->kind != GO_UNKNOWN;
	found->i++;
	assert_int_equal(f->end, TEXT + (found->i < FUNCTIONS ? functions[found->i].start : END));
	found->n++;
	return 0;
}

static void every_layout(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(layouts); i++) {
		struct found found = {};
		struct go_table t;
		struct made m;

		make_table(&m, layouts[i].magic, layouts[i].word, layouts[i].is_narrow, layouts[i].is_first);
		assert_int_equal(go_table__open(&t, m.byte, m.n), 0);
		assert_int_equal(t.text, layouts[i].is_narrow ? TEXT : 0);
		assert_int_equal(t.text_at, layouts[i].is_narrow ? 8 + 2 * layouts[i].word : 0);
		assert_int_equal(go_table__each(&t, check_one, &found), 0);
		assert_int_equal(found.n, FUNCTIONS);
		assert_int_equal(found.kinds, layouts[i].is_narrow ? FUNCTIONS : 0);
	}
}

/* A truncated table gives fewer names or kinds, but no wrong ones. The memory is as long as the table, for
 * sanitizers. */
static void cut(void **state)
{
	size_t i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(layouts); i++) {
		struct made m;

		make_table(&m, layouts[i].magic, layouts[i].word, layouts[i].is_narrow, layouts[i].is_first);
		for (n = 0; n < m.n; n++) {
			struct found found = {};
			u8 *part = malloc(n ?: 1);
			struct go_table t;

			assert_non_null(part);
			memcpy(part, m.byte, n);
			if (!go_table__open(&t, part, n))
				go_table__each(&t, check_one, &found);
			assert_true(found.n < FUNCTIONS || (layouts[i].is_narrow && found.kinds < FUNCTIONS));
			free(part);
		}
	}
}

static int stop(void *arg, const struct go_function *f)
{
	(void)f;
	return --*(int *)arg ? 0 : -ENOMEM;
}

static void a_visit_can_stop(void **state)
{
	struct go_table t;
	struct made m;
	int left = 2;

	(void)state;
	make_table(&m, 0xfffffff1, 8, true, false);
	assert_int_equal(go_table__open(&t, m.byte, m.n), 0);
	assert_int_equal(go_table__each(&t, stop, &left), -ENOMEM);
	assert_int_equal(left, 0);
}

static void no_table(void **state)
{
	static const struct {
		size_t at;
		u8 byte;
	} wrong[] = { { 0, 0x12 }, { 4, 1 }, { 6, 3 }, { 7, 5 }, { 15, 0x80 }, { 39, 1 }, { 71, 1 } };
	struct go_table t;
	struct made m;
	size_t i;

	(void)state;
	assert_int_equal(go_table__open(&t, NULL, 0), -EBADMSG);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		make_table(&m, 0xfffffff1, 8, true, false);
		m.byte[wrong[i].at] = wrong[i].byte;
		assert_int_equal(go_table__open(&t, m.byte, m.n), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_layout),
		cmocka_unit_test(cut),
		cmocka_unit_test(a_visit_can_stop),
		cmocka_unit_test(no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
