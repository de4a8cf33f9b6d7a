// SPDX-License-Identifier: BSD-2-Clause
/* Variables that can be named at a site: operands of USDT notes, parameters of functions. */
#include "unit.h"

#include <bpf/btf.h>

#include "jit/place.h"

/* Register numbers of DWARF. */
enum { AX = 0, DX = 1, BX = 3, SI = 4, DI = 5, BP = 6, SP = 7, R8 = 8, R15 = 15 };

static void operands(void **state)
{
	static const struct {
		const char *text;
		struct place_variable v;        /* name, why: not compared */
		u32 size;
		bool is_signed;
	} cases[] = {
		{ "-4@%edi", { .where = AT_REGISTER, .number = DI }, 4, true },
		{ "8@%rax", { .where = AT_REGISTER, .number = AX }, 8, false },
		{ "1@%al", { .where = AT_REGISTER, .number = AX }, 1, false },
		{ "2@%r15w", { .where = AT_REGISTER, .number = R15 }, 2, false },
		{ "-8@$-5", { .where = AT_CONSTANT, .offset = -5 }, 8, true },
		{ "4@$0x10", { .where = AT_CONSTANT, .offset = 16 }, 4, false },
		{ "8@(%rsi)", { .where = AT_MEMORY, .number = SI }, 8, false },
		{ "8@-16(%rbp)", { .where = AT_MEMORY, .number = BP, .offset = -16 }, 8, false },
		{ "-4@0x20(%rsp)", { .where = AT_MEMORY, .number = SP, .offset = 32 }, 4, true },
		{ "8@8(%rax,%rbx,4)",
		  { .where = AT_INDEXED, .number = AX, .index = BX, .scale = 4, .offset = 8 }, 8, false },
		{ "8@(%rdx,%r8,8)",
		  { .where = AT_INDEXED, .number = DX, .index = R8, .scale = 8 }, 8, false },
	};
	const struct place_variable *v;
	bool is_signed;
	u32 size;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct place p = {};

		assert_int_equal(place__add_usdt(&p, cases[i].text), 0);
		assert_int_equal(p.nvariables, 1);
		v = place__find(&p, "arg1");
		assert_non_null(v);
		assert_int_equal(v->where, cases[i].v.where);
		if (v->where != AT_CONSTANT)
			assert_int_equal(v->number, cases[i].v.number);
		assert_int_equal(v->offset, cases[i].v.offset);
		if (v->where == AT_INDEXED) {
			assert_int_equal(v->index, cases[i].v.index);
			assert_int_equal(v->scale, cases[i].v.scale);
		}
		assert_true(c_type__is_number(&v->type, &size, &is_signed));
		assert_int_equal(size, cases[i].size);
		assert_int_equal(is_signed, cases[i].is_signed);
		assert_null(v->why);
		place__free(&p);
	}
}

static bool find_symbol(const struct place *p, const char *name, u64 *address)
{
	(void)p;
	*address = 0x4000;
	return !strcmp(name, "_ZL5state") || !strcmp(name, "a.0");
}

/* The instruction is at 0x1000. */
static void operands_in_variables(void **state)
{
	static const struct {
		const char *text;
		s64 offset;
	} cases[] = {
		{ "-8@_ZL5state(%rip)", 0x3000 }, { "8@a.0+8(%rip)", 0x3008 }, { "4@8+a.0(%rip)", 0x3008 },
		{ "4@-4+a.0+0x10(%rip)", 0x300c }, { "1@a.0-1(%rip)", 0x2fff }, { "-4@+2+a.0(%rip)", 0x3002 },
	};
	static const char *const wrong[] = {
		"8@16(%rip)", "8@(%rip)", "8@a.0b(%rip)", "8@a.0+a.0(%rip)", "8@a.0(%rip)x",
		"8@a.0@GOTPCREL(%rip)", "8@+-5(%rip)", "8@--5+a.0(%rip)", "8@a.0-+5(%rip)",
		"8@a.0+(%rip)", "8@a.0(%rip,%rax,8)", "8@%a.0(%rip)", "8@$a.0(%rip)", "8@-a.0(%rip)",
	};
	struct place p = { .address = 0x1000, .find_symbol = find_symbol };
	const struct place_variable *v;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(place__add_usdt(&p, cases[i].text), 0);
		v = place__find(&p, "arg1");
		assert_int_equal(v->where, AT_STATIC);
		assert_int_equal(v->offset, cases[i].offset);
		place__free(&p);
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(place__add_usdt(&p, wrong[i]), 0);
		assert_int_equal(place__find(&p, "arg1")->where, AT_NOWHERE);
		place__free(&p);
	}
	assert_int_equal(place__add_usdt(&p, "8@gone(%rip)"), 0);
	assert_string_equal(place__find(&p, "arg1")->why, "its operand '8@gone(%rip)' at the probe cannot be read: "
			    "the file's symbol table does not have that name");
	place__free(&p);
}

