// SPDX-License-Identifier: BSD-2-Clause
#include "jit/compile.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "bpf/lib/probe.h"
#include "expr/fields.h"
#include "base/arch.h"
#include "jit/compiler.h"
#include "jit/registers.h"

#define KEY_AT offsetof(struct probe_frame, key)

/* True if the frame has variables: spans carry values in it. */
static bool has_frame(const struct place *p)
{
	size_t i;

	for (i = 0; i < p->nvariables; i++)
		if (p->variable[i].where == AT_FRAME)
			return true;
	return false;
}

/* True if the expression uses the frame. Callers that only want a filter's verdict may pass none. */
static bool needs_frame(const struct expr *e, const struct place *p)
{
	struct compiler f = { .place = p };

	if (has_frame(p))
		return true;
	if (compiler__follow(&f, e) != e)
		return needs_frame(compiler__follow(&f, e), p);
	return (e->op == EXPR_SPECIAL && !strcmp(e->text, "elapsed")) ||
	       (e->left && needs_frame(e->left, p)) || (e->right && needs_frame(e->right, p));
}

static struct compiler begin(struct code *code, const struct place *place, bool frame,
			     struct complaint *c)
{
	struct compiler f = { .code = code, .place = place, .c = c };

	*c = (struct complaint){};
	compiler__begin_losses(&f);
	code__move(code, REG_CONTEXT, BPF_REG_1);
	if (frame)
		code__move(code, REG_FRAME, BPF_REG_2);
	return f;
}

static void say(struct code *code, int verdict)
{
	code__set(code, BPF_REG_0, verdict);
	code__exit(code);
}

/* Places the label only if it is used: the verifier rejects unreachable code. */
static void say_at(struct code *code, int label, int verdict)
{
	code__place(code, label);
	if (code__jumps_to(code, label))
		say(code, verdict);
}

static int end(struct compiler *f, const struct expr *e)
{
	int err;

	say_at(f->code, f->fault, f->no_result ? EVENT_NO_RESULT : EVENT_FAULT);
	say_at(f->code, f->arithmetic, EVENT_BAD_ARITHMETIC);
	say_at(f->code, f->too_long, EVENT_TEXT_TOO_LONG);
	err = code__finish(f->code);
	if (err == -E2BIG)
		complain(f->c, 0, e ? e->at : 0, e ? e->len : 0,
			 "this is too long for one BPF program");
	return err;
}

int body__constant(struct code *code, int result)
{
	say(code, result);
	return code__finish(code);
}

int filter__compile(struct code *code, const struct expr *e, const struct place *place,
		    struct complaint *c)
{
	struct compiler f = begin(code, place, needs_frame(e, place), c);
	int no = code__label(code), err = compiler__condition(&f, e, false, no);

	if (err)
		return err;
	say(code, 1);
	say_at(code, no, 0);
	return end(&f, e);
}

/*
 * --- values ------------------------------------------------------------------------------------
 */

static void store_value(struct code *code, int reg, size_t at)
{
	code__store(code, BPF_DW, REG_FRAME, reg, at);
}

int value__compile(struct code *code, const struct expr *e, enum value_range range,
		   const struct place *place, struct complaint *c)
{
	struct compiler f = begin(code, place, true, c);
	int below = code__label(code), err;
	struct operand o;

	err = compiler__value(&f, e, &o);
	if (err)
		return err;
	if (o.kind == SIGNED && range == VALUE_UNSIGNED)
		code__jump_if_number(code, BPF_JSLT, BPF_REG_0, 0, below);
	if (o.kind == UNSIGNED && range == VALUE_SIGNED)
		code__jump_if_number(code, BPF_JSLT, BPF_REG_0, 0, f.arithmetic);
	store_value(code, BPF_REG_0, offsetof(struct probe_frame, value));
	say(code, 0);
	say_at(code, below, 1);
	return end(&f, e);
}

int bucket__compile(struct code *code, const struct expr *e, const s64 *bound, size_t n,
		    const struct place *place, struct complaint *c)
{
	struct compiler f = begin(code, place, true, c);
	int done = code__label(code), err, over;
	struct operand o;

	err = compiler__value(&f, e, &o);
	if (err)
		return err;
	store_value(code, BPF_REG_0, offsetof(struct probe_frame, order));
	/* Bounds are signed: an unsigned number beyond the signed range is above all bounds. */
	if (o.kind == UNSIGNED) {
		over = code__label(code);
		code__jump_if_number(code, BPF_JSGE, BPF_REG_0, 0, over);
		code__set(code, BPF_REG_1, n);
		code__jump(code, done);
		code__place(code, over);
	}
	compiler__bucket(&f, bound, 0, n, done);
	code__place(code, done);
	store_value(code, BPF_REG_1, offsetof(struct probe_frame, value));
	say(code, 0);
	return end(&f, e);
}

