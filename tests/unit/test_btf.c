// SPDX-License-Identifier: BSD-2-Clause
/* Types as C declarations and as offsets, from BTF made here with types that kernels rarely have, or must not have. */
#include "unit.h"

#include "types/btf.h"

/* Ids of the types that types() makes. */
struct ids {
	int i32, u8, chr, boolean, list, fwd, fwd_union, color, wide, typedef_int, sock, deep;
};

static int pointer(struct btf *btf, int to)
{
	return btf__add_ptr(btf, to);
}

static int array(struct btf *btf, int of, u32 n)
{
	return btf__add_array(btf, 1, of, n);
}

static int prototype(struct btf *btf, int returns)
{
	return btf__add_func_proto(btf, returns);
}

static struct btf *types(struct ids *id)
{
	struct btf *btf = btf__new_empty();
	int inner, bytes, anonymous, any, tail;

	assert_non_null(btf);
	id->i32 = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	id->u8 = btf__add_int(btf, "unsigned char", 1, 0);
	id->chr = btf__add_int(btf, "char", 1, BTF_INT_SIGNED);
	id->boolean = btf__add_int(btf, "_Bool", 1, BTF_INT_BOOL);
	id->fwd = btf__add_fwd(btf, "file", BTF_FWD_STRUCT);
	id->fwd_union = btf__add_fwd(btf, "u", BTF_FWD_UNION);
	id->typedef_int = btf__add_typedef(btf, "pid_t", id->i32);

	/* Members are added to the newest type, so the types of members must be added before it. */
	any = pointer(btf, 0);
	bytes = array(btf, id->u8, 8);
	tail = array(btf, id->chr, 0);
	id->list = btf__add_struct(btf, "list_head", 16);
	assert_int_equal(btf__add_field(btf, "next", any, 0, 0), 0);

	id->color = btf__add_enum(btf, "color", 4);
	assert_int_equal(btf__add_enum_value(btf, "RED", 0), 0);
	assert_int_equal(btf__add_enum_value(btf, "BLUE", 7), 0);
	id->wide = btf__add_enum64(btf, "wide", 8, true);
	assert_int_equal(btf__add_enum64_value(btf, "LOW", (u64)-5), 0);
	assert_int_equal(btf__add_enum64_value(btf, "HIGH", 1ULL << 40), 0);

	/* union { struct { int a; pid_t b; }; unsigned char bytes[8]; } */
	inner = btf__add_struct(btf, NULL, 8);
	assert_int_equal(btf__add_field(btf, "a", id->i32, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "b", id->typedef_int, 32, 0), 0);
	anonymous = btf__add_union(btf, NULL, 8);
	assert_int_equal(btf__add_field(btf, NULL, inner, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "bytes", bytes, 0, 0), 0);

	id->sock = btf__add_struct(btf, "sock", 48);
	assert_int_equal(btf__add_field(btf, "flags", id->u8, 0, 3), 0);
	assert_int_equal(btf__add_field(btf, "more", id->u8, 3, 5), 0);
	assert_int_equal(btf__add_field(btf, NULL, anonymous, 64, 0), 0);
	assert_int_equal(btf__add_field(btf, "named", anonymous, 128, 0), 0);
	assert_int_equal(btf__add_field(btf, "list", id->list, 192, 0), 0);
	assert_int_equal(btf__add_field(btf, "tail", tail, 320, 0), 0);
	id->deep = btf__add_typedef(btf, "sock_t", id->sock);
	return btf;
}

