// SPDX-License-Identifier: BSD-2-Clause
#include "jit/compiler.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"
#include "bpf/lib/probe.h"
#include "sym/kallsyms.h"

/*
 * On all 64-bit machines, the top bit of an address distinguishes kernel from user memory. A kernel
 * pointer may also lead to user memory (char __user *), which its type does not always show.
 */
static void copy(struct compiler *f, s64 offset, int base, s64 to, u32 size, bool in_kernel)
{
	struct code *code = f->code;

	code__move(code, BPF_REG_3, BPF_REG_0);
	if (offset)
		code__op_number(code, BPF_ADD, BPF_REG_3, offset);
	code__move(code, BPF_REG_1, base);
	code__op_number(code, BPF_ADD, BPF_REG_1, to);
	code__set(code, BPF_REG_2, size);
	if (f->place->is_user && !in_kernel) {
		code__call(code, BPF_FUNC_probe_read_user);
	} else {
		int kernel = code__label(code), done = code__label(code);

		code__jump_if_number(code, BPF_JSLT, BPF_REG_3, 0, kernel);
		code__call(code, BPF_FUNC_probe_read_user);
		code__jump(code, done);
		code__place(code, kernel);
		code__call(code, BPF_FUNC_probe_read_kernel);
		code__place(code, done);
	}
	code__jump_if_number(code, BPF_JNE, BPF_REG_0, 0, f->fault);
}

void compiler__read(struct compiler *f, s64 offset, u32 size, bool in_kernel)
{
	copy(f, offset, BPF_REG_10, COMPILER_READ_AT, size, in_kernel);
	code__load(f->code, size_code(size), BPF_REG_0, BPF_REG_10, COMPILER_READ_AT);
}

/* True for the $retval of a function that returns a C++ reference: it means the referenced object. */
static bool is_referring_result(const struct place *p, const struct expr *e)
{
	struct c_type to;

	return p->has_result && !strcmp(e->text, "retval") && c_type__referred(&p->result, &to);
}

bool expr_is_lvalue(const struct compiler *f, const struct expr *e)
{
	const struct place_variable *v;
	struct c_type to;

	e = compiler__follow(f, e);
	switch (e->op) {
	case EXPR_MEMBER:
	case EXPR_ARROW:
	case EXPR_INDEX:
	case EXPR_DEREFERENCE:
	case EXPR_MEMORY:
	case EXPR_SYMBOL:
		return true;
	case EXPR_SPECIAL:
		if (is_referring_result(f->place, e))
			return true;
		if (!f->place->own_arguments || expr_is_of_task(f, e))
			return false;
		/* fall through */
	case EXPR_NAME:
		v = place__find(f->place, e->text);
		return v && (v->where == AT_MEMORY || v->where == AT_INDEXED ||
			     v->where == AT_STATIC || v->where == AT_POINTED ||
			     (v->where != AT_NOWHERE && c_type__referred(&v->type, &to)));
	default:
		return false;
	}
}

/*
 * --- members -----------------------------------------------------------------------------------
 */

struct names {
	const char **name;
	size_t n;
};

static void add_name(void *arg, const char *name)
{
	struct names *names = arg;

	if (!ARRAY_ROOM(names->name, names->n))
		names->name[names->n++] = name;
}

static int no_member(struct compiler *f, const struct expr *e, const struct c_type *type)
{
	char list[300] = "", *text = c_type__text(type);
	struct names names = {};
	const char *near;
	size_t i, at = 0;

	c_type__members(type, add_name, &names);
	near = nearest(e->text, names.name, names.n);
	complain(f->c, 0, e->op_at, e->op_len, "%s has no member '%s'", text ?: "it", e->text);
	for (i = 0; i < names.n && at < sizeof(list) - 40; i++)
		at += snprintf(list + at, sizeof(list) - at, "%s%s", i ? ", " : "", names.name[i]);
	if (near)
		complain_hint(f->c, 0, "did you mean %s?", near);
	else if (names.n)
		complain_hint(f->c, 0, "it has %s%s", list, i < names.n ? ", ..." : "");
	free(names.name);
	free(text);
	return -EINVAL;
}

