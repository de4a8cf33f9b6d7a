// SPDX-License-Identifier: BSD-2-Clause
/*
 * Registers: r6 the context, r7 where a value is wanted, r0 the value just computed, r1 to r5 scratch. What has to outlive the
 * computation of something else goes into slots on the stack; texts into a buffer below them. The
 * whole frame stays small: the function that calls this one needs its own.
 */
#include "jit/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expr/fields.h"
#include "host/scope.h"

#define SLOTS 8                 /* of nested operators whose right side is not a plain value */
#define TEXT_MOST 127           /* characters a text may be compared with */
#define TEXT_AT (-8 * SLOTS - 128)

enum { CONTEXT = BPF_REG_6 };

/* What a computed number can be, so that it is compared as the number it is. */
enum kind {
	SMALL,                  /* 0 .. 2^63 - 1: the same, signed or not */
	SIGNED,
	UNSIGNED,
};

struct filter {
	struct code *code;
	const struct tracepoint_format *format;
	const char *event;
	struct complaint *c;
	int slots;              /* in use */
	int fault;              /* label: something could not be read */
};

static int value(struct filter *f, const struct expr *e, enum kind *kind);
static int condition(struct filter *f, const struct expr *e, bool wanted, int label);

static int refuse(struct filter *f, const struct expr *e, const char *why)
{
	return complain(f->c, -EINVAL, e->at, e->len, "%s", why);
}

/* --- numbers ----------------------------------------------------------------------------------- */

static int size_code(u32 size)
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

/* r0 becomes what its lower size bytes say. */
static enum kind convert(struct filter *f, u32 size, bool is_signed)
{
	if (size < 8) {
		code__op_number(f->code, BPF_LSH, BPF_REG_0, 64 - 8 * size);
		code__op_number(f->code, is_signed ? BPF_ARSH : BPF_RSH, BPF_REG_0, 64 - 8 * size);
	}
	return is_signed ? SIGNED : size < 8 ? SMALL : UNSIGNED;
}

static int load_field(struct filter *f, const struct expr *e, const struct tracepoint_field *field,
		      enum kind *kind)
{
	int size = size_code(field->size);

	if (field->elements || field->is_dynamic || field->is_relative || size < 0)
		return refuse(f, e, "this field is no number; a text is compared with a text in quotes");
	/* In the place of the first fields programs find something else (tp_prog_is_valid_access()). */
	if (field->offset < 8) {
		refuse(f, e, "the fields common to all events cannot be read here");
		return complain_hint(f->c, -EOPNOTSUPP, "pid, tid, uid and cpu say who and where");
	}
	/* The kernel lets programs read their context in aligned pieces only. */
	if (field->offset % field->size)
		return refuse(f, e, "this field is not aligned in its record and cannot be read");
	code__load(f->code, size, BPF_REG_0, CONTEXT, field->offset);
	*kind = !field->is_signed && field->size < 8 ? SMALL : field->is_signed ? SIGNED : UNSIGNED;
	if (field->is_signed && field->size < 8)
		convert(f, field->size, true);
	return 0;
}

/* What is known at every event. */
static bool load_builtin(struct filter *f, const char *name, enum kind *kind)
{
	static const struct {
		const char *name;
		int helper;
		bool upper;             /* the value is in the upper half */
		bool half;
	} known[] = {
		{ "pid", BPF_FUNC_get_current_pid_tgid, true, true },
		{ "tid", BPF_FUNC_get_current_pid_tgid, false, true },
		{ "uid", BPF_FUNC_get_current_uid_gid, false, true },
		{ "cpu", BPF_FUNC_get_smp_processor_id, false, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(name, known[i].name))
			continue;
		code__call(f->code, known[i].helper);
		if (known[i].upper)
			code__op_number(f->code, BPF_RSH, BPF_REG_0, 32);
		else if (known[i].half)
			convert(f, 4, false);
		*kind = SMALL;
		return true;
	}
	return false;
}

static bool is_text(const struct filter *f, const struct expr *e)
{
	const struct tracepoint_field *field;

	if (e->op != EXPR_NAME)
		return false;
	field = field__find(f->format, e->text);
	return field ? field_is_text(field) : !strcmp(e->text, "comm");
}

static int load_name(struct filter *f, const struct expr *e, enum kind *kind)
{
	const struct tracepoint_field *field = field__find(f->format, e->text);

	if (field)
		return load_field(f, e, field, kind);
	if (is_text(f, e))
		return refuse(f, e, "a text is compared with a text in quotes");
	return load_builtin(f, e->text, kind) ? 0 :
	       field__complain(f->format, f->event, e, f->c);
}

