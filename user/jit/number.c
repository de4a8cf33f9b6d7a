// SPDX-License-Identifier: BSD-2-Clause
#include "jit/compiler.h"

#include <errno.h>
#include <string.h>

#include "expr/fields.h"
#include "types/dwarf.h"

int compiler__refuse(struct compiler *f, const struct expr *e, const char *why)
{
	return complain(f->c, -EINVAL, e->at, e->len, "%s", why);
}

void compiler__begin_losses(struct compiler *f)
{
	f->fault = code__label(f->code);
	f->arithmetic = code__label(f->code);
	f->too_long = code__label(f->code);
}

int compiler__slot(struct compiler *f, const struct expr *e)
{
	if (f->slots == COMPILER_SLOTS) {
		compiler__refuse(f, e, "this is nested too deeply");
		return 0;
	}
	return -8 * ++f->slots;
}

int size_code(u32 size)
{
	switch (size) {
	case 1:
		return BPF_B;
	case 2:
		return BPF_H;
	case 4:
		return BPF_W;
	case 8:
		return BPF_DW;
	default:
		return -EINVAL;
	}
}

void compiler__convert(struct compiler *f, u32 size, bool is_signed)
{
	if (size >= 8)
		return;
	code__op_number(f->code, BPF_LSH, BPF_REG_0, 64 - 8 * size);
	code__op_number(f->code, is_signed ? BPF_ARSH : BPF_RSH, BPF_REG_0, 64 - 8 * size);
}

static enum number_kind kind_of(u64 number)
{
	return number > INT64_MAX ? UNSIGNED : SMALL;
}

/* Returns the kind of a number with a name: a signed -1 has the bits of the largest unsigned number. */
static enum number_kind kind_of_named(u64 number, bool is_signed)
{
	return is_signed && number > INT64_MAX ? SIGNED : kind_of(number);
}

/* Resolves a name beside an operand: one of the operand's symbols, or an enumerator of its type. */
static bool named_number(struct compiler *f, const struct expr *e, const struct expr *beside,
			 u64 *number, enum number_kind *kind)
{
	const struct tracepoint_format *format = f->place->format;
	struct complaint ignored = {};
	struct compiler quiet = *f;
	struct code scratch = {};
	struct operand o;
	bool found, is_signed;
	u32 size;

	beside = compiler__follow(f, beside);
	if (beside->op == EXPR_TYPED && !strcmp(beside->text, "enum"))
		beside = compiler__follow(f, beside->left);
	/* A computed operand has neither, and compiling it here, too, would double the work per level. */
	if (beside->right && beside->op != EXPR_INDEX)
		return false;
	if (format && beside->op == EXPR_NAME &&
	    field__symbol(format, beside->text, e->text, number)) {
		*kind = kind_of_named(*number, field__find(format, beside->text)->is_signed);
		return true;
	}
	quiet.code = &scratch;
	quiet.c = &ignored;
	compiler__begin_losses(&quiet);
	found = !compiler__value(&quiet, beside, &o) &&
		c_type__enumerator(&o.type, e->text, number) &&
		c_type__is_number(&o.type, &size, &is_signed);
	if (found)
		*kind = kind_of_named(*number, is_signed);
	code__free(&scratch);
	return found;
}

static bool is_known(const struct place *p, const char *name)
{
	return (p->format && field__find(p->format, name)) || place__find(p, name);
}

/* Returns false if it is not a constant. */
static bool known_number(struct compiler *f, const struct expr *e, const struct expr *beside,
			 u64 *number, enum number_kind *kind, int *err)
{
	*number = e->number;
	*kind = kind_of(*number);
	switch (e->op) {
	case EXPR_NUMBER:
	case EXPR_TIME:
	case EXPR_DEVICE:
		return true;
	case EXPR_PATH:
		*err = expr__device(e, number, f->c);
		*kind = SMALL;
		return true;
	case EXPR_NEGATE:
		if ((e->left->op != EXPR_NUMBER && e->left->op != EXPR_TIME) ||
		    e->left->number > 1ULL << 63)
			return false;
		*number = -e->left->number;
		*kind = SIGNED;
		return true;
	case EXPR_NAME:
		return !is_known(f->place, e->text) && beside && named_number(f, e, beside, number, kind);
	default:
		return false;
	}
}