static int member(struct compiler *f, const struct expr *e, struct lvalue *l)
{
	struct c_member m;
	char *text;

	if (!c_type__is_struct(&l->type)) {
		text = c_type__text(&l->type);
		complain(f->c, 0, e->left->at, e->left->len, "this is %s and has no members",
			 text ?: "no structure");
		free(text);
		return -EINVAL;
	}
	if (!c_type__member(&l->type, e->text, &m))
		return no_member(f, e, &l->type);
	l->by_reference = false;
	l->type = m.type;
	l->bits = m.bits;
	l->bit_offset = m.bits ? m.bit_offset : 0;
	if (!m.bits)
		l->offset += m.bit_offset / 8;
	return 0;
}

/* Dereferences the pointer in r0. Sets *elements to the size of the array there, or to 0 if unknown. */
static int pointed_to(struct compiler *f, const struct expr *e, struct lvalue *l, u32 *elements)
{
	struct operand o = {};
	char *text;
	int err;

	if (expr_is_lvalue(f, e)) {
		err = compiler__lvalue(f, e, l);
		if (!err && l->by_reference && c_type__is_struct(&l->type))
			return 0;
		err = err ?: compiler__load(f, e, l, &o);
	} else {
		err = compiler__value(f, e, &o);
	}
	*elements = o.elements;

	if (err)
		return err;
	*l = (struct lvalue){};
	if (c_type__pointee(&o.type, &l->type) || compiler__argument_pointee(f, e, &l->type))
		return 0;
	text = c_type__text(&o.type);
	complain(f->c, 0, e->at, e->len, "this is %s%s, and the type behind it is unknown",
		 c_type__is_pointer(&o.type) ? "" : "not a pointer but ", text ?: "a number");
	free(text);
	return complain_hint(f->c, -EINVAL,
			     "use a cast, as in ((struct sock *)$arg1)->sk_family; +8($arg1) reads 8 bytes");
}

/*
 * --- arrays ------------------------------------------------------------------------------------
 */

/* Does not check arrays of one element: before flexible arrays, structures ended in them. */
static int check_index(struct compiler *f, const struct expr *e, s64 index, u32 elements)
{
	if (index > INT32_MAX || index < INT32_MIN)
		return compiler__refuse(f, e, "this index is out of range");
	if (elements < 2 || (index >= 0 && index < elements))
		return 0;
	return complain(f->c, -EINVAL, e->at, e->len, "the array has %u elements, from 0 to %u", elements,
			elements - 1);
}

static int indexed(struct compiler *f, const struct expr *e, struct lvalue *l)
{
	u32 elements;
	struct operand o;
	bool is_constant;
	u64 number, size;
	int err, at;

	err = compiler__constant(f, e->right, NULL, &number, &o, &is_constant);
	if (!err)
		err = pointed_to(f, e->left, l, &elements);     /* the value of an array is its address */
	if (err)
		return err;
	size = c_type__size(&l->type);
	if (!size)
		return compiler__refuse(f, e, "the size of the elements is unknown");
	if (is_constant) {
		l->offset += (s64)number * (s64)size;
		return check_index(f, e->right, number, elements);
	}
	at = compiler__slot(f, e);
	if (!at)
		return -EINVAL;
	code__store(f->code, BPF_DW, BPF_REG_10, BPF_REG_0, at);
	err = compiler__value(f, e->right, &o);
	if (elements > 1) {
		code__set(f->code, BPF_REG_1, elements);
		code__jump_if(f->code, BPF_JGE, BPF_REG_0, BPF_REG_1, f->arithmetic);
	}
	code__op_number(f->code, BPF_MUL, BPF_REG_0, size);
	code__load(f->code, BPF_DW, BPF_REG_1, BPF_REG_10, at);
	code__op(f->code, BPF_ADD, BPF_REG_0, BPF_REG_1);
	f->slots--;
	return err;
}

/*
 * --- places ------------------------------------------------------------------------------------
 */

static int symbol(struct compiler *f, const struct expr *e, struct lvalue *l)
{
	u64 address;
	int err;

	if (f->place->is_user)
		return compiler__refuse(f, e,
					"variables of programs are named without @ and need debug information");
	err = kernel_symbol(e->text, &address);
	if (err == -EPERM)
		return compiler__refuse(f, e, "the kernel hides its addresses (kptr_restrict)");
	if (err)
		return complain(f->c, -EINVAL, e->at, e->len, "the kernel has no symbol '%s'",
				e->text);
	code__set(f->code, BPF_REG_0, address);
	*l = (struct lvalue){ .type = c_type__integer(8, false) };
	return 0;
}

