// SPDX-License-Identifier: BSD-2-Clause
#include "jit/place.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arch.h"
#include "base/array.h"
#include "expr/fields.h"
#include "jit/registers.h"

struct kernel_types *place__types(const struct place *p)
{
	return p->types ? p->types(p->types_arg) : NULL;
}

int place__parse_type(const struct place *p, struct c_type *t, const char *text)
{
	struct kernel_types *types;

	if (!c_type__parse(t, NULL, NULL, text))
		return 0;
	if (p->find_type)
		return c_type__parse(t, p->find_type, (void *)p, text);
	types = place__types(p);
	return types ? c_type__parse(t, c_type__find_kernel, types, text) : -ENOENT;
}

int place__add(struct place *p, const struct place_variable *v)
{
	struct place_variable copy = *v;
	int err;

	copy.name = strdup(v->name);
	copy.why = v->why ? strdup(v->why) : NULL;
	err = copy.name && (copy.why || !v->why) ? ARRAY_APPEND(p->variable, p->nvariables, copy) : -ENOMEM;
	if (err) {
		free(copy.name);
		free(copy.why);
	}
	return err;
}

void place__free(struct place *p)
{
	size_t i;

	for (i = 0; i < p->nvariables; i++) {
		free(p->variable[i].name);
		free(p->variable[i].why);
	}
	free(p->variable);
	p->variable = NULL;
	p->nvariables = 0;
}

const struct place_variable *place__find(const struct place *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->nvariables; i++)
		if (!strcmp(p->variable[i].name, name))
			return &p->variable[i];
	return NULL;
}

void place__names(const struct place *p, char *text, size_t size)
{
	size_t i, n = 0;

	*text = 0;
	for (i = 0; i < p->nvariables && n < size; i++)
		if (p->variable[i].where != AT_NOWHERE && *p->variable[i].name)
			n += snprintf(text + n, size - n, "%s%s", n ? ", " : "",
				      p->variable[i].name);
}

bool place__is_known_everywhere(const char *name)
{
	static const char *const known[] = {
		"comm", "pid", "tid", "uid", "cpu", "cgroup", "container", "unit", "pidns", "nsecs", "func",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(name, known[i]))
			return true;
	return false;
}

bool place__has_itself(const struct place *p, const char *name)
{
	return place__is_known_everywhere(name) || (p->format && field__find(p->format, name)) || place__find(p, name);
}

const struct expr *place__stands_for_other(const struct place *p, const struct expr *e)
{
	const struct expr *just;
	size_t i;

	for (i = 0; e->op == EXPR_NAME && i < p->naliases; i++) {
		const struct place_alias *a = &p->alias[i];

		if (strcmp(a->name, e->text) || a->is_off || (!a->is_given && place__has_itself(p, a->name)))
			continue;
		/* The alias "size" may share the name of an argument if it is only size, or size:u32. */
		for (just = a->expr; just->op == EXPR_TYPED || just->op == EXPR_CAST; just = just->left)
			;
		return just->op == EXPR_NAME && !strcmp(just->text, e->text) ? NULL : a->expr;
	}
	return NULL;
}

/*
 * --- functions of the kernel -------------------------------------------------------------------
 */

/* Returns the words that an argument takes: structures and __int128 may take more than one. */
static u32 words_of(const struct c_type *t)
{
	u64 size = c_type__size(t);

	return size > 8 && !c_type__is_pointer(t) ? (size + 7) / 8 : 1;
}

/*
 * Locations of arguments. In fentry's array, they take consecutive words. In the System V ABI for
 * x86-64, an argument is never split between registers and stack, and arguments of more than two
 * words are on the stack. In the AAPCS64, those are passed by address, and all arguments after the
 * first one on the stack are on the stack. The kernel has no floating-point arguments.
 */
struct passing {
	bool in_array;
	u32 next, on_stack;
};

static u32 take_slot(struct passing *p, u32 words)
{
	u32 slot = p->next;

	if (!p->in_array && !ARCH_PASSES_SYSV && words > 2)
		words = 1;
	if (p->in_array || (words <= 2 && p->next + words <= ARCH_ARGUMENT_REGISTERS)) {
		p->next += words;
		return slot;
	}
	slot = ARCH_ARGUMENT_REGISTERS + p->on_stack;
	p->on_stack += words;
	if (!ARCH_PASSES_SYSV)
		p->next = ARCH_ARGUMENT_REGISTERS;
	return slot;
}

/* from is the index of the first parameter that programs see. */
static int add_prototype(struct place *p, const struct btf *btf, u32 id, u32 from)
{
	const struct btf_type *t = btf_bare_type(btf, id, &id);
	const struct btf_param *param;
	struct passing passing = { .in_array = p->context == PLACE_ARGUMENTS };
	u32 i, n, words;
	int err = 0;

	if (t && (btf_is_func(t) || btf_is_ptr(t)))
		t = btf_bare_type(btf, t->type, &id);
	if (!t || !btf_is_func_proto(t))
		return -EINVAL;
	n = btf_vlen(t);
	param = btf_params(t);
	p->has_result = p->is_return && t->type;
	if (t->type)
		p->result = c_type__of(btf, t->type);
	else
		p->no_result = "this function returns nothing";
	/* A large result is written to an address in a register: on x86-64, that of the first argument. */
	if (ARCH_RESULT_BY_ARGUMENT && t->type && words_of(&p->result) > 2 && !passing.in_array)
		passing.next = 1;
	for (i = from; i < n && !err; i++) {
		struct place_variable v = {
			.name = (char *)(btf__name_by_offset(btf, param[i].name_off) ?: ""),
			.where = AT_ARGUMENT,
			.type = c_type__of(btf, param[i].type),
			.is_parameter = true,
		};

		if (!param[i].type)
			break;          /* "..." */
		p->declared.arguments++;
		words = words_of(&v.type);
		v.number = take_slot(&passing, words);
		if (p->is_return) {
			v.where = AT_NOWHERE;
			v.why = "arguments are lost when the function returns; probe saves them if all its events "
				"are returns";
		} else if (words > 1) {
			v.where = AT_NOWHERE;
			v.why = "it is passed by value, in several registers or on the stack";
		}
		/* Unnamed parameters are accessible by number. */
		if (*v.name || from)
			err = place__add(p, &v);
	}
	p->nslots = passing.next;
	p->declared.is_known = !passing.in_array && i == n;
	p->declared.registers = passing.next;
	p->declared.stack = passing.on_stack;
	return err;
}