int compiler__constant(struct compiler *f, const struct expr *e, const struct expr *beside,
		       u64 *number, struct operand *o, bool *is_constant)
{
	enum number_kind kind;
	int err = 0;

	*is_constant = known_number(f, compiler__follow(f, e), beside, number, &kind, &err);
	if (*is_constant)
		*o = operand_constant(*number, kind);
	return err;
}

/* Emits a binary search by comparisons. */
void compiler__bucket(struct compiler *f, const s64 *bound, size_t from, size_t to, int done)
{
	size_t middle = from + (to - from) / 2;
	int below;

	if (from == to) {
		code__set(f->code, BPF_REG_1, from);
		code__jump(f->code, done);
		return;
	}
	below = code__label(f->code);
	code__set(f->code, BPF_REG_2, bound[middle]);
	code__jump_if(f->code, BPF_JSLT, BPF_REG_0, BPF_REG_2, below);
	compiler__bucket(f, bound, middle + 1, to, done);
	code__place(f->code, below);
	compiler__bucket(f, bound, from, middle, done);
}

/*
 * --- arithmetic --------------------------------------------------------------------------------
 */

int compiler__both(struct compiler *f, const struct expr *e, struct operand *left,
		   struct operand *right)
{
	bool is_constant;
	u64 number;
	int err, at;

	err = compiler__constant(f, e->right, e->left, &number, right, &is_constant);
	if (err)
		return err;
	err = compiler__value(f, e->left, left);
	if (err)
		return err;
	if (is_constant) {
		code__set(f->code, BPF_REG_1, number);
		return 0;
	}
	at = compiler__slot(f, e);
	if (!at)
		return -EINVAL;
	code__store(f->code, BPF_DW, BPF_REG_10, BPF_REG_0, at);
	err = compiler__value(f, e->right, right);
	code__move(f->code, BPF_REG_1, BPF_REG_0);
	code__load(f->code, BPF_DW, BPF_REG_0, BPF_REG_10, at);
	f->slots--;
	return err;
}

/* In C, pointer arithmetic is scaled by the pointee's size, but arithmetic of numbers is not. The user must choose. */
static int check_pointers(struct compiler *f, const struct expr *e, const struct operand *left,
			  const struct operand *right)
{
	struct c_type to;
	bool moves = e->op == EXPR_ADD || e->op == EXPR_SUBTRACT;

	if (!moves || !(c_type__pointee(&left->type, &to) || c_type__pointee(&right->type, &to)))
		return 0;
	compiler__refuse(f, e, "cannot add to or subtract from a pointer");
	return complain_hint(f->c, -EINVAL,
			     "write p[1] for the element after *p, or (u64)p + 1 for a number");
}

static int bpf_op(enum expr_op op, enum number_kind left)
{
	static const int ops[EXPR_OPS] = {
		[EXPR_ADD] = BPF_ADD, [EXPR_SUBTRACT] = BPF_SUB, [EXPR_MULTIPLY] = BPF_MUL,
		[EXPR_DIVIDE] = BPF_DIV, [EXPR_MODULO] = BPF_MOD, [EXPR_BIT_AND] = BPF_AND,
		[EXPR_BIT_OR] = BPF_OR, [EXPR_BIT_XOR] = BPF_XOR, [EXPR_SHIFT_LEFT] = BPF_LSH,
		[EXPR_SHIFT_RIGHT] = BPF_RSH,
	};

	return op == EXPR_SHIFT_RIGHT && left == SIGNED ? BPF_ARSH : ops[op];
}