/* They are arguments, too, so later arguments keep their numbers. */
static void operands_that_are_not_understood(void **state)
{
	static const char *const cases[] = {
		"8@", "8", "8@%nope", "8@%xmm0", "3@%eax", "0@%eax", "16@%rax", "-16@%rax", "x@%rax",
		"8@$", "8@$x", "8@$5x", "8@foo(%rip)", "8@16(%rip)", "8@(%rax)x", "8@(rax)",
		"8@(%rax,%nope,8)", "8@(%nope)", "8@(,%rax,8)", "8@%ah", "8@(%rax,%rbx)", "8@%", "8@(%)",
		"8@*%rax", "99999999999999999999@%rax", "-99999999999999999999@%rax",
	};
	const struct place_variable *v;
	char text[80];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct place p = {};

		snprintf(text, sizeof(text), "%s -4@%%edi", cases[i]);
		assert_int_equal(place__add_usdt(&p, text), 0);
		assert_int_equal(p.nvariables, 2);
		v = place__find(&p, "arg1");
		assert_int_equal(v->where, AT_NOWHERE);
		assert_non_null(strstr(v->why, cases[i]));
		assert_int_equal(place__find(&p, "arg2")->where, AT_REGISTER);
		place__free(&p);
	}
}

static void several_operands(void **state)
{
	struct place p = {};
	char names[64];

	(void)state;
	assert_int_equal(place__add_usdt(&p, "  8@(%rax, %rbx, 4)  -4@%edi 1@$7 "), 0);
	assert_int_equal(p.nvariables, 3);
	assert_int_equal(place__find(&p, "arg2")->where, AT_REGISTER);
	assert_int_equal(place__find(&p, "arg3")->offset, 7);
	assert_null(place__find(&p, "arg4"));
	place__names(&p, names, sizeof(names));
	assert_non_null(strstr(names, "arg2, arg3"));
	place__free(&p);
	assert_int_equal(place__add_usdt(&p, NULL), 0);
	assert_int_equal(place__add_usdt(&p, ""), 0);
	assert_int_equal(p.nvariables, 0);
	place__names(&p, names, sizeof(names));
	assert_string_equal(names, "");
}

/* Notes may contain anything, since they come from a file. */
static void any_operands(void **state)
{
	static const char letters[] = "0123456789-@$%(),xraesidpb ";
	struct random r = { 99 };
	char text[40];
	size_t i, k, n;

	(void)state;
	for (i = 0; i < 100000; i++) {
		struct place p = {};

		n = random__below(&r, sizeof(text));
		for (k = 0; k < n; k++)
			text[k] = letters[random__below(&r, sizeof(letters) - 1)];
		text[n] = 0;
		assert_int_equal(place__add_usdt(&p, text), 0);
		for (k = 0; k < p.nvariables; k++)
			assert_int_equal(p.variable[k].where == AT_NOWHERE, p.variable[k].why != NULL);
		place__free(&p);
	}
}

/* --- functions of the kernel -------------------------------------------------------------------- */

struct types {
	struct btf *btf;
	int i32, u64, small, large, function, nothing;
};