/* Is it known now? Then *number is it. A name beside a field may be one of the field's symbols. */
static int constant(struct filter *f, const struct expr *e, const struct expr *beside, u64 *number,
		    enum kind *kind, bool *is_constant)
{
	*is_constant = true;
	*number = e->number;
	*kind = *number > INT64_MAX ? UNSIGNED : SMALL;
	switch (e->op) {
	case EXPR_NUMBER:
	case EXPR_TIME:
	case EXPR_DEVICE:
		return 0;
	case EXPR_PATH:
		*kind = SMALL;
		return expr__device(e, number, f->c);
	case EXPR_NEGATE:
		if (e->left->op == EXPR_NUMBER && e->left->number <= 1ULL << 63) {
			*number = -e->left->number;
			*kind = SIGNED;
			return 0;
		}
		break;
	case EXPR_NAME:
		if (beside && beside->op == EXPR_NAME && !field__find(f->format, e->text) &&
		    field__symbol(f->format, beside->text, e->text, number)) {
			*kind = *number > INT64_MAX ? UNSIGNED : SMALL;
			return 0;
		}
		break;
	default:
		break;
	}
	*is_constant = false;
	return 0;
}

static bool fits_immediate(u64 number)
{
	return (s64)number == (int)number;
}

/* --- arithmetic -------------------------------------------------------------------------------- */

static int slot(struct filter *f, const struct expr *e)
{
	if (f->slots == SLOTS) {
		refuse(f, e, "this is nested too deeply");
		return 0;
	}
	return -8 * ++f->slots;
}

/* Left into r0, right into r1. */
static int both(struct filter *f, const struct expr *e, enum kind *left, enum kind *right)
{
	bool is_constant;
	u64 number;
	int err, at;

	err = constant(f, e->right, e->left, &number, right, &is_constant);
	if (err)
		return err;
	err = value(f, e->left, left);
	if (err)
		return err;
	if (is_constant) {
		code__set(f->code, BPF_REG_1, number);
		return 0;
	}
	at = slot(f, e);
	if (!at)
		return -EINVAL;
	code__store(f->code, BPF_DW, BPF_REG_10, BPF_REG_0, at);
	err = value(f, e->right, right);
	code__move(f->code, BPF_REG_1, BPF_REG_0);
	code__load(f->code, BPF_DW, BPF_REG_0, BPF_REG_10, at);
	f->slots--;
	return err;
}

static enum kind joined(enum kind a, enum kind b, enum kind both_small)
{
	if (a == UNSIGNED || b == UNSIGNED)
		return UNSIGNED;
	return a == SIGNED || b == SIGNED ? SIGNED : both_small;
}

static int arithmetic(struct filter *f, const struct expr *e, enum kind *kind)
{
	enum kind left, right;
	int err = both(f, e, &left, &right);

	if (err)
		return err;
	switch (e->op) {
	case EXPR_ADD:
		code__op(f->code, BPF_ADD, BPF_REG_0, BPF_REG_1);
		*kind = joined(left, right, SIGNED);
		return 0;
	case EXPR_SUBTRACT:
		code__op(f->code, BPF_SUB, BPF_REG_0, BPF_REG_1);
		*kind = joined(left, right, SIGNED);
		return 0;
	case EXPR_MULTIPLY:
		code__op(f->code, BPF_MUL, BPF_REG_0, BPF_REG_1);
		*kind = joined(left, right, SIGNED);
		return 0;
	case EXPR_DIVIDE:
	case EXPR_MODULO:
		if (left == SIGNED || right == SIGNED)
			return refuse(f, e, "only unsigned numbers can be divided; cast them, as in (u64)a / 2");
		code__jump_if_number(f->code, BPF_JEQ, BPF_REG_1, 0, f->fault);
		code__op(f->code, e->op == EXPR_DIVIDE ? BPF_DIV : BPF_MOD, BPF_REG_0, BPF_REG_1);
		*kind = joined(left, right, SMALL);
		return 0;
	case EXPR_SHIFT_LEFT:
	case EXPR_SHIFT_RIGHT:
		/* A count beyond the width means nothing in C; here it is not a number. */
		code__jump_if_number(f->code, BPF_JGT, BPF_REG_1, 63, f->fault);
		code__op(f->code, e->op == EXPR_SHIFT_LEFT ? BPF_LSH : left == SIGNED ? BPF_ARSH : BPF_RSH,
			 BPF_REG_0, BPF_REG_1);
		*kind = e->op == EXPR_SHIFT_LEFT && left == SMALL ? SIGNED : left;
		return 0;
	case EXPR_BIT_AND:
		code__op(f->code, BPF_AND, BPF_REG_0, BPF_REG_1);
		*kind = left == SMALL || right == SMALL ? SMALL : joined(left, right, SMALL);
		return 0;
	default:
		code__op(f->code, e->op == EXPR_BIT_OR ? BPF_OR : BPF_XOR, BPF_REG_0, BPF_REG_1);
		*kind = joined(left, right, SMALL);
		return 0;
	}
}