/* Replaces reg by its absolute value. If it was negative and `turns` is set, toggles r2. */
static void make_positive(struct compiler *f, int reg, bool turns)
{
	int positive = code__label(f->code);

	code__jump_if_number(f->code, BPF_JSGE, reg, 0, positive);
	code__op_number(f->code, BPF_NEG, reg, 0);
	if (turns)
		code__op_number(f->code, BPF_XOR, BPF_REG_2, 1);
	code__place(f->code, positive);
}

/*
 * Divides absolute values, since BPF has no signed division before 6.6 (commit ec0e2da95f72).
 * Applies C's signs: the product of both signs for the quotient, and the left side's for the
 * remainder.
 */
static void divide(struct compiler *f, enum expr_op op, const struct operand *left,
		   const struct operand *right)
{
	bool is_signed = left->kind == SIGNED || right->kind == SIGNED;
	int done = code__label(f->code);

	if (is_signed)
		code__set(f->code, BPF_REG_2, 0);
	if (left->kind == SIGNED)
		make_positive(f, BPF_REG_0, true);
	if (right->kind == SIGNED)
		make_positive(f, BPF_REG_1, op == EXPR_DIVIDE);
	code__op(f->code, bpf_op(op, left->kind), BPF_REG_0, BPF_REG_1);
	if (is_signed) {
		code__jump_if_number(f->code, BPF_JEQ, BPF_REG_2, 0, done);
		code__op_number(f->code, BPF_NEG, BPF_REG_0, 0);
	}
	code__place(f->code, done);
}

static int arithmetic(struct compiler *f, const struct expr *e, struct operand *o)
{
	struct operand left, right;
	int err = compiler__both(f, e, &left, &right);

	if (!err)
		err = check_pointers(f, e, &left, &right);
	if (err)
		return err;
	*o = operand_result(e->op, &left, &right);
	if (e->op == EXPR_DIVIDE || e->op == EXPR_MODULO) {
		code__jump_if_number(f->code, BPF_JEQ, BPF_REG_1, 0, f->arithmetic);
		divide(f, e->op, &left, &right);
		return 0;
	}
	/* A shift count beyond the width is undefined in C. Here the verdict is EVENT_BAD_ARITHMETIC. */
	if (e->op == EXPR_SHIFT_LEFT || e->op == EXPR_SHIFT_RIGHT)
		code__jump_if_number(f->code, BPF_JGT, BPF_REG_1, 63, f->arithmetic);
	code__op(f->code, bpf_op(e->op, left.kind), BPF_REG_0, BPF_REG_1);
	return 0;
}

static int unknown_type(struct compiler *f, const struct expr *e, int err)
{
	const struct place *p = f->place;

	if (err == -EEXIST) {
		complain(f->c, 0, e->op_at, e->op_len, "source files of %s have different types named '%s'",
			 p->binary ?: "the program", e->text);
		return complain_hint(f->c, -EINVAL, "probe a function in a source file that has the type");
	}
	if (p->unread) {
		complain(f->c, 0, e->op_at, e->op_len, "unknown type '%s': %s %s", e->text, p->binary,
			 p->unread->why);
		return complain_hint(f->c, -EINVAL, "%s", p->unread->hint);
	}
	complain(f->c, -EINVAL, e->op_at, e->op_len, "unknown type '%s'", e->text);
	return complain_hint(
		f->c, -EINVAL,
		"types are u8 to u64, s8 to s64, x8 to x64, C integers, string, symbol, errno, enum%s",
		place__types(p) ? ", and pointers to the kernel's types" :
		p->find_type ? ", and pointers to types in the program's debug information" : "");
}

/* Reads a result with negative error numbers, regardless of its declared type. */
static int result_number(struct compiler *f, const struct expr *e, struct operand *o)
{
	bool is_signed;
	struct c_type to;
	u32 size;
	int err = compiler__value(f, e->left, o);

	if (err)
		return err;
	if (!c_type__is_number(&o->type, &size, &is_signed))
		size = 8;
	to = c_type__integer(size, true);
	compiler__convert(f, size, true);
	*o = operand_of(SIGNED, &to);
	return 0;
}