/* int function(int first, struct small s, struct large l, unsigned long last); void nothing(int, ...) */
static void make_types(struct types *t)
{
	int proto;

	t->btf = btf__new_empty();
	assert_non_null(t->btf);
	t->i32 = btf__add_int(t->btf, "int", 4, BTF_INT_SIGNED);
	t->u64 = btf__add_int(t->btf, "unsigned long", 8, 0);
	t->small = btf__add_struct(t->btf, "small", 8);
	assert_int_equal(btf__add_field(t->btf, "a", t->u64, 0, 0), 0);
	t->large = btf__add_struct(t->btf, "large", 24);
	assert_int_equal(btf__add_field(t->btf, "a", t->u64, 0, 0), 0);
	proto = btf__add_func_proto(t->btf, t->i32);
	assert_int_equal(btf__add_func_param(t->btf, "first", t->i32), 0);
	assert_int_equal(btf__add_func_param(t->btf, "s", t->small), 0);
	assert_int_equal(btf__add_func_param(t->btf, "l", t->large), 0);
	assert_int_equal(btf__add_func_param(t->btf, "last", t->u64), 0);
	t->function = btf__add_func(t->btf, "function", BTF_FUNC_GLOBAL, proto);
	proto = btf__add_func_proto(t->btf, 0);
	assert_int_equal(btf__add_func_param(t->btf, "", t->i32), 0);
	assert_int_equal(btf__add_func_param(t->btf, NULL, 0), 0);
	t->nothing = btf__add_func(t->btf, "nothing", BTF_FUNC_GLOBAL, proto);
	assert_true(t->nothing > 0);
}

static void parameters(void **state)
{
	struct place p = { .context = PLACE_REGISTERS };
	struct types t;

	(void)state;
	make_types(&t);
	/* A structure larger than two registers is on the stack, and takes no register. */
	assert_int_equal(place__add_prototype(&p, t.btf, t.function), 0);
	assert_int_equal(place__find(&p, "l")->where, AT_NOWHERE);
	assert_int_equal(place__find(&p, "last")->number, 2);
	assert_true(p.declared.is_known);
	assert_int_equal(p.declared.arguments, 4);
	assert_int_equal(p.declared.registers, 3);
	assert_int_equal(p.declared.stack, 3);
	place__free(&p);
	p = (struct place){ .context = PLACE_ARGUMENTS };
	assert_int_equal(place__add_prototype(&p, t.btf, t.function), 0);
	assert_int_equal(p.nvariables, 4);
	assert_int_equal(p.nslots, 6);
	assert_false(p.has_result);
	assert_int_equal(place__find(&p, "first")->number, 0);
	assert_int_equal(place__find(&p, "s")->where, AT_ARGUMENT);
	assert_int_equal(place__find(&p, "s")->number, 1);
	assert_int_equal(place__find(&p, "l")->where, AT_NOWHERE);
	assert_int_equal(place__find(&p, "last")->number, 5);
	place__free(&p);
	btf__free(t.btf);
}

static void parameters_of_a_return(void **state)
{
	struct place p = { .is_return = true };
	bool is_signed;
	struct types t;
	size_t i;
	u32 size;

	(void)state;
	make_types(&t);
	assert_int_equal(place__add_prototype(&p, t.btf, t.function), 0);
	assert_true(p.has_result);
	assert_true(c_type__is_number(&p.result, &size, &is_signed) && size == 4 && is_signed);
	for (i = 0; i < p.nvariables; i++)
		assert_int_equal(p.variable[i].where, AT_NOWHERE);
	place__free(&p);
	btf__free(t.btf);
}

static void functions_without_names_or_results(void **state)
{
	struct place p = { .is_return = true };
	struct types t;

	(void)state;
	make_types(&t);
	assert_int_equal(place__add_prototype(&p, t.btf, t.nothing), 0);
	assert_false(p.has_result);
	assert_int_equal(p.nvariables, 0);
	assert_int_equal(p.nslots, 1);
	assert_false(p.declared.is_known);      /* "..." */
	assert_int_equal(place__add_prototype(&p, t.btf, t.large), -EINVAL);
	assert_int_equal(place__add_prototype(&p, t.btf, 1000), -EINVAL);
	place__free(&p);
	btf__free(t.btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands),
		cmocka_unit_test(operands_in_variables),
		cmocka_unit_test(operands_that_are_not_understood),
		cmocka_unit_test(several_operands),
		cmocka_unit_test(any_operands),
		cmocka_unit_test(parameters),
		cmocka_unit_test(parameters_of_a_return),
		cmocka_unit_test(functions_without_names_or_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