/* The C and kernel names of integer types: their size, and if they are signed. */
static bool integer_type(const char *name, u32 *size, bool *is_signed)
{
	static const struct {
		const char *name;
		u32 size;
		bool is_signed;
	} types[] = {
		{ "u8", 1, false }, { "u16", 2, false }, { "u32", 4, false }, { "u64", 8, false },
		{ "s8", 1, true }, { "s16", 2, true }, { "s32", 4, true }, { "s64", 8, true },
		{ "x8", 1, false }, { "x16", 2, false }, { "x32", 4, false }, { "x64", 8, false },
		{ "char", 1, true }, { "unsigned char", 1, false }, { "bool", 1, false },
		{ "short", 2, true }, { "unsigned short", 2, false }, { "int", 4, true },
		{ "unsigned int", 4, false }, { "unsigned", 4, false }, { "long", 8, true },
		{ "unsigned long", 8, false }, { "long long", 8, true },
		{ "unsigned long long", 8, false }, { "size_t", 8, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].name, name))
			continue;
		*size = types[i].size;
		*is_signed = types[i].is_signed;
		return true;
	}
	return false;
}

static int cast(struct filter *f, const struct expr *e, enum kind *kind)
{
	bool is_signed;
	u32 size;
	int err;

	if (!integer_type(e->text, &size, &is_signed))
		return complain(f->c, -EINVAL, e->op_at, e->op_len, "'%s' is no type of a number", e->text);
	err = value(f, e->left, kind);
	*kind = convert(f, size, is_signed);
	return err;
}

/* The truth of a condition as a number, 1 or 0. */
static int truth(struct filter *f, const struct expr *e, enum kind *kind)
{
	int no = code__label(f->code), end = code__label(f->code), err;

	err = condition(f, e, false, no);
	code__set(f->code, BPF_REG_0, 1);
	code__jump(f->code, end);
	code__place(f->code, no);
	code__set(f->code, BPF_REG_0, 0);
	code__place(f->code, end);
	*kind = SMALL;
	return err;
}

/* The value of a number into r0. */
static int value(struct filter *f, const struct expr *e, enum kind *kind)
{
	bool is_constant;
	u64 number;
	int err;

	err = constant(f, e, NULL, &number, kind, &is_constant);
	if (!err && is_constant)
		code__set(f->code, BPF_REG_0, number);
	if (err || is_constant)
		return err;
	switch (e->op) {
	case EXPR_NAME:
		return load_name(f, e, kind);
	case EXPR_NEGATE:
		err = value(f, e->left, kind);
		code__op_number(f->code, BPF_NEG, BPF_REG_0, 0);
		*kind = *kind == UNSIGNED ? UNSIGNED : SIGNED;
		return err;
	case EXPR_COMPLEMENT:
		err = value(f, e->left, kind);
		code__op_number(f->code, BPF_XOR, BPF_REG_0, -1);
		*kind = *kind == UNSIGNED ? UNSIGNED : SIGNED;
		return err;
	case EXPR_CAST:
	case EXPR_TYPED:
		return cast(f, e, kind);
	case EXPR_NOT:
	case EXPR_AND:
	case EXPR_OR:
		return truth(f, e, kind);
	case EXPR_STRING:
		return refuse(f, e, "a text can only be compared with a field");
	case EXPR_SPECIAL:
	case EXPR_REGISTER:
	case EXPR_SYMBOL:
	case EXPR_MEMORY:
	case EXPR_MEMBER:
	case EXPR_ARROW:
	case EXPR_INDEX:
	case EXPR_DEREFERENCE:
	case EXPR_ADDRESS:
		return refuse(f, e, "a filter on a tracepoint knows its fields, and comm, pid, tid, uid and cpu");
	default:
		return expr_op_is_comparison(e->op) ? truth(f, e, kind) : arithmetic(f, e, kind);
	}
}