static int cast(struct compiler *f, const struct expr *e, struct operand *o)
{
	struct c_type to;
	bool is_signed;
	struct lvalue l;
	int err = 0;
	u32 size;

	if (e->op == EXPR_TYPED && !strcmp(e->text, "errno"))
		return result_number(f, e, o);
	if (e->op == EXPR_TYPED && !strcmp(e->text, "enum"))
		return compiler__value(f, e->left, o);
	if (e->op == EXPR_TYPED && (!strcmp(e->text, "symbol") || !strcmp(e->text, "usymbol")))
		to = c_type__integer(8, false);
	else
		err = place__parse_type(f->place, &to, e->text);
	if (err)
		return unknown_type(f, e, err);
	if (!c_type__is_number(&to, &size, &is_signed))
		return complain(f->c, -EINVAL, e->op_at, e->op_len, "'%s' is not a numeric type",
				e->text);
	/* Untyped memory is read with the given type. */
	if (e->left->op == EXPR_MEMORY) {
		err = compiler__lvalue(f, e->left, &l);
		l.type = to;
		return err ?: compiler__load(f, e->left, &l, o);
	}
	err = compiler__value(f, e->left, o);
	compiler__convert(f, size, is_signed);
	*o = operand_of(is_signed ? SIGNED : size < 8 ? SMALL : UNSIGNED, &to);
	return err;
}

int compiler__value(struct compiler *f, const struct expr *e, struct operand *o)
{
	bool is_constant;
	struct lvalue l;
	u64 number;
	int err;

	err = compiler__constant(f, e, NULL, &number, o, &is_constant);
	if (err)
		return err;
	if (is_constant) {
		code__set(f->code, BPF_REG_0, number);
		return 0;
	}
	if (compiler__follow(f, e) != e) {
		if (f->aliases == COMPILER_MOST_ALIASES)
			return compiler__refuse(f, e, "this name is defined by itself");
		f->aliases++;
		err = compiler__value(f, compiler__follow(f, e), o);
		f->aliases--;
		return err;
	}
	if (!e->right)
		code__note(f->code, expr__format(e));
	if (expr_is_lvalue(f, e)) {
		err = compiler__lvalue(f, e, &l);
		return err ?: compiler__load(f, e, &l, o);
	}
	switch (e->op) {
	case EXPR_NAME:
		return compiler__name(f, e, o);
	case EXPR_SPECIAL:
		return compiler__special(f, e, o);
	case EXPR_REGISTER:
		return compiler__register(f, e, o);
	case EXPR_NEGATE:
	case EXPR_COMPLEMENT:
		err = compiler__value(f, e->left, o);
		if (e->op == EXPR_NEGATE)
			code__op_number(f->code, BPF_NEG, BPF_REG_0, 0);
		else
			code__op_number(f->code, BPF_XOR, BPF_REG_0, -1);
		*o = err ? *o : operand_unary(e->op, o);
		return err;
	case EXPR_CAST:
	case EXPR_TYPED:
		return cast(f, e, o);
	case EXPR_ADDRESS:
		if (!expr_is_lvalue(f, e->left))
			return compiler__refuse(f, e, "this is not in memory");
		err = compiler__lvalue(f, e->left, &l);
		if (l.bits)
			return compiler__refuse(f, e, "a bit-field has no address");
		code__op_number(f->code, BPF_ADD, BPF_REG_0, l.offset);
		*o = operand_address(l.type);
		return err;
	case EXPR_NOT:
	case EXPR_AND:
	case EXPR_OR:
		return compiler__truth(f, e, o);
	case EXPR_STRING:
		return compiler__refuse(f, e, "a string can only be compared with a field");
	default:
		return expr_op_is_comparison(e->op) ? compiler__truth(f, e, o)
						    : arithmetic(f, e, o);
	}
}

int compiler__type(struct compiler *f, const struct expr *e, struct operand *o)
{
	struct compiler other = *f;
	struct code scratch = {};
	int err;

	other.code = &scratch;
	compiler__begin_losses(&other);
	err = compiler__value(&other, e, o);
	code__free(&scratch);
	return err;
}