/*
 * --- types -------------------------------------------------------------------------------------
 */

static const char *said_type(const struct compiler *f, const struct expr *e)
{
	e = compiler__follow(f, e);
	return e->op == EXPR_TYPED ? e->text : "";
}

static bool is_id(const struct expr *e)
{
	static const char *const ids[] = { "pid", "tid", "uid", "cpu", "pidns" };
	size_t i;

	for (i = 0; e->op == EXPR_NAME && i < ARRAY_SIZE(ids); i++)
		if (!strcmp(e->text, ids[i]))
			return true;
	return false;
}

static u32 value_size(const struct c_type *type)
{
	u64 size = c_type__size(type);

	return size < SHAPE_BYTES_MOST ? size : SHAPE_BYTES_MOST;
}

/* Type of a number that is displayed by name: its enumerators, or a tracepoint field's symbols. */
static int enum_type(struct compiler *f, struct operand_type *t, const struct expr *e)
{
	const struct expr *number = compiler__follow(f, e)->left;
	const struct expr *field = compiler__follow(f, number);
	struct operand o;
	bool is_signed;
	u32 size;
	int err = compiler__type(f, number, &o);

	if (err)
		return err;
	t->kind = LAYOUT_ENUM;
	t->is_signed = o.kind == SIGNED;
	t->type = o.type;
	t->size = c_type__is_number(&o.type, &size, &is_signed) && size <= 4 ? 4 : 8;
	if (c_type__is_enum(&o.type))
		return 0;
	if (f->place->format && field->op == EXPR_NAME && field__symbol_kind(f->place->format, field->text)) {
		t->symbols = field->text;
		return 0;
	}
	compiler__refuse(f, number, "its values have no names");
	return complain_hint(f->c, -EINVAL, "enumerations have names, and so do fields that the tracepoint's own "
					    "format prints by name");
}

/* True for an address in the task's process: usymbol, or symbol of a user-space address. */
static bool is_program_address(const struct compiler *f, const struct expr *e)
{
	e = compiler__follow(f, e);
	return e->op == EXPR_TYPED && (!strcmp(e->text, "usymbol") ||
				       (!strcmp(e->text, "symbol") && f->place->is_user && !expr_is_of_task(f, e)));
}

/* Returns the tracepoint field that the expression names, or NULL. */
static const struct tracepoint_field *field_of(const struct compiler *f, const struct expr *e)
{
	const struct expr *named = compiler__follow(f, e);

	return f->place->format && named->op == EXPR_NAME ? field__find(f->place->format, named->text) : NULL;
}

static bool is_device(const struct compiler *f, const struct expr *e)
{
	const struct tracepoint_field *field = field_of(f, e);

	return field && !strcmp(field->type, "dev_t");
}

static bool is_pointer_field(const struct compiler *f, const struct expr *e)
{
	const struct tracepoint_field *field = field_of(f, e);

	return field && field_is_pointer(field);
}

int expr__type(struct operand_type *t, const struct expr *e, const struct place *place,
	       struct complaint *c)
{
	struct compiler f = { .place = place, .c = c };
	struct operand o;
	const char *said = said_type(&f, e);
	bool is_signed;
	u32 most, size;
	int err;

	*c = (struct complaint){};
	*t = (struct operand_type){};
	if (!strcmp(said, "enum"))
		return enum_type(&f, t, e);
	err = compiler__cgroup_name(&f, e, &t->kind);
	if (err != -ENOENT) {
		t->size = 8;
		return err;
	}
	if (compiler__is_aggregate(&f, e, &t->type)) {
		t->kind = LAYOUT_VALUE;
		t->size = (value_size(&t->type) + 3) / 4 * 4;
		return 0;
	}
	if (compiler__is_text(&f, e, &most)) {
		t->kind = LAYOUT_TEXT;
		/* Arrays in the kernel are NUL-terminated; arrays in user programs may be full. */
		t->size = most == COMPILER_TEXT_MOST ? PROBE_TEXT_MOST :
						       (most + place->is_user + 3) / 4 * 4;
		return 0;
	}
	err = compiler__type(&f, e, &o);
	if (err)
		return err;
	t->is_signed = o.kind == SIGNED;
	t->size = c_type__is_number(&o.type, &size, &is_signed) && size <= 4 ? 4 : 8;
	t->kind = t->is_signed ? LAYOUT_SIGNED : LAYOUT_UNSIGNED;
	if (is_program_address(&f, e))
		t->kind = LAYOUT_USER_SYMBOL;
	else if (!strcmp(said, "symbol"))
		t->kind = LAYOUT_SYMBOL;
	else if (!strcmp(said, "errno"))
		t->kind = LAYOUT_ERRNO;
	else if (!*said && is_device(&f, e))
		t->kind = LAYOUT_DEVICE;
	else if (said[0] == 'x' || c_type__is_pointer(&o.type) || (!*said && is_pointer_field(&f, e)) ||
		 compiler__follow(&f, e)->op == EXPR_REGISTER)
		t->kind = LAYOUT_HEX;
	else if (compiler__follow(&f, e)->op == EXPR_SPECIAL &&
		 !strcmp(compiler__follow(&f, e)->text, "elapsed"))
		t->kind = LAYOUT_TIME;
	else if (is_id(e))
		t->kind = LAYOUT_ID;
	else if (e->op == EXPR_NAME && !strcmp(e->text, "cgroup") && !place__find(place, "cgroup"))
		t->kind = LAYOUT_CGROUP;
	return 0;
}