/* --- texts ------------------------------------------------------------------------------------- */

/* Jumps to differs unless the bytes at base + off are those of text, with the zero behind it. */
static void compare_bytes(struct filter *f, int base, int off, const char *text, size_t n, int differs)
{
	size_t i, size;
	u64 wanted;

	for (i = 0; i < n; i += size) {
		/* The context can be read in aligned pieces only. */
		for (size = 4; i + size > n || (off + (int)i) % (int)size; size /= 2)
			;
		wanted = 0;
		memcpy(&wanted, text + i, size);
		code__load(f->code, size_code(size), BPF_REG_2, base, off + i);
		code__set(f->code, BPF_REG_3, wanted);
		code__jump_if(f->code, BPF_JNE, BPF_REG_2, BPF_REG_3, differs);
	}
}

/* A text of any length: its place and length are in the field. Copies it to the buffer. */
static void fetch_dynamic(struct filter *f, const struct tracepoint_field *field, size_t n)
{
	code__load(f->code, BPF_W, BPF_REG_3, CONTEXT, field->offset);
	code__op_number(f->code, BPF_AND, BPF_REG_3, 0xffff);
	if (field->is_relative)
		code__op_number(f->code, BPF_ADD, BPF_REG_3, field->offset + 4);
	code__op(f->code, BPF_ADD, BPF_REG_3, CONTEXT);
	code__move(f->code, BPF_REG_1, BPF_REG_10);
	code__op_number(f->code, BPF_ADD, BPF_REG_1, TEXT_AT);
	/* One byte more than the text has: a longer one differs in it. */
	code__set(f->code, BPF_REG_2, n + 1);
	code__call(f->code, BPF_FUNC_probe_read_kernel_str);
	code__jump_if_number(f->code, BPF_JSLT, BPF_REG_0, 0, f->fault);
}

static void fetch_comm(struct filter *f)
{
	code__move(f->code, BPF_REG_1, BPF_REG_10);
	code__op_number(f->code, BPF_ADD, BPF_REG_1, TEXT_AT);
	code__set(f->code, BPF_REG_2, 16);
	code__call(f->code, BPF_FUNC_get_current_comm);
}

/* Where the characters of a text are, after whatever had to be done to get at them. */
struct text_place {
	int base, off;
	size_t most;            /* as many at most, with or without a zero behind them */
};

/* want: bytes of it to fetch at least, with the zero; 0: all. */
static struct text_place fetch(struct filter *f, const struct tracepoint_field *field, size_t want)
{
	struct text_place p = { BPF_REG_10, TEXT_AT, TEXT_MOST };

	if (!field) {
		fetch_comm(f);
		p.most = 16;
	} else if (field->elements) {
		p = (struct text_place){ CONTEXT, field->offset, field->elements };
	} else {
		fetch_dynamic(f, field, want ?: TEXT_MOST);
	}
	return p;
}

/* Jumps to label if (name == text) is as wanted. */
static int compare_text(struct filter *f, const struct expr *e, const struct tracepoint_field *field,
			const struct expr *text, bool wanted, int label)
{
	size_t n = strlen(text->text) + 1, most = TEXT_MOST;
	bool equal = (e->op == EXPR_EQUAL) == wanted;
	struct text_place p;
	int differs;

	if (!field || field->elements)
		most = field ? field->elements + 1 : 16;
	if (n > most)
		return complain(f->c, -EINVAL, text->at, text->len, "%s never holds a text this long",
				field ? field->name : "comm");
	p = fetch(f, field, n);
	/* One that fills the array has no zero behind it. */
	if (n > p.most)
		n = p.most;
	differs = equal ? code__label(f->code) : label;
	compare_bytes(f, p.base, p.off, text->text, n, differs);
	if (equal) {
		code__jump(f->code, label);
		code__place(f->code, differs);
	}
	return 0;
}

/* What most characters do in a glob, so that only the others need code. */
static u32 usual(const struct scope_glob *glob)
{
	u32 best = 0, most = 0, a, b, n;

	for (a = 1; a < 256 && most < 128; a++) {
		for (n = 0, b = 1; b < 256; b++)
			n += glob->accepts[a] == glob->accepts[b];
		if (n > most) {
			most = n;
			best = glob->accepts[a];
		}
	}
	return best;
}

