// SPDX-License-Identifier: BSD-2-Clause
#include "jit/compiler.h"

#include <errno.h>
#include <string.h>

#include "expr/fields.h"
#include "host/scope.h"

#define COMM_SIZE 16            /* TASK_COMM_LEN */

enum text_source {
	TEXT_NONE,
	TEXT_COMM,              /* of the current task */
	TEXT_FIELD,             /* in the record, with a fixed size */
	TEXT_DYNAMIC,           /* in the record; its field holds the offset and length */
	TEXT_ARRAY,             /* in memory */
	TEXT_POINTER,           /* a number that is the address of a text */
};

struct text {
	enum text_source source;
	const struct tracepoint_field *field;
	const struct expr *e;           /* TEXT_ARRAY, TEXT_POINTER */
	bool is_user; /* TEXT_POINTER: to user memory, regardless of the address */
	u32 most;                       /* number of characters */
	bool is_open;                   /* TEXT_ARRAY: its maximum length is unknown */
};

static bool is_string_type(const struct expr *e)
{
	return e->op == EXPR_TYPED && (!strcmp(e->text, "string") || !strcmp(e->text, "ustring"));
}

static struct text field_text(const struct tracepoint_field *field)
{
	struct text t = { TEXT_DYNAMIC, field, NULL, false, COMPILER_TEXT_MOST, false };

	if (!field_is_text(field))
		return (struct text){};
	if (field->elements) {
		t.source = TEXT_FIELD;
		t.most = field->elements;
	}
	return t;
}

/*
 * Returns a text by its type: an array of characters, or a pointer to characters. `said` means that
 * the user typed :string, so any pointer or number is accepted.
 */
static struct text typed_text(struct compiler *f, const struct expr *e, bool said)
{
	struct text t = { TEXT_POINTER, NULL, e, false, COMPILER_TEXT_MOST, false };
	struct complaint ignored = {};
	struct compiler quiet = *f;
	struct code scratch = {};
	struct c_type element;
	struct operand o;
	struct lvalue l;
	u32 n;

	/* Computed values are never texts, and compiling them here, too, would double the work per level. */
	if (!said && e->right && e->op != EXPR_INDEX)
		return (struct text){};
	quiet.code = &scratch;
	quiet.c = &ignored;
	compiler__begin_losses(&quiet);
	if (said && e->op == EXPR_MEMORY) {
		/* As in perf-probe(1), +8(%di):string is the text at %di + 8. */
		t.source = TEXT_ARRAY;
		t.is_open = true;
	} else if (expr_is_lvalue(f, e) && !compiler__lvalue(&quiet, e, &l) &&
		   c_type__element(&l.type, &element, &n) && (said || c_type__is_char(&element))) {
		t.source = TEXT_ARRAY;
		t.most = n ?: COMPILER_TEXT_MOST;
		t.is_open = !n;
	} else if (!said && (compiler__value(&quiet, e, &o) ||
			     !c_type__pointee(&o.type, &element) || !c_type__is_char(&element))) {
		t.source = TEXT_NONE;
	}
	code__free(&scratch);
	return t;
}

static struct text find_text(struct compiler *f, const struct expr *e)
{
	const struct tracepoint_format *format = f->place->format;
	const struct tracepoint_field *field;
	bool said = is_string_type(e), is_user = said && e->text[0] == 'u';
	struct text t;

	e = compiler__follow(f, e);
	if (is_string_type(e)) {
		said = true;
		is_user |= e->text[0] == 'u';
	}
	if (said && is_string_type(e))
		e = compiler__follow(f, e->left);
	field = e->op == EXPR_NAME && format ? field__find(format, e->text) : NULL;
	if (field && (field->elements || field->is_dynamic || field->is_relative))
		return field_text(field);
	if (!field && (e->op == EXPR_NAME || e->op == EXPR_SPECIAL) && !strcmp(e->text, "comm") &&
	    !place__find(f->place, e->text))
		return (struct text){ TEXT_COMM, NULL, e, false, COMM_SIZE - 1, false };
	switch (e->op) {
	case EXPR_NUMBER:
	case EXPR_STRING:
		return (struct text){};
	default:
		t = typed_text(f, e, said);
		t.is_user = is_user || (f->place->is_user && !expr_is_of_task(f, e));
		return t;
	}
}

bool compiler__is_text(struct compiler *f, const struct expr *e, u32 *most)
{
	struct text t = find_text(f, e);

	*most = t.most;
	return t.source != TEXT_NONE;
}

/*
 * --- copying -----------------------------------------------------------------------------------
 */

