// SPDX-License-Identifier: BSD-2-Clause
#include "jit/compiler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the BPF jump for a comparison of signed or unsigned numbers. */
static int jump_of(enum expr_op op, bool is_signed)
{
	switch (op) {
	case EXPR_LESS:
		return is_signed ? BPF_JSLT : BPF_JLT;
	case EXPR_LESS_EQUAL:
		return is_signed ? BPF_JSLE : BPF_JLE;
	case EXPR_GREATER:
		return is_signed ? BPF_JSGT : BPF_JGT;
	case EXPR_GREATER_EQUAL:
		return is_signed ? BPF_JSGE : BPF_JGE;
	case EXPR_EQUAL:
		return BPF_JEQ;
	default:
		return BPF_JNE;
	}
}

static enum expr_op opposite(enum expr_op op)
{
	switch (op) {
	case EXPR_LESS:
		return EXPR_GREATER_EQUAL;
	case EXPR_LESS_EQUAL:
		return EXPR_GREATER;
	case EXPR_GREATER:
		return EXPR_LESS_EQUAL;
	case EXPR_GREATER_EQUAL:
		return EXPR_LESS;
	case EXPR_EQUAL:
		return EXPR_NOT_EQUAL;
	default:
		return EXPR_EQUAL;
	}
}

/* True if (negative op any unsigned) holds; without negative_left, the sides are swapped. */
static bool holds_for_negative(enum expr_op op, bool negative_left)
{
	switch (op) {
	case EXPR_LESS:
	case EXPR_LESS_EQUAL:
		return negative_left;
	case EXPR_GREATER:
	case EXPR_GREATER_EQUAL:
		return !negative_left;
	default:
		return op == EXPR_NOT_EQUAL;
	}
}

/*
 * Refuses a comparison with a constant whose result depends only on the type: it would silently be
 * always true or always false.
 */
static int check_decided(struct compiler *f, const struct expr *e, const struct operand *left,
			 const struct operand *right)
{
	bool left_known = left->lowest == left->highest, right_known = right->lowest == right->highest;
	const struct operand *o = right_known ? left : right;
	const struct expr *unknown = right_known ? e->left : e->right;
	char *type, *text;
	bool holds;

	if (left_known == right_known || !operand_decides(e->op, left, right, &holds))
		return 0;
	type = c_type__text(&o->type);
	text = expr__format(unknown);
	complain(f->c, 0, e->at, e->len, "this is %s true: %s is %s%s", holds ? "always" : "never",
		 text ?: "it", type ?: "a number",
		 o->is_bits ? " here, since its type is unknown" : "");
	free(type);
	complain_hint(f->c, 0, "give its type with a cast, as in (int)%s", text ?: "it");
	free(text);
	return -EINVAL;
}

static int compare_numbers(struct compiler *f, const struct expr *e, bool wanted, int label)
{
	enum expr_op op = wanted ? e->op : opposite(e->op);
	struct operand left, right;
	bool is_constant;
	u64 number;
	int err, end;

	err = compiler__constant(f, e->right, e->left, &number, &right, &is_constant);
	if (!err && is_constant && right.kind != UNSIGNED && (s64)number == (int)number) {
		err = compiler__value(f, e->left, &left);
		if (!err)
			err = check_decided(f, e, &left, &right);
		if (!err && (left.kind != UNSIGNED || right.kind == SMALL)) {
			code__jump_if_number(
				f->code, jump_of(op, left.kind == SIGNED || right.kind == SIGNED),
				BPF_REG_0, number, label);
			return 0;
		}
		code__set(f->code, BPF_REG_1, number);
	} else if (!err) {
		err = compiler__both(f, e, &left, &right);
		if (!err)
			err = check_decided(f, e, &left, &right);
	}
	if (err)
		return err;
	if (left.kind == right.kind || left.kind == SMALL || right.kind == SMALL) {
		code__jump_if(f->code, jump_of(op, left.kind == SIGNED || right.kind == SIGNED),
			      BPF_REG_0, BPF_REG_1, label);
		return 0;
	}
	/* One side is signed, the other unsigned: a negative number is below every unsigned number. */
	end = code__label(f->code);
	code__jump_if_number(f->code, BPF_JSLT, left.kind == SIGNED ? BPF_REG_0 : BPF_REG_1, 0,
			     holds_for_negative(op, left.kind == SIGNED) ? label : end);
	code__jump_if(f->code, jump_of(op, false), BPF_REG_0, BPF_REG_1, label);
	code__place(f->code, end);
	return 0;
}

