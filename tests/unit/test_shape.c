// SPDX-License-Identifier: BSD-2-Clause
/* Text of structures, from BTF made here: types that compilers rarely emit, and invalid ones. */
#include "unit.h"

#include "types/shape.h"

static void check(const struct btf *btf, int id, const void *bytes, u32 size, const char *wanted)
{
	struct c_type type = c_type__of(btf, id);
	struct shape *s;
	char *text;

	assert_int_equal(shape__new(&s, &type), 0);
	text = shape__text(s, bytes, size);
	assert_string_equal(text, wanted);
	free(text);
	shape__free(s);
}

static void members_are_written_by_their_types(void **state)
{
	struct btf *btf = btf__new_empty();
	int u64_id = btf__add_int(btf, "unsigned long", 8, 0);
	int s32_id = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int wide = btf__add_int(btf, "__int128", 16, BTF_INT_SIGNED);
	int color = btf__add_enum(btf, "color", 4), s;
	const struct { int color, other; u64 bits; u8 wide[16]; } bytes = {
		-1, 7, 0xfedcba9876543210, { 1, [15] = 0xff } };

	(void)state;
	btf__add_enum_value(btf, "NONE", -1);
	btf__add_enum_value(btf, "RED", 1);
	s = btf__add_struct(btf, "s", 32);
	btf__add_field(btf, "color", color, 0, 0);
	btf__add_field(btf, "other", color, 32, 0);
	btf__add_field(btf, "low", u64_id, 64, 4);
	btf__add_field(btf, "across", u64_id, 68, 60);
	btf__add_field(btf, "sign", s32_id, 124, 4);
	btf__add_field(btf, "wide", wide, 128, 0);
	check(btf, s, &bytes, 32, "{.color=NONE, .other=7, .low=0, .across=1147797409030816545, .sign=-1, "
	      ".wide=<010000000000000000000000000000ff>}");
	/* There are fewer bytes than the type has: missing members are not made up. */
	check(btf, s, &bytes, 9, "{.color=NONE, .other=7, .low=0, .across=..., .sign=..., .wide=...}");
	btf__free(btf);
}

/* The type of a bit-field may have more bytes than are left of the structure, as for the last bits of a word. */
static void bits_may_be_the_last_ones(void **state)
{
	static const u8 bytes[8] = { 1, 2, 3, 4, 5, 0, 0x60, 0xff };
	struct btf *btf = btf__new_empty();
	int u32_id = btf__add_int(btf, "unsigned int", 4, 0), s32_id = btf__add_int(btf, "int", 4, BTF_INT_SIGNED), s;

	(void)state;
	s = btf__add_struct(btf, "s", 8);
	btf__add_field(btf, "a", u32_id, 0, 8);
	btf__add_field(btf, "d", u32_id, 24, 8);
	btf__add_field(btf, "e", u32_id, 32, 20);
	btf__add_field(btf, "f", s32_id, 52, 12);
	check(btf, s, bytes, 8, "{.a=1, .d=4, .e=5, .f=-10}");
	check(btf, s, bytes, 7, "{.a=1, .d=4, .e=5, .f=...}");
	btf__free(btf);
}

static void texts_end_at_a_zero_or_at_their_end(void **state)
{
	struct btf *btf = btf__new_empty();
	int ch = btf__add_int(btf, "char", 1, BTF_INT_SIGNED), text = btf__add_array(btf, ch, ch, 4);
	int open = btf__add_array(btf, ch, ch, 0), s = btf__add_struct(btf, "s", 8);

	(void)state;
	btf__add_field(btf, "a", text, 0, 0);
	btf__add_field(btf, "b", text, 32, 0);
	btf__add_field(btf, "open", open, 64, 0);
	/* A text at the very end of the kept bytes may be longer. */
	check(btf, s, "ab\0xcdef", 8, "{.a=\"ab\", .b=\"cdef\", ...}");
	btf__free(btf);
}

/* The mask of a structure has the bits that belong to its members. */
static void padding_is_what_no_member_has(void **state)
{
	static const u8 wanted[16] = { 0xff, 0, 0x38, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0xff, 0xff };
	struct btf *btf = btf__new_empty();
	int u8_id = btf__add_int(btf, "u8", 1, 0), u16_id = btf__add_int(btf, "u16", 2, 0);
	int u32_id = btf__add_int(btf, "u32", 4, 0), inner = btf__add_struct(btf, "inner", 8), array, s;
	struct c_type type;
	struct shape *shape;
	u8 mask[16];

	(void)state;
	btf__add_field(btf, "x", u32_id, 0, 0);
	btf__add_field(btf, "y", u16_id, 32, 0);
	array = btf__add_array(btf, u32_id, inner, 1);
	s = btf__add_struct(btf, "s", 16);
	btf__add_field(btf, "a", u8_id, 0, 0);
	btf__add_field(btf, "b", u32_id, 19, 3);
	btf__add_field(btf, "in", array, 32, 0);
	btf__add_field(btf, "c", u16_id, 96, 0);
	type = c_type__of(btf, s);
	assert_int_equal(shape__new(&shape, &type), 0);
	assert_int_equal(shape__size(shape), 16);
	shape__mask(shape, mask);
	assert_memory_equal(mask, wanted, sizeof(mask));
	shape__free(shape);
	btf__free(btf);
}