/* Emits probe_read_str() from the address in r3. */
static void read_text(struct compiler *f, const struct text *t, int base, s64 offset, u32 size,
		      int fault)
{
	struct code *code = f->code;
	int kernel, done;

	code__move(code, BPF_REG_1, base);
	code__op_number(code, BPF_ADD, BPF_REG_1, offset);
	code__set(code, BPF_REG_2, size);
	if (t->is_user) {
		code__call(code, BPF_FUNC_probe_read_user_str);
	} else if (t->source == TEXT_POINTER || t->source == TEXT_ARRAY) {
		kernel = code__label(code);
		done = code__label(code);
		code__jump_if_number(code, BPF_JSLT, BPF_REG_3, 0, kernel);
		code__call(code, BPF_FUNC_probe_read_user_str);
		code__jump(code, done);
		code__place(code, kernel);
		code__call(code, BPF_FUNC_probe_read_kernel_str);
		code__place(code, done);
	} else {
		code__call(code, BPF_FUNC_probe_read_kernel_str);
	}
	code__jump_if_number(code, BPF_JSLT, BPF_REG_0, 0, fault);
}

static void address_of_field(struct compiler *f, const struct tracepoint_field *field)
{
	struct code *code = f->code;

	if (field->elements) {
		code__move(code, BPF_REG_3, REG_CONTEXT);
		code__op_number(code, BPF_ADD, BPF_REG_3, field->offset);
		return;
	}
	code__load(code, BPF_W, BPF_REG_3, REG_CONTEXT, field->offset);
	code__op_number(code, BPF_AND, BPF_REG_3, 0xffff);
	if (field->is_relative)
		code__op_number(code, BPF_ADD, BPF_REG_3, field->offset + 4);
	code__op(code, BPF_ADD, BPF_REG_3, REG_CONTEXT);
}

static int address_of_text(struct compiler *f, const struct text *t)
{
	struct operand o;
	struct lvalue l;
	int err;

	switch (t->source) {
	case TEXT_ARRAY:
		err = compiler__lvalue(f, t->e, &l);
		code__move(f->code, BPF_REG_3, BPF_REG_0);
		code__op_number(f->code, BPF_ADD, BPF_REG_3, l.offset);
		return err;
	case TEXT_POINTER:
		err = compiler__value(f, t->e, &o);
		code__move(f->code, BPF_REG_3, BPF_REG_0);
		return err;
	default:
		address_of_field(f, t->field);
		return 0;
	}
}

/* Refuses comm if the event is about another task: comm is always that of the current task. */
static int check_comm(struct compiler *f, const struct text *t)
{
	if (t->source != TEXT_COMM || !f->place->about_other)
		return 0;
	return complain(f->c, -EINVAL, t->e->at, t->e->len,
			"%s describes a task other than the current one and does not give its comm",
			f->place->event);
}

static int copy_text(struct compiler *f, const struct text *t, int base, s64 offset, u32 size,
		     int fault)
{
	int err = check_comm(f, t);

	if (err)
		return err;
	if (t->source == TEXT_COMM) {
		code__move(f->code, BPF_REG_1, base);
		code__op_number(f->code, BPF_ADD, BPF_REG_1, offset);
		code__set(f->code, BPF_REG_2, COMM_SIZE);
		code__call(f->code, BPF_FUNC_get_current_comm);
		code__set(f->code, BPF_REG_0, COMM_SIZE);       /* the length, or close enough */
		return 0;
	}
	err = address_of_text(f, t);
	/* A text that fills its array is not NUL-terminated. */
	if ((t->source == TEXT_FIELD || t->source == TEXT_ARRAY) && !t->is_open &&
	    size > t->most + 1)
		size = t->most + 1;
	read_text(f, t, base, offset, size, fault);
	return err;
}

int compiler__text(struct compiler *f, const struct expr *e, int base, s64 offset, u32 size,
		   int fault)
{
	struct text t = find_text(f, e);

	return copy_text(f, &t, base, offset, size, fault);
}

/* Clears the bytes after a shorter text, since buffers are reused and equal texts must compare equal. */
static void clear(struct compiler *f, int base, s64 from, u32 size)
{
	s64 at = from;

	code__set(f->code, BPF_REG_1, 0);
	for (; at % 8 == 0 && at + 8 <= from + size; at += 8)
		code__store(f->code, BPF_DW, base, BPF_REG_1, at);
	for (; at < from + size; at += 4)
		code__store(f->code, BPF_W, base, BPF_REG_1, at);
}

int compiler__padded_text(struct compiler *f, const struct expr *e, int base, s64 offset, u32 size)
{
	struct text t = find_text(f, e);

	code__note(f->code, expr__format(e));
	/* The kernel itself pads comm. */
	if (t.source != TEXT_COMM)
		clear(f, base, offset, size);
	return copy_text(f, &t, base, offset, size, f->fault);
}

/*
 * --- comparing ---------------------------------------------------------------------------------
 */

/* Location of the characters of a text, after fetching them. */
struct text_place {
	int base, off;
	u32 most;               /* maximum length, with or without a NUL */
};

