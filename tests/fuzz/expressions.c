// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer's entry: whatever is typed as an expression, a probe, bounds, or the arguments of a USDT note is
 * parsed, written out, parsed again, typed and compiled, at a place with something of everything.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"
#include "jit/compile.h"
#include "events/probe/bounds.h"
#include "probe/definition.h"

static const char format_text[] =
	"name: fuzz\nID: 1\nformat:\n"
	"\tfield:u8 b;\toffset:8;\tsize:1;\tsigned:0;\n"
	"\tfield:s32 w;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 d;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:char text[8];\toffset:24;\tsize:8;\tsigned:1;\n"
	"\tfield:__data_loc char[] any;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"%s\", __print_symbolic(REC->b, { 1, \"ONE\" })\n";

/* A structure that has itself in it, an array, a bit-field and a text: struct s { struct s *n; u32 a[4]; u32 x:3; char
 * t[4]; } */
static struct btf *make_types(u32 *pointer)
{
	struct btf *btf = btf__new_empty();
	int u32_id = btf__add_int(btf, "unsigned int", 4, 0), char_id = btf__add_int(btf, "char", 1, BTF_INT_SIGNED);
	int numbers = btf__add_array(btf, u32_id, u32_id, 4), text = btf__add_array(btf, u32_id, char_id, 4);
	int to_s = btf__add_ptr(btf, text + 2);

	btf__add_struct(btf, "s", 32);
	btf__add_field(btf, "n", to_s, 0, 0);
	btf__add_field(btf, "a", numbers, 64, 0);
	btf__add_field(btf, "x", u32_id, 192, 3);
	btf__add_field(btf, "t", text, 224, 0);
	*pointer = to_s;
	return btf;
}

/* Whatever the bytes are. */
static void show(struct layout_field *field, const struct expr *e)
{
	u8 bytes[SHAPE_BYTES_MOST];

	if (!field->shape)
		return;
	memset(bytes, e->at * 37 + e->len, sizeof(bytes));
	free(shape__text(field->shape, bytes, field->size));
	layout_field__free(field);
}

/* A cast can name struct s. */
static int find_type(struct c_type *t, void *arg, const char *name)
{
	const struct place *p = arg;

	if (strcmp(name, "struct s") && strcmp(name, "ns::s") && strcmp(name, "s"))
		return strcmp(name, "twice") ? -ENOENT : -EEXIST;
	c_type__pointee(&p->variable[0].type, t);
	return 0;
}

static void compile(const struct expr *e, const struct place *place)
{
	struct code filter = {}, value = {}, key = {};
	struct layout_field field = {};
	struct operand_type type;
	struct complaint c;
	size_t which;

	filter__compile(&filter, e, place, &c);
	value__compile(&value, e, VALUE_UNSIGNED, place, &c);
	if (!expr__type(&type, e, place, &c)) {
		field.kind = type.kind;
		field.size = type.size;
		if ((type.kind == LAYOUT_VALUE || (type.kind == LAYOUT_ENUM && !type.symbols)) &&
		    shape__new(&field.shape, &type.type))
			abort();        /* it has been said to be one */
		key__compile(&key, &e, &field, 1, false, 0, place, &c, &which);
		show(&field, e);
	}
	code__free(&filter);
	code__free(&value);
	code__free(&key);
}

static void try_expression(const char *text, const struct place *record, const struct place *registers)
{
	struct expr *e, *again;
	struct complaint c;
	char *written;

	if (expr__parse(&e, text, &c)) {
		if (c.at > strlen(text) || !c.what[0])
			abort();        /* a complaint about nothing */
		return;
	}
	written = expr__format(e);
	/* An expression reads as it was written, but its parentheses nest deeper. */
	if (written && !expr__parse(&again, written, &c))
		expr__free(again);
	else if (written && !strstr(c.what, "nested"))
		abort();
	free(written);
	compile(e, record);
	compile(e, registers);
	expr__free(e);
}

static void try_others(const char *text)
{
	struct probe_definition d;
	struct probe_argument *list;
	struct place place = { .context = PLACE_REGISTERS, .event = "fuzz", .is_user = true };
	struct complaint c;
	struct bounds b;
	char *part = NULL;
	size_t n;

	if (!probe_definition__parse(&d, text, &c, &part))
		probe_definition__free(&d);
	free(part);
	if (!probe_arguments__parse(&list, &n, text, &c, &part))
		probe_arguments__free(list, n);
	free(part);
	if (!bounds__linear(&b, text, &c))
		bounds__free(&b);
	if (!bounds__powers(&b, text, &c))
		bounds__free(&b);
	if (!bounds__list(&b, text, &c))
		bounds__free(&b);
	place__add_usdt(&place, text);
	place__free(&place);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct tracepoint_format format;
	static struct place record, registers;
	static struct btf *btf;
	char *text = malloc(size + 1);
	u32 pointer;

	if (!btf) {
		btf = make_types(&pointer);
		tracepoint_format__parse(&format, format_text);
		record = (struct place){ .context = PLACE_RECORD, .event = "fuzz", .format = &format };
		registers = (struct place){ .context = PLACE_REGISTERS, .event = "fuzz", .has_result = true,
					    .is_end = true, .result = c_type__integer(8, true),
					    .find_type = find_type };
		place__add(&registers, &(struct place_variable){ .name = (char *)"p", .where = AT_ARGUMENT,
								 .type = c_type__of(btf, pointer) });
		place__add(&registers, &(struct place_variable){ .name = (char *)"m", .where = AT_MEMORY, .number = 7,
								 .type = c_type__of(btf, pointer) });
	}
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (strlen(text) == size && !strchr(text, '@') && !strstr(text, "/dev") && !strstr(text, "symbol") &&
	    !strstr(text, "caller")) {
		try_expression(text, &record, &registers);
		try_others(text);
	}
	free(text);
	return 0;
}