/*
 * --- keys --------------------------------------------------------------------------------------
 */

static int number_field(struct compiler *f, const struct expr *e, const struct layout_field *field)
{
	struct operand o;
	int err = 0;

	if (field->kind == LAYOUT_EVENT && f->place->by_site)
		code__load(f->code, BPF_W, BPF_REG_0, REG_FRAME,
			   offsetof(struct probe_frame, event));
	else if (field->kind == LAYOUT_EVENT)
		code__set(f->code, BPF_REG_0, f->place->number);
	else if (field->kind == LAYOUT_CONTAINER || field->kind == LAYOUT_UNIT)
		err = compiler__cgroup(f, e);
	else
		err = compiler__value(f, e, &o);
	code__store(f->code, size_code(field->size), REG_FRAME, BPF_REG_0, KEY_AT + field->offset);
	return err;
}

/*
 * Appends a text to a record. r8 is the record's size so far, limited so that one more text fits.
 * An unreadable text is marked, and the rest of the record is kept.
 */
static int record_text(struct compiler *f, const struct expr *e, const struct layout_field *field)
{
	struct code *code = f->code;
	int fault = code__label(code), done = code__label(code), fits = code__label(code), err;
	int empty = code__label(code);
	u32 at = KEY_AT + field->offset;

	code__jump_if_number(code, BPF_JLE, REG_TAIL, PROBE_KEY_MOST - PROBE_TEXT_MOST, fits);
	say(code, EVENT_TEXT_TOO_LONG);
	code__place(code, fits);
	code__store(code, BPF_H, REG_FRAME, REG_TAIL, at + offsetof(struct probe_text, at));
	code__move(code, BPF_REG_9, REG_FRAME);
	code__op(code, BPF_ADD, BPF_REG_9, REG_TAIL);
	err = compiler__text(f, e, BPF_REG_9, KEY_AT, PROBE_TEXT_MOST, fault);
	/* The verifier of 5.10 needs the upper bound. */
	code__op_number(code, BPF_AND, BPF_REG_0, 2 * PROBE_TEXT_MOST - 1);
	/* The length includes the NUL, except that of an empty text in strncpy_from_user_nofault() (seen in 5.10). */
	code__jump_if_number(code, BPF_JEQ, BPF_REG_0, 0, empty);
	code__op_number(code, BPF_SUB, BPF_REG_0, 1);
	code__jump_if_number(code, BPF_JGE, BPF_REG_0, PROBE_TEXT_MOST, fault);
	code__place(code, empty);
	code__store(code, BPF_H, REG_FRAME, BPF_REG_0, at + offsetof(struct probe_text, length));
	code__op(code, BPF_ADD, REG_TAIL, BPF_REG_0);
	code__jump(code, done);
	code__place(code, fault);
	code__set(code, BPF_REG_0, PROBE_TEXT_FAULT);
	code__store(code, BPF_H, REG_FRAME, BPF_REG_0, at + offsetof(struct probe_text, length));
	code__place(code, done);
	return err;
}

int key__compile(struct code *code, const struct expr *const *e, const struct layout_field *field,
		 size_t n, bool behind, u32 fixed_size, const struct place *place,
		 struct complaint *c, size_t *which)
{
	struct compiler f = begin(code, place, true, c);
	int err = 0;
	size_t i;

	if (behind)
		code__set(code, REG_TAIL, fixed_size);
	for (i = 0; i < n && !err; i++) {
		*which = i;
		if (field[i].kind == LAYOUT_VALUE)
			err = compiler__aggregate(&f, e[i], &field[i], behind);
		else if (field[i].kind != LAYOUT_TEXT)
			err = number_field(&f, e[i], &field[i]);
		else if (behind)
			err = record_text(&f, e[i], &field[i]);
		else
			err = compiler__padded_text(&f, e[i], REG_FRAME, KEY_AT + field[i].offset,
						    field[i].size);
	}
	if (err)
		return err;
	if (fixed_size && !behind)
		code__set(code, REG_TAIL, fixed_size);
	if (fixed_size)
		code__store(code, BPF_W, REG_FRAME, REG_TAIL, offsetof(struct probe_frame, size));
	say(code, 0);
	return end(&f, n ? e[n - 1] : NULL);
}