/* want is the minimum number of bytes to fetch, including the NUL, or 0 for all. */
static int fetch(struct compiler *f, const struct text *t, size_t want, struct text_place *p)
{
	*p = (struct text_place){ BPF_REG_10, COMPILER_TEXT_AT, COMPILER_TEXT_MOST };
	if (t->source == TEXT_FIELD) {
		*p = (struct text_place){ REG_CONTEXT, t->field->offset, t->most };
		return 0;
	}
	if (t->source == TEXT_COMM)
		p->most = COMM_SIZE;
	/* Fetch one byte more than the text, so that a longer text differs there. */
	return copy_text(f, t, BPF_REG_10, COMPILER_TEXT_AT, (want ?: COMPILER_TEXT_MOST) + 1,
			 f->fault);
}

/* Jumps to `differs` unless the bytes at base + off equal text, including its NUL. */
static void compare_bytes(struct compiler *f, int base, int off, const char *text, size_t n,
			  int differs)
{
	size_t i, size;
	u64 wanted;

	for (i = 0; i < n; i += size) {
		/* Only aligned reads of the context are allowed. */
		for (size = 4; i + size > n || (off + (int)i) % (int)size; size /= 2)
			;
		wanted = 0;
		memcpy(&wanted, text + i, size);
		code__load(f->code, size_code(size), BPF_REG_2, base, off + i);
		code__set(f->code, BPF_REG_3, wanted);
		code__jump_if(f->code, BPF_JNE, BPF_REG_2, BPF_REG_3, differs);
	}
}

/* Jumps to label if (name == text) has the wanted result. */
static int compare_text(struct compiler *f, const struct expr *e, const struct text *t,
			const struct expr *text, bool wanted, int label)
{
	size_t n = strlen(text->text) + 1, most = COMPILER_TEXT_MOST;
	bool equal = (e->op == EXPR_EQUAL) == wanted;
	struct text_place p;
	int differs, err;

	if (t->source == TEXT_FIELD || t->source == TEXT_ARRAY)
		most = t->most + 1 < most ? t->most + 1 : most;
	else if (t->source == TEXT_COMM)
		most = COMM_SIZE;
	if (n > most)
		return complain(f->c, -EINVAL, text->at, text->len,
				"%s never holds a string this long",
				t->field		 ? t->field->name
				: t->source == TEXT_COMM ? "comm"
							 : "this");
	err = fetch(f, t, n, &p);
	if (err)
		return err;
	/* A text that fills its array is not NUL-terminated. */
	if (t->source == TEXT_FIELD && n > p.most)
		n = p.most;
	differs = equal ? code__label(f->code) : label;
	compare_bytes(f, p.base, p.off, text->text, n, differs);
	if (equal) {
		code__jump(f->code, label);
		code__place(f->code, differs);
	}
	return 0;
}

/* Returns the transition that most characters share in a glob, so that only the others need code. */
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

/* Emits a step of the automaton of bpf/lib/scope.h: r4 holds the states, r2 the character; r3 and r5 are scratch. */
static void glob_step(struct compiler *f, const struct scope_glob *glob)
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

/* Jumps to label if (name ~ glob) has the wanted result. */
static int match_text(struct compiler *f, const struct expr *e, const struct text *t,
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
	err = fetch(f, t, 0, &p);
	if (err)
		return err;
	/* The beginning of a truncated text cannot decide the match. */
	if (t->source == TEXT_DYNAMIC || t->source == TEXT_POINTER || t->source == TEXT_ARRAY)
		code__jump_if_number(f->code, BPF_JGT, BPF_REG_0, COMPILER_TEXT_MOST, f->too_long);
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

/* Returns the side that is a quoted text, or NULL, and sets *other to the other side. */
static const struct expr *quoted(const struct expr *e, const struct expr **other)
{
	if (e->right->op == EXPR_STRING) {
		*other = e->left;
		return e->right;
	}
	*other = e->right;
	return e->left->op == EXPR_STRING ? e->left : NULL;
}

bool expr_compares_texts(struct compiler *f, const struct expr *e)
{
	const struct expr *other;

	return quoted(e, &other) && find_text(f, other).source != TEXT_NONE;
}

int compiler__text_condition(struct compiler *f, const struct expr *e, bool wanted, int label)
{
	const struct expr *other, *text = quoted(e, &other);
	struct text t = find_text(f, other);

	if (e->op == EXPR_LIKE || e->op == EXPR_NOT_LIKE)
		return match_text(f, e, &t, text, wanted, label);
	if (e->op == EXPR_EQUAL || e->op == EXPR_NOT_EQUAL)
		return compare_text(f, e, &t, text, wanted, label);
	return complain(f->c, -EINVAL, e->op_at, e->op_len,
			"strings have no order; use ==, !=, ~ or !~");
}