static int comparison(struct compiler *f, const struct expr *e, bool wanted, int label)
{
	u32 most;

	code__note(f->code, expr__format(e));
	if (expr_compares_symbols(f, e))
		return compiler__symbol_condition(f, e, wanted, label);
	if (expr_compares_texts(f, e))
		return compiler__text_condition(f, e, wanted, label);
	if (e->op == EXPR_LIKE || e->op == EXPR_NOT_LIKE)
		return complain(f->c, -EINVAL, e->op_at, e->op_len,
				compiler__is_text(f, e->left, &most)
					? "expected a glob in quotes after this"
					: "only strings can match a glob");
	return compare_numbers(f, e, wanted, label);
}

/*
 * --- order of evaluation -----------------------------------------------------------------------
 */

/* Returns the cost: 0 for registers and fields, then texts, then memory. Sets *can_fail if evaluation can fail. */
static int cost(struct compiler *f, const struct expr *e, bool *can_fail)
{
	u32 most;
	int c = 0;

	e = compiler__follow(f, e);
	if (expr_is_lvalue(f, e) || e->op == EXPR_SPECIAL) {
		*can_fail = true;       /* $arg9 and $stack0 are in memory, too */
		c = 8;
	} else if (e->op == EXPR_NAME && compiler__is_text(f, e, &most)) {
		*can_fail |= strcmp(e->text, "comm") != 0;
		c = 4;
	} else if (e->op == EXPR_NAME && place__find(f->place, e->text)) {
		*can_fail = true;
		c = 1;
	} else if (e->op == EXPR_DIVIDE || e->op == EXPR_MODULO || e->op == EXPR_SHIFT_LEFT ||
		   e->op == EXPR_SHIFT_RIGHT) {
		*can_fail = true;
	} else if (e->op == EXPR_LIKE || e->op == EXPR_NOT_LIKE) {
		c = 16;
	}
	if (e->left)
		c += cost(f, e->left, can_fail);
	if (e->right)
		c += cost(f, e->right, can_fail);
	return c;
}

/*
 * True if the right side of && or || is cheaper and can be evaluated first without changing the
 * result: a side that can fail remains after the test that guards it (p && p->flags).
 */
static bool right_first(struct compiler *f, const struct expr *e)
{
	bool left_fails = false, right_fails = false;
	int left = cost(f, e->left, &left_fails), right = cost(f, e->right, &right_fails);

	return right < left && !right_fails;
}

int compiler__condition(struct compiler *f, const struct expr *e, bool wanted, int label)
{
	const struct expr *first, *then;
	struct operand o;
	int err, skip;

	switch (e->op) {
	case EXPR_NOT:
		return compiler__condition(f, e->left, !wanted, label);
	case EXPR_AND:
	case EXPR_OR:
		first = right_first(f, e) ? e->right : e->left;
		then = first == e->left ? e->right : e->left;
		/* One false side decides &&; one true side decides ||. */
		if ((e->op == EXPR_OR) == wanted) {
			err = compiler__condition(f, first, wanted, label);
			return err ?: compiler__condition(f, then, wanted, label);
		}
		skip = code__label(f->code);
		err = compiler__condition(f, first, !wanted, skip);
		if (!err)
			err = compiler__condition(f, then, wanted, label);
		code__place(f->code, skip);
		return err;
	default:
		if (expr_op_is_comparison(e->op))
			return comparison(f, e, wanted, label);
		err = compiler__value(f, e, &o);
		code__jump_if_number(f->code, wanted ? BPF_JNE : BPF_JEQ, BPF_REG_0, 0, label);
		return err;
	}
}

int compiler__truth(struct compiler *f, const struct expr *e, struct operand *o)
{
	int no = code__label(f->code), end = code__label(f->code), err;

	err = compiler__condition(f, e, false, no);
	code__set(f->code, BPF_REG_0, 1);
	code__jump(f->code, end);
	code__place(f->code, no);
	code__set(f->code, BPF_REG_0, 0);
	code__place(f->code, end);
	*o = operand_between(0, 1);
	return err;
}