static void assert_c(const struct btf *btf, int id, const char *name, const char *want)
{
	char *text;

	assert_true(id > 0);
	text = btf_declaration(btf, id, name);
	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static void declarations(void **state)
{
	struct ids id;
	struct btf *btf = types(&id);
	int p, fn, c;

	(void)state;
	assert_c(btf, id.i32, "x", "int x");
	assert_c(btf, id.i32, "", "int");
	assert_c(btf, id.typedef_int, "x", "pid_t x");
	assert_c(btf, id.fwd, "x", "struct file x");
	assert_c(btf, id.fwd_union, "", "union u");
	assert_c(btf, id.color, "c", "enum color c");
	assert_c(btf, id.wide, "c", "enum wide c");
	assert_c(btf, pointer(btf, 0), "p", "void *p");
	assert_c(btf, pointer(btf, id.fwd), "", "struct file *");
	assert_c(btf, pointer(btf, pointer(btf, id.chr)), "argv", "char **argv");
	assert_c(btf, array(btf, id.u8, 16), "a", "unsigned char a[16]");
	assert_c(btf, array(btf, id.u8, 16), "", "unsigned char[16]");
	assert_c(btf, array(btf, id.u8, 0), "a", "unsigned char a[]");
	assert_c(btf, array(btf, array(btf, id.u8, 3), 2), "a", "unsigned char a[2][3]");
	assert_c(btf, array(btf, pointer(btf, id.u8), 2), "a", "unsigned char *a[2]");
	assert_c(btf, pointer(btf, array(btf, id.u8, 2)), "p", "unsigned char (*p)[2]");
	assert_c(btf, pointer(btf, array(btf, id.u8, 2)), "", "unsigned char (*)[2]");

	c = btf__add_const(btf, id.chr);
	assert_c(btf, c, "x", "const char x");
	assert_c(btf, pointer(btf, c), "s", "const char *s");
	assert_c(btf, btf__add_const(btf, pointer(btf, id.chr)), "s", "char *const s");
	assert_c(btf, btf__add_const(btf, pointer(btf, id.chr)), "", "char *const");
	assert_c(btf, btf__add_const(btf, pointer(btf, c)), "", "const char *const");
	assert_c(btf, btf__add_volatile(btf, c), "x", "const volatile char x");
	assert_c(btf, btf__add_restrict(btf, pointer(btf, c)), "x", "const char *restrict x");
	assert_c(btf, pointer(btf, btf__add_const(btf, 0)), "p", "const void *p");
	assert_c(btf, pointer(btf, btf__add_const(btf, pointer(btf, c))), "p",
		 "const char *const *p");
	assert_c(btf, array(btf, btf__add_const(btf, pointer(btf, c)), 2), "", "const char *const[2]");
	assert_c(btf, pointer(btf, btf__add_type_tag(btf, "user", id.chr)), "s", "char __user *s");
	assert_c(btf, pointer(btf, btf__add_type_tag(btf, "user", c)), "", "const char __user *");

	fn = prototype(btf, id.i32);
	assert_int_equal(btf__add_func_param(btf, "sk", 1), 0);
	assert_int_equal(btf__add_func_param(btf, "", 2), 0);
	assert_c(btf, fn, "f", "int f(int sk, unsigned char)");
	p = pointer(btf, fn);
	assert_c(btf, p, "f", "int (*f)(int sk, unsigned char)");
	assert_c(btf, p, "", "int (*)(int sk, unsigned char)");
	assert_c(btf, array(btf, p, 4), "f", "int (*f[4])(int sk, unsigned char)");
	assert_c(btf, btf__add_const(btf, p), "f", "int (*const f)(int sk, unsigned char)");
	fn = prototype(btf, p);
	assert_c(btf, pointer(btf, fn), "f", "int (*(*f)(void))(int sk, unsigned char)");
	btf__free(btf);
}

/* Parameters must be added directly after their prototype. */
static int variadic(struct btf *btf, int text)
{
	int fn = prototype(btf, 0);

	assert_int_equal(btf__add_func_param(btf, "fmt", text), 0);
	assert_int_equal(btf__add_func_param(btf, NULL, 0), 0);
	return btf__add_func(btf, "printk", BTF_FUNC_GLOBAL, fn);
}

static void prototypes(void **state)
{
	struct function_prototype p;
	struct ids id;
	struct btf *btf = types(&id);
	int text = pointer(btf, btf__add_const(btf, id.chr)), fn, other;

	(void)state;
	fn = variadic(btf, text);
	assert_int_equal(function_prototype__read(&p, btf, fn), 0);
	assert_string_equal(p.text, "void printk(const char *fmt, ...)");
	assert_string_equal(p.returns, "void");
	assert_int_equal(p.n, 1);
	assert_true(p.is_variadic);
	assert_string_equal(p.argument[0].name, "fmt");
	assert_string_equal(p.argument[0].type, "const char *");
	assert_int_equal(p.argument[0].size, 8);
	function_prototype__free(&p);

	other = btf__add_typedef(btf, "handler_t", pointer(btf, prototype(btf, id.i32)));
	assert_int_equal(function_prototype__read(&p, btf, other), 0);
	assert_string_equal(p.text, "int handler_t(void)");
	assert_int_equal(p.n, 0);
	assert_false(p.is_variadic);
	function_prototype__free(&p);

	assert_int_equal(function_prototype__read(&p, btf, id.sock), -EINVAL);
	assert_int_equal(function_prototype__read(&p, btf, text), -EINVAL);
	assert_int_equal(function_prototype__read(&p, btf, 100000), -EINVAL);
	btf__free(btf);
}

/* Formats each member as "depth offset.bit:bits size type name". */
static char *layout_text(const struct btf *btf, int id, bool deep)
{
	struct type_layout l;
	size_t i, size;
	char *text;
	FILE *f;

	assert_int_equal(type_layout__read(&l, btf, id, deep), 0);
	f = open_memstream(&text, &size);
	assert_non_null(f);
	fprintf(f, "%llu", l.size);
	for (i = 0; i < l.n; i++) {
		const struct type_member *m = &l.member[i];

		fprintf(f, "\n%u %llu.%llu:%u %llu %s|%s", m->depth, m->bit_offset / 8,
			m->bit_offset % 8, m->bits, m->size, m->type, m->name);
	}
	fclose(f);
	type_layout__free(&l);
	return text;
}

static void layouts(void **state)
{
	struct type_layout l;
	struct ids id;
	struct btf *btf = types(&id);
	char *text = layout_text(btf, id.sock, false);

	(void)state;
	assert_string_equal(text,
		"48\n"
		"0 0.0:3 1 unsigned char|flags\n"
		"0 0.3:5 1 unsigned char|more\n"
		"0 8.0:0 8 union {...}|\n"
		"1 8.0:0 8 struct {...}|\n"
		"2 8.0:0 4 int|a\n"
		"2 12.0:0 4 pid_t|b\n"
		"1 8.0:0 8 unsigned char[8]|bytes\n"
		"0 16.0:0 8 union {...}|named\n"
		"1 16.0:0 8 struct {...}|\n"
		"2 16.0:0 4 int|named.a\n"
		"2 20.0:0 4 pid_t|named.b\n"
		"1 16.0:0 8 unsigned char[8]|named.bytes\n"
		"0 24.0:0 16 struct list_head|list\n"
		"0 40.0:0 0 char[]|tail");
	free(text);
	text = layout_text(btf, id.deep, true);
	assert_non_null(strstr(text, "0 24.0:0 16 struct list_head|list\n"
				     "1 24.0:0 8 void *|list.next\n"));
	free(text);
	assert_int_equal(type_layout__read(&l, btf, id.i32, false), -EINVAL);
	assert_int_equal(type_layout__read(&l, btf, id.color, false), -EINVAL);
	assert_int_equal(type_layout__read(&l, btf, 0, false), -EINVAL);
	assert_int_equal(type_layout__read(&l, btf, 100000, false), -EINVAL);
	btf__free(btf);
}

static void enums(void **state)
{
	struct enum_values e;
	struct ids id;
	struct btf *btf = types(&id);
	int negative;

	(void)state;
	assert_int_equal(enum_values__read(&e, btf, id.color), 0);
	assert_int_equal(e.n, 2);
	assert_string_equal(e.value[1].name, "BLUE");
	assert_int_equal(e.value[1].value, 7);
	enum_values__free(&e);
	assert_int_equal(enum_values__read(&e, btf, id.wide), 0);
	assert_true(e.is_signed);
	assert_int_equal(e.size, 8);
	assert_true((s64)e.value[0].value == -5);
	assert_true(e.value[1].value == 1ULL << 40);
	enum_values__free(&e);
	negative = btf__add_enum(btf, "sign", 4);
	assert_int_equal(btf__add_enum_value(btf, "MINUS", -1), 0);
	assert_int_equal(enum_values__read(&e, btf, negative), 0);
	assert_true(e.is_signed ? (s64)e.value[0].value == -1 : e.value[0].value == UINT32_MAX);
	enum_values__free(&e);
	assert_int_equal(enum_values__read(&e, btf, id.sock), -EINVAL);
	btf__free(btf);
}

/* Types that contain themselves, which no kernel has, cause neither an endless loop nor a crash. */
static void circles(void **state)
{
	struct function_prototype p;
	struct type_layout l;
	struct btf *btf = btf__new_empty();
	int a, b, s, fn, i;

	(void)state;
	assert_non_null(btf);
	a = btf__add_typedef(btf, "a", 2);
	b = btf__add_const(btf, a);
	assert_int_equal(b, 2);
	assert_c(btf, b, "x", "const a x");     /* the type is named, whatever it is */
	assert_null(btf_bare_type(btf, a, NULL));
	assert_int_equal(function_prototype__read(&p, btf, a), -EINVAL);
	fn = btf__add_ptr(btf, 3);
	assert_int_equal(fn, 3);
	assert_null(btf_declaration(btf, fn, "x"));
	s = btf__add_struct(btf, NULL, 8);
	assert_int_equal(btf__add_field(btf, "x", s, 0, 0), 0);
	assert_int_equal(type_layout__read(&l, btf, s, false), -E2BIG);
	assert_int_equal(type_layout__read(&l, btf, s, true), -E2BIG);
	for (i = 0, fn = 0; i < 100; i++)
		fn = btf__add_ptr(btf, btf__add_func_proto(btf, fn));
	assert_null(btf_declaration(btf, fn, "x"));
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(declarations), cmocka_unit_test(prototypes),
		cmocka_unit_test(layouts),      cmocka_unit_test(enums),
		cmocka_unit_test(circles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