static int variable(struct compiler *f, const struct expr *e, struct lvalue *l)
{
	const struct place_variable *v = place__find(f->place, e->text);
	struct operand o;
	struct c_type to;
	int err;

	if (v && compiler__variable_address(f, v)) {
		*l = (struct lvalue){ .offset = v->where == AT_POINTED ? 0 : v->offset,
				      .type = v->type };
		return 0;
	}
	if (!is_referring_result(f->place, e) && !(v && c_type__referred(&v->type, &to)))
		return compiler__refuse(f, e, "this is not in memory");
	/* A reference in a register. */
	err = v ? compiler__load_variable(f, e, v, &o) : compiler__special(f, e, &o);
	*l = (struct lvalue){ .by_reference = true };
	if (!err)
		c_type__referred(&o.type, &l->type);
	return err;
}

static int find_place(struct compiler *f, const struct expr *e, struct lvalue *l)
{
	struct operand o;
	u32 elements;
	int err;

	switch (e->op) {
	case EXPR_NAME:
	case EXPR_SPECIAL:
		return variable(f, e, l);
	case EXPR_ARROW:
		err = pointed_to(f, e->left, l, &elements);
		return err ?: member(f, e, l);
	case EXPR_MEMBER:
		if (!expr_is_lvalue(f, e->left))
			return compiler__refuse(
				f, e->left,
				"this is not a structure in memory; use -> for members of a pointer");
		err = compiler__lvalue(f, e->left, l);
		return err ?: member(f, e, l);
	case EXPR_DEREFERENCE:
		return pointed_to(f, e->left, l, &elements);
	case EXPR_INDEX:
		return indexed(f, e, l);
	case EXPR_MEMORY:
		err = compiler__value(f, e->left, &o);
		*l = (struct lvalue){ .offset = (s64)e->number, .type = c_type__integer(8, false) };
		return err;
	default:
		return symbol(f, e, l);
	}
}

/* A reference in memory is an address, but its name always means the referenced object. */
int compiler__lvalue(struct compiler *f, const struct expr *e, struct lvalue *l)
{
	int err = find_place(f, compiler__follow(f, e), l);
	struct c_type to;

	l->in_kernel = expr_is_of_task(f, e);
	if (err || l->bits || !c_type__referred(&l->type, &to))
		return err;
	if (l->offset > INT32_MAX || l->offset < INT32_MIN)
		return compiler__refuse(f, e, "this offset is out of range");
	compiler__read(f, l->offset, 8, l->in_kernel);
	*l = (struct lvalue){ .type = to, .by_reference = true };
	return 0;
}

static int load_bits(struct compiler *f, const struct expr *e, const struct lvalue *l,
		     struct operand *o)
{
	u64 first = l->bit_offset % 8;
	bool is_signed;
	u32 size;

	if (first + l->bits > 64 || !c_type__is_number(&l->type, &size, &is_signed))
		return compiler__refuse(f, e, "this bit-field cannot be read");
	/* Load only the bytes of the bit-field: the bytes after it may be inaccessible. */
	for (size = 1; size * 8 < first + l->bits; size *= 2)
		;
	compiler__read(f, l->offset + l->bit_offset / 8, size, l->in_kernel);
	code__op_number(f->code, BPF_LSH, BPF_REG_0, 64 - first - l->bits);
	code__op_number(f->code, is_signed ? BPF_ARSH : BPF_RSH, BPF_REG_0, 64 - l->bits);
	if (is_signed)
		*o = operand_between(-((__int128)1 << (l->bits - 1)),
				     ((__int128)1 << (l->bits - 1)) - 1);
	else
		*o = operand_between(0, ((__int128)1 << l->bits) - 1);
	o->type = l->type;
	return 0;
}

int compiler__load(struct compiler *f, const struct expr *e, const struct lvalue *l,
		   struct operand *o)
{
	struct c_type element;
	bool is_signed;
	u32 size, n;
	char *text;