int place__add_prototype(struct place *p, const struct btf *btf, u32 id)
{
	return add_prototype(p, btf, id, 0);
}

/*
 * --- tracepoints -------------------------------------------------------------------------------
 */

int place__add_tracepoint(struct place *p, const struct kernel_type *found)
{
	int err = add_prototype(p, found->btf, found->id, TRACEPOINT_DATA);

	p->has_result = false;
	p->no_result = "a tracepoint has no result";
	return err;
}

/*
 * --- USDT --------------------------------------------------------------------------------------
 */

#define SYMBOL "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$"

/*
 * Parses a variable's name with offsets before or after it: sym(%rip), sym+8(%rip), 8+sym(%rip). A number alone is
 * relative to an instruction that the note does not give. Returns false if this is no such operand, or, with *why
 * set, if the variable's address is unknown.
 */
static bool parse_variable(struct place_variable *v, const struct place *p, const char *text, const char **why)
{
	const char *behind = strstr(text, "(%rip)");
	u64 offset = 0, at;
	char name[256];
	bool known;
	size_t n;
	char *end;

	if (!behind || strcmp(behind, "(%rip)"))
		return false;
	*name = 0;
	while (text < behind) {
		n = strspn(text + (*text == '+'), SYMBOL);
		if (isdigit((unsigned char)text[*text == '+' || *text == '-'])) {
			offset += strtoll(text, &end, 0);
			text = end;
		} else if (!*name && n && n < sizeof(name)) {
			text += *text == '+';
			memcpy(name, text, n);
			name[n] = 0;
			text += n;
		} else {
			return false;
		}
	}
	if (!*name)
		return false;
	known = p->find_symbol && p->find_symbol(p, name, &at);
	if (!known)
		*why = "the file's symbol table does not have that name";
	v->where = AT_STATIC;
	v->offset = known ? at - p->address + offset : 0;
	return known;
}

/* Parses operands in assembler syntax: $5, %eax, 8(%rbp), -4(%rax,%rbx,8), sym(%rip). Sets *v except for its type. */
static bool parse_operand(struct place_variable *v, const struct place *p, const char *text, const char **why)
{
	struct machine_register r;
	char base[8], index[8];
	long long offset = 0;
	int n = 0, scale = 1;
	char *end;

	if (*text == '$') {
		v->where = AT_CONSTANT;
		v->offset = strtoll(text + 1, &end, 0);
		return end != text + 1 && !*end;
	}
	if (*text == '%') {
		v->where = AT_REGISTER;
		return machine_register__find(&r, text + 1) && !r.shift &&
		       machine_register__dwarf(&r, &v->number);
	}
	if (parse_variable(v, p, text, why))
		return true;
	offset = strtoll(text, &end, 0);
	v->offset = offset;
	if (sscanf(end, "(%%%7[a-z0-9])%n", base, &n) == 1 && n && !end[n]) {
		v->where = AT_MEMORY;
	} else if (n = 0,
		   sscanf(end, "(%%%7[a-z0-9],%%%7[a-z0-9],%1d)%n", base, index, &scale, &n) == 3 &&
			   n && !end[n]) {
		v->where = AT_INDEXED;
		v->scale = scale;
		if (!machine_register__find(&r, index) || !machine_register__dwarf(&r, &v->index))
			return false;
	} else {
		return false;
	}
	/* A PC-relative operand is refused, since the note does not give the instruction. */
	return machine_register__find(&r, base) &&
	       r.offset != machine_instruction_pointer().offset &&
	       machine_register__dwarf(&r, &v->number);
}

static int add_usdt(struct place *p, u32 n, const char *text)
{
	struct place_variable v = {};
	const char *what = NULL;
	char name[16], why[400], *end;
	long size = strtol(text, &end, 10), bytes;

	if (size > 8 || size < -8)
		size = 0;
	bytes = labs(size);
	snprintf(name, sizeof(name), "arg%u", n);
	v.name = name;
	v.type = c_type__integer(bytes, size < 0);
	if (*end != '@' || end == text || !parse_operand(&v, p, end + 1, &what) || !bytes ||
	    (bytes & (bytes - 1))) {
		snprintf(why, sizeof(why), "its operand '%s' at %s cannot be read%s%s", text,
			 p->event ?: "the probe", what ? ": " : "", what ?: "");
		v.where = AT_NOWHERE;
		v.why = why;
	}
	return place__add(p, &v);
}

int place__add_usdt(struct place *p, const char *arguments)
{
	char *copy = strdup(arguments ?: ""), *at = copy, *from;
	u32 n = 0;
	int err = copy ? 0 : -ENOMEM;

	while (!err && *at) {
		int nesting = 0;

		while (*at == ' ')
			at++;
		for (from = at; *at && (*at != ' ' || nesting); at++)
			nesting += (*at == '(') - (*at == ')');
		if (*at)
			*at++ = 0;
		if (*from)
			err = add_usdt(p, ++n, from);
	}
	free(copy);
	return err;
}