/* One step of the automaton of bpf/scope.h: r4 the positions, r2 the character; r3, r5 scratch. */
static void glob_step(struct filter *f, const struct scope_glob *glob)
{
	u32 byte, others = usual(glob);

	code__set(f->code, BPF_REG_3, others);
	for (byte = 1; byte < 256; byte++) {
		int next;

		if (glob->accepts[byte] == others)
			continue;
		next = code__label(f->code);
		code__jump_if_number(f->code, BPF_JNE, BPF_REG_2, byte, next);
		code__set(f->code, BPF_REG_3, glob->accepts[byte]);
		code__place(f->code, next);
	}
	code__move(f->code, BPF_REG_5, BPF_REG_4);
	code__op_number(f->code, BPF_AND, BPF_REG_5, (int)glob->stars);
	code__op(f->code, BPF_AND, BPF_REG_4, BPF_REG_3);
	code__op_number(f->code, BPF_LSH, BPF_REG_4, 1);
	code__op(f->code, BPF_OR, BPF_REG_4, BPF_REG_5);
	code__move(f->code, BPF_REG_5, BPF_REG_4);
	code__op_number(f->code, BPF_AND, BPF_REG_5, (int)glob->stars);
	code__op_number(f->code, BPF_LSH, BPF_REG_5, 1);
	code__op(f->code, BPF_OR, BPF_REG_4, BPF_REG_5);
}

/* Jumps to label if (name ~ glob) is as wanted. */
static int match_text(struct filter *f, const struct expr *e, const struct tracepoint_field *field,
		      const struct expr *text, bool wanted, int label)
{
	bool like = (e->op == EXPR_LIKE) == wanted;
	int done = code__label(f->code), err;
	struct scope_glob glob = {};
	struct text_place p;
	size_t i;

	err = scope_glob__compile(&glob, text->text);
	if (err)
		return complain(f->c, -EINVAL, text->at, text->len, err == -E2BIG ?
				"this glob is too long" : "a '[' in this glob has no ']'");
	p = fetch(f, field, 0);
	/* A text that did not fit cannot be judged by its beginning. */
	if (field && !field->elements)
		code__jump_if_number(f->code, BPF_JGT, BPF_REG_0, TEXT_MOST, f->fault);
	code__set(f->code, BPF_REG_4, glob.start);
	for (i = 0; i < p.most; i++) {
		code__load(f->code, BPF_B, BPF_REG_2, p.base, p.off + i);
		code__jump_if_number(f->code, BPF_JEQ, BPF_REG_2, 0, done);
		glob_step(f, &glob);
	}
	code__place(f->code, done);
	code__op_number(f->code, BPF_AND, BPF_REG_4, (int)glob.final);
	code__jump_if_number(f->code, like ? BPF_JNE : BPF_JEQ, BPF_REG_4, 0, label);
	return 0;
}

static int text_condition(struct filter *f, const struct expr *e, const struct expr *name,
			  const struct expr *text, bool wanted, int label)
{
	const struct tracepoint_field *field = field__find(f->format, name->text);

	if (e->op == EXPR_LIKE || e->op == EXPR_NOT_LIKE)
		return match_text(f, e, field, text, wanted, label);
	if (e->op == EXPR_EQUAL || e->op == EXPR_NOT_EQUAL)
		return compare_text(f, e, field, text, wanted, label);
	return complain(f->c, -EINVAL, e->op_at, e->op_len, "texts have no order; ==, !=, ~ and !~ work");
}

/* --- conditions -------------------------------------------------------------------------------- */

/* BPF's jump for a comparison, of signed or unsigned numbers. */
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

/* Does (negative op anything unsigned) hold, or with the sides changed? */
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

static int compare_numbers(struct filter *f, const struct expr *e, bool wanted, int label)
{
	enum expr_op op = wanted ? e->op : opposite(e->op);
	enum kind left, right;
	bool is_constant;
	u64 number;
	int err, end;

	err = constant(f, e->right, e->left, &number, &right, &is_constant);
	if (!err && is_constant && right != UNSIGNED && fits_immediate(number)) {
		err = value(f, e->left, &left);
		if (!err && (left != UNSIGNED || right == SMALL)) {
			code__jump_if_number(f->code, jump_of(op, left == SIGNED || right == SIGNED),
					     BPF_REG_0, number, label);
			return 0;
		}
		code__set(f->code, BPF_REG_1, number);
	} else if (!err) {
		err = both(f, e, &left, &right);
	}
	if (err)
		return err;
	if (left == right || left == SMALL || right == SMALL) {
		code__jump_if(f->code, jump_of(op, left == SIGNED || right == SIGNED), BPF_REG_0, BPF_REG_1,
			      label);
		return 0;
	}
	/* One is signed, the other not: what is negative is below all that is not. */
	end = code__label(f->code);
	code__jump_if_number(f->code, BPF_JSLT, left == SIGNED ? BPF_REG_0 : BPF_REG_1, 0,
			     holds_for_negative(op, left == SIGNED) ? label : end);
	code__jump_if(f->code, jump_of(op, false), BPF_REG_0, BPF_REG_1, label);
	code__place(f->code, end);
	return 0;
}