	if (l->offset > INT32_MAX || l->offset < INT32_MIN)
		return compiler__refuse(f, e, "this offset is out of range");
	if (l->bits)
		return load_bits(f, e, l, o);
	/* The value of an array is its address. */
	if (c_type__element(&l->type, &element, &n)) {
		code__op_number(f->code, BPF_ADD, BPF_REG_0, l->offset);
		*o = operand_address(element);
		o->elements = n;
		return 0;
	}
	if (!c_type__is_number(&l->type, &size, &is_signed)) {
		text = c_type__text(&l->type);
		complain(f->c, 0, e->at, e->len, "this is %s, not a number", text ?: "a structure");
		free(text);
		return complain_hint(f->c, -EINVAL, "name a member, or take its address with &");
	}
	compiler__read(f, l->offset, size, l->in_kernel);
	if (is_signed && size < 8)
		compiler__convert(f, size, true);
	*o = operand_of(is_signed ? SIGNED : size < 8 ? SMALL : UNSIGNED, &l->type);
	return 0;
}

/*
 * --- whole structures and arrays ---------------------------------------------------------------
 */

bool compiler__is_aggregate(struct compiler *f, const struct expr *e, struct c_type *type)
{
	struct complaint ignored = {};
	struct compiler quiet = *f;
	struct code scratch = {};
	struct c_type element;
	struct lvalue l;
	bool is = false;
	u32 n;

	e = compiler__follow(f, e);
	quiet.code = &scratch;
	quiet.c = &ignored;
	compiler__begin_losses(&quiet);
	if (expr_is_lvalue(f, e) && !compiler__lvalue(&quiet, e, &l) && !l.bits) {
		is = c_type__is_struct(&l.type) ||
		     (c_type__element(&l.type, &element, &n) && !c_type__is_char(&element));
		*type = l.type;
	}
	code__free(&scratch);
	return is && c_type__size(type);
}

/* Position of a key's bytes, for the visitor of its texts. */
struct key_bytes {
	struct code *code;
	s64 at;
};

static void clear_byte(struct code *code, s64 at)
{
	code__store(code, BPF_B, REG_FRAME, BPF_REG_1, at);
}

/* Clears all bytes starting with the first NUL: jumps into a row of stores, with one entry per possible position. */
static void clear_behind_text(void *arg, u32 offset, u32 size)
{
	struct key_bytes *k = arg;
	int done = code__label(k->code), *ends = calloc(size, sizeof(*ends));
	u32 i;

	if (!ends && !k->code->err)
		k->code->err = -ENOMEM;
	code__set(k->code, BPF_REG_1, 0);
	for (i = 0; ends && i < size; i++) {
		ends[i] = code__label(k->code);
		code__load(k->code, BPF_B, BPF_REG_0, REG_FRAME, k->at + offset + i);
		code__jump_if_number(k->code, BPF_JEQ, BPF_REG_0, 0, ends[i]);
	}
	code__jump(k->code, done);
	for (i = 0; ends && i < size; i++) {
		code__place(k->code, ends[i]);
		clear_byte(k->code, k->at + offset + i);
	}
	code__place(k->code, done);
	free(ends);
}

static void clear_padding(struct compiler *f, const struct shape *shape, s64 at)
{
	u8 mask[SHAPE_BYTES_MOST];
	u32 i;

	shape__mask(shape, mask);
	code__set(f->code, BPF_REG_1, 0);
	for (i = 0; i < shape__size(shape); i++) {
		if (!mask[i]) {
			clear_byte(f->code, at + i);
		} else if (mask[i] != 0xff) {
			code__load(f->code, BPF_B, BPF_REG_0, REG_FRAME, at + i);
			code__op_number(f->code, BPF_AND, BPF_REG_0, mask[i]);
			code__store(f->code, BPF_B, REG_FRAME, BPF_REG_0, at + i);
		}
	}
}

int compiler__aggregate(struct compiler *f, const struct expr *e, const struct layout_field *field,
			bool record)
{
	s64 at = offsetof(struct probe_frame, key) + field->offset;
	u32 size = shape__size(field->shape), i;
	struct key_bytes bytes = { f->code, at };
	struct lvalue l;
	int err = compiler__lvalue(f, compiler__follow(f, e), &l);

	if (err)
		return err;
	code__note(f->code, expr__format(e));
	copy(f, l.offset, REG_FRAME, at, size, l.in_kernel);
	code__set(f->code, BPF_REG_1, 0);
	for (i = size; i < field->size; i++)
		clear_byte(f->code, at + i);
	if (record)
		return 0;
	clear_padding(f, field->shape, at);
	shape__each_text(field->shape, clear_behind_text, &bytes);
	return 0;
}