/*
 * --- matching ends with begins -----------------------------------------------------------------
 */

int match__compile(struct code *code, const struct expr *const *e, size_t n,
		   const struct place *place, struct complaint *c, size_t *which)
{
	struct compiler f = begin(code, place, true, c);
	struct operand o;
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++) {
		*which = i;
		err = compiler__value(&f, e[i], &o);
		store_value(code, BPF_REG_0, offsetof(struct probe_frame, match) + 8 * i);
	}
	if (err)
		return err;
	say(code, 0);
	return end(&f, e[n - 1]);
}

/*
 * Matches by the thread and the stack position of the return address: the stack pointer at entry, which is one word
 * higher after the return. Programs on fentry and fexit do not get the stack pointer, but their arguments are on the
 * stack, at the same position for both.
 */
static void match_thread(struct code *code, const struct place *place)
{
	struct machine_register sp = machine_stack_pointer();
	size_t at = offsetof(struct probe_frame, match);

	code__call(code, BPF_FUNC_get_current_pid_tgid);
	store_value(code, BPF_REG_0, at);
	if (place->context == PLACE_ARGUMENTS) {
		code__move(code, BPF_REG_0, REG_CONTEXT);
		code__emit(code,
			   (struct bpf_insn){.code = BPF_ALU | BPF_END | BPF_TO_LE, .imm = 64});
	} else {
		code__load(code, BPF_DW, BPF_REG_0, REG_CONTEXT, sp.offset);
		if (place->is_return && !place->is_exit)
			code__op_number(code, BPF_SUB, BPF_REG_0, place->return_bytes ?: ARCH_CALL_BYTES);
	}
	store_value(code, BPF_REG_0, at + 8);
	code__load(code, BPF_W, BPF_REG_0, REG_FRAME, offsetof(struct probe_frame, event));
	store_value(code, BPF_REG_0, at + 16);
	say(code, place->is_shared);
}

/* Offsets unchanged since Go 1.4: struct g begins with struct stack { lo, hi uintptr } (runtime/runtime2.go). */
enum { GOROUTINE_STACK_LOW = 0, GOROUTINE_STACK_HIGH = 8 };

/* Reads a limit of the goroutine's stack into BPF_REG_0, and the stack pointer into BPF_REG_1. */
static void read_stack_limit(struct compiler *f, s64 offset)
{
	code__load(f->code, BPF_DW, BPF_REG_0, REG_CONTEXT, machine_goroutine().offset);
	compiler__read(f, offset, 8, false);
	code__load(f->code, BPF_DW, BPF_REG_1, REG_CONTEXT, machine_stack_pointer().offset);
}

/*
 * Matches by goroutine. A goroutine may continue in another thread, and its stack may move, but the distance from the
 * stack's upper end is constant: copystack() in runtime/stack.go. In the program's C code the register can have any
 * value: if the stack pointer is outside the stack, the call is matched by its thread, at f->fault. The third number
 * also contains the process.
 */
static void match_goroutine(struct compiler *f)
{
	const size_t at = offsetof(struct probe_frame, match);
	struct code *code = f->code;

	read_stack_limit(f, GOROUTINE_STACK_LOW);
	code__jump_if(code, BPF_JLT, BPF_REG_1, BPF_REG_0, f->fault);
	read_stack_limit(f, GOROUTINE_STACK_HIGH);
	code__jump_if(code, BPF_JGT, BPF_REG_1, BPF_REG_0, f->fault);
	code__op(code, BPF_SUB, BPF_REG_0, BPF_REG_1);
	store_value(code, BPF_REG_0, at + 8);
	code__load(code, BPF_DW, BPF_REG_0, REG_CONTEXT, machine_goroutine().offset);
	store_value(code, BPF_REG_0, at);
	code__call(code, BPF_FUNC_get_current_pid_tgid);
	code__op_number(code, BPF_RSH, BPF_REG_0, 32);
	code__op_number(code, BPF_LSH, BPF_REG_0, 32);
	code__load(code, BPF_W, BPF_REG_1, REG_FRAME, offsetof(struct probe_frame, event));
	code__op(code, BPF_OR, BPF_REG_0, BPF_REG_1);
	store_value(code, BPF_REG_0, at + 16);
	say(code, f->place->is_shared);
}

/* The compiled function returns 1 if the end may be another function's. */
int match__call(struct code *code, const struct place *place)
{
	struct complaint c;
	struct compiler f = begin(code, place, true, &c);

	if (place->has_goroutine) {
		match_goroutine(&f);
		code__place(code, f.fault);
	}
	match_thread(code, place);
	return code__finish(code);
}