static int comparison(struct filter *f, const struct expr *e, bool wanted, int label)
{
	if (is_text(f, e->left) && e->right->op == EXPR_STRING)
		return text_condition(f, e, e->left, e->right, wanted, label);
	if (is_text(f, e->right) && e->left->op == EXPR_STRING)
		return text_condition(f, e, e->right, e->left, wanted, label);
	if (e->op == EXPR_LIKE || e->op == EXPR_NOT_LIKE)
		return complain(f->c, -EINVAL, e->op_at, e->op_len, is_text(f, e->left) ?
				"a glob in quotes is wanted behind this" : "only texts can be like a glob");
	return compare_numbers(f, e, wanted, label);
}

/* Jumps to label if e is as wanted, else goes on behind. */
static int condition(struct filter *f, const struct expr *e, bool wanted, int label)
{
	enum kind kind;
	int err, skip;

	switch (e->op) {
	case EXPR_NOT:
		return condition(f, e->left, !wanted, label);
	case EXPR_AND:
	case EXPR_OR:
		/* The left side decides alone where it is false (&&) or true (||). */
		if ((e->op == EXPR_OR) == wanted) {
			err = condition(f, e->left, wanted, label);
			return err ?: condition(f, e->right, wanted, label);
		}
		skip = code__label(f->code);
		err = condition(f, e->left, !wanted, skip);
		if (!err)
			err = condition(f, e->right, wanted, label);
		code__place(f->code, skip);
		return err;
	default:
		if (expr_op_is_comparison(e->op))
			return comparison(f, e, wanted, label);
		err = value(f, e, &kind);
		code__jump_if_number(f->code, wanted ? BPF_JNE : BPF_JEQ, BPF_REG_0, 0, label);
		return err;
	}
}

static struct filter begin(struct code *code, const struct tracepoint_format *format, const char *event,
			   struct complaint *c)
{
	struct filter f = { .code = code, .format = format, .event = event, .c = c };

	*c = (struct complaint){};
	f.fault = code__label(code);
	code__move(code, CONTEXT, BPF_REG_1);
	return f;
}

static int end(struct filter *f, const struct expr *e)
{
	int err;

	/* The verifier takes no code that is out of reach. */
	code__place(f->code, f->fault);
	if (code__jumps_to(f->code, f->fault)) {
		code__set(f->code, BPF_REG_0, -1);
		code__exit(f->code);
	}
	err = code__finish(f->code);
	if (err == -E2BIG)
		complain(f->c, 0, e->at, e->len, "this is too long for one program");
	return err;
}

int filter__compile(struct code *code, const struct expr *e, const struct tracepoint_format *format,
		    const char *event, struct complaint *c)
{
	struct filter f = begin(code, format, event, c);
	int no = code__label(code), err = condition(&f, e, false, no);

	if (err)
		return err;
	code__set(code, BPF_REG_0, 1);
	code__exit(code);
	code__place(code, no);
	code__set(code, BPF_REG_0, 0);
	code__exit(code);
	return end(&f, e);
}

int value__compile(struct code *code, const struct expr *e, const struct tracepoint_format *format,
		   const char *event, struct complaint *c)
{
	struct filter f = begin(code, format, event, c);
	int negative = code__label(code), err;
	enum kind kind;

	/* r7: where the value goes; nothing in between touches it. */
	code__move(code, BPF_REG_7, BPF_REG_2);
	err = value(&f, e, &kind);
	if (err)
		return err;
	if (kind == SIGNED)
		code__jump_if_number(code, BPF_JSLT, BPF_REG_0, 0, negative);
	code__store(code, BPF_DW, BPF_REG_7, BPF_REG_0, 0);
	code__set(code, BPF_REG_0, 0);
	code__exit(code);
	code__place(code, negative);
	if (kind == SIGNED) {
		code__set(code, BPF_REG_0, 1);
		code__exit(code);
	}
	return end(&f, e);
}

int filter__accept(struct code *code)
{
	code__set(code, BPF_REG_0, 1);
	code__exit(code);
	return code__finish(code);
}