static u32 texts;
static void count_text(void *arg, u32 offset, u32 size)
{
	u32 *most = arg;

	assert_in_range(offset + size, 1, *most);
	texts++;
}

/* Members beyond the end of a structure, members nested without end, and more members than anybody reads. */
static void types_that_nobody_vouches_for(void **state)
{
	struct btf *btf = btf__new_empty();
	int ch = btf__add_int(btf, "char", 1, BTF_INT_SIGNED), huge = btf__add_array(btf, ch, ch, 1 << 30);
	int inner = btf__add_struct(btf, "inner", 1), many, s, i, self;
	static u8 bytes[SHAPE_BYTES_MOST];
	struct c_type type;
	struct shape *shape;
	u32 size;
	char *text;

	(void)state;
	/* Each of 600 members is a gigabyte of text, in an element of one byte. */
	for (i = 0; i < 600; i++)
		btf__add_field(btf, "t", huge, 0, 0);
	many = btf__add_array(btf, ch, inner, 1 << 20);
	s = btf__add_struct(btf, "s", 1 << 21);
	btf__add_field(btf, "many", many, 0, 0);
	btf__add_field(btf, "far", ch, 0xfffff8, 0);
	type = c_type__of(btf, s);
	assert_int_equal(shape__new(&shape, &type), 0);
	size = shape__size(shape);
	assert_int_equal(size, SHAPE_BYTES_MOST);
	memset(bytes, 'x', sizeof(bytes));
	text = shape__text(shape, bytes, size);
	assert_in_range(strlen(text), 100, SHAPE_TEXT_MOST + 3);
	assert_string_equal(text + strlen(text) - 3, "...");
	free(text);
	shape__mask(shape, bytes);
	shape__each_text(shape, count_text, &size);
	assert_in_range(texts, 1, SHAPE_MEMBERS_MOST * SHAPE_BYTES_MOST);
	shape__free(shape);

	/* A structure that contains itself, which no compiler emits. */
	self = btf__type_cnt(btf);
	assert_int_equal(btf__add_struct(btf, "self", 8), self);
	btf__add_field(btf, "self", self, 0, 0);
	btf__add_field(btf, "other", self, 0, 0);
	type = c_type__of(btf, self);
	assert_int_equal(shape__new(&shape, &type), 0);
	text = shape__text(shape, bytes, 8);
	assert_non_null(strstr(text, "..."));
	free(text);
	shape__free(shape);
	type = c_type__of(btf, ch);
	assert_int_equal(shape__new(&shape, &type), -EINVAL);
	btf__free(btf);
}

static void flags_are_written_as_the_kernel_does(void **state)
{
	struct shape *s = shape__of_flags(8), *other = shape__of_names(8, false);
	static const struct { u64 value; const char *text; } cases[] = {
		{ 0, "NONE" }, { 1, "ONE" }, { 4, "FOUR" }, { 5, "ONE|FOUR" }, { 3, "BOTH" }, { 7, "BOTH|FOUR" },
		{ 8, "0x8" }, { 0x8000000000000002, "0x8000000000000002" }, { 0x1f, "BOTH|FOUR|0x18" },
	};
	char *text;
	size_t i;

	(void)state;
	/* Names of several bits take precedence over names of single bits. */
	assert_int_equal(shape__add_name(s, "BOTH", 3), 0);
	assert_int_equal(shape__add_name(s, "ONE", 1), 0);
	assert_int_equal(shape__add_name(s, "FOUR", 4), 0);
	text = shape__text(s, &cases[0].value, 8);
	assert_string_equal(text, "0");
	free(text);
	assert_int_equal(shape__add_name(s, "NONE", 0), 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		text = shape__text(s, &cases[i].value, 8);
		assert_string_equal(text, cases[i].text);
		free(text);
	}
	assert_false(shape__equal(s, other));
	shape__free(other);
	shape__free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_written_by_their_types),
		cmocka_unit_test(bits_may_be_the_last_ones),
		cmocka_unit_test(texts_end_at_a_zero_or_at_their_end),
		cmocka_unit_test(padding_is_what_no_member_has),
		cmocka_unit_test(types_that_nobody_vouches_for),
		cmocka_unit_test(flags_are_written_as_the_kernel_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
