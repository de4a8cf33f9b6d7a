// SPDX-License-Identifier: BSD-2-Clause
#include "probe/site_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arch.h"
#include "jit/registers.h"
#include "types/binary.h"

void knowledge__init(struct knowledge *k)
{
	*k = (struct knowledge){ .tracefs = -1 };
}

static void forget_named(struct knowledge *k)
{
	u32 i;

	for (i = 0; i < NAMED_TYPES; i++)
		free(k->named[i].name);
	memset(k->named, 0, sizeof(k->named));
}

void knowledge__release(struct knowledge *k)
{
	kernel_types__close(&k->types);
	if (k->tracefs >= 0)
		close(k->tracefs);
	forget_named(k);
	dwarf_types__free(k->dwarf_types);
	dwarf__close(k->dwarf);
	free(k->dwarf_path);
}

static struct kernel_types *kernel_types(void *arg)
{
	struct knowledge *k = arg;

	return kernel_types__on_first_use(&k->types);
}

static const struct c_type *task_type(void *arg)
{
	struct kernel_types *types = kernel_types(arg);
	struct knowledge *k = arg;
	int id;

	if (!k->has_task && types) {
		id = btf__find_by_name_kind(types->vmlinux, "task_struct", BTF_KIND_STRUCT);
		k->has_task = id > 0;
		k->task = c_type__of(types->vmlinux, id);
	}
	return k->has_task ? &k->task : NULL;
}

static struct dwarf *dwarf_of(struct knowledge *k, const char *path)
{
	int err;

	if (k->dwarf_path && !strcmp(k->dwarf_path, path))
		return k->dwarf;
	forget_named(k);
	dwarf_types__free(k->dwarf_types);
	k->dwarf_types = NULL;
	dwarf__close(k->dwarf);
	free(k->dwarf_path);
	k->dwarf = NULL;
	k->dwarf_path = strdup(path);
	err = k->dwarf_path ? dwarf__open(&k->dwarf, path) : -ENOMEM;
	if (err)
		k->dwarf = NULL;
	k->unread = dwarf__unread(k->dwarf, err);
	return k->dwarf;
}

/* Makes all variables unavailable for this reason. */
static void forget(struct place *p, const char *why)
{
	size_t i;

	for (i = 0; i < p->nvariables; i++) {
		p->variable[i].where = AT_NOWHERE;
		free(p->variable[i].why);
		p->variable[i].why = strdup(why);
	}
}

/* Returns the function that contains a site: its name without the suffixes of perf's syntax. */
static char *function_of(const struct event_site *s)
{
	const char *colon = strchr(s->name, ':'), *from = colon ? colon + 1 : s->name;

	return strndup(from, strcspn(from, "%+"));
}

static int kernel_function(struct place *p, const struct event_site *site, struct knowledge *k)
{
	struct kernel_types *types = kernel_types(k);
	char *name = function_of(site);
	struct kernel_type found;
	int err = 0;

	if (!name)
		return -ENOMEM;
	if (types && !kernel_types__function(types, name, site->module, &found))
		err = place__add_prototype(p, found.btf, found.id);
	else
		p->has_result = p->guessed_result = p->is_return;
	free(name);
	if (err == -EINVAL)
		err = 0;
	p->own_arguments = site->offset;
	if (site->offset)
		forget(p, "arguments are known only at the function's entry; use registers, as in %di");
	return err;
}

/* MAX_BPF_FUNC_ARGS (include/linux/bpf.h): no tracepoint has more arguments. */
#define ARGUMENTS_MOST 12

static int tracepoint_arguments(struct place *p, const struct event_site *site, struct knowledge *k)
{
	struct kernel_types *types = kernel_types(k);
	struct kernel_type found;
	int err;

	p->nslots = ARGUMENTS_MOST;
	if (!types || kernel_types__tracepoint(types, strchr(site->name, ':') + 1, &found))
		return 0;
	err = place__add_tracepoint(p, &found);
	return err == -ENOMEM ? err : 0;
}

bool site_place__needs_arguments(const struct event_site *site, names_arguments names, void *arg,
				 struct knowledge *k)
{
	struct place p = { .context = PLACE_ARGUMENTS, .event = site->name };
	struct tracepoint_format format = {};
	bool yes = false;

	if (!site->tracepoint_id || !site->is_raw)
		return false;
	if (k->tracefs < 0)
		k->tracefs = tracefs__open();
	if (!event_site__read_format(&format, site, k->tracefs)) {
		p.format = &format;
		yes = names(arg, &p, true) && !tracepoint_arguments(&p, site, k) && names(arg, &p, false);
	}
	site_place__free(&p, &format);
	return yes;
}

/*
 * --- user code ---------------------------------------------------------------------------------
 */

/* Resolves structures, pointers to structures, and enumerations, whose values have names. */
static bool full_type(struct c_type *t, const struct dwarf_variable *v, struct knowledge *k)
{
	u32 id;

	if (!v->type_entry || (v->kind == DWARF_POINTER && v->is_string))
		return false;
	if (!k->dwarf_types && dwarf_types__new(&k->dwarf_types, k->dwarf))
		return false;
	if (dwarf_types__add(k->dwarf_types, v->type_entry, &id))
		return false;
	*t = c_type__of(dwarf_types__btf(k->dwarf_types), id);
	return true;
}

static int read_type(struct c_type *t, struct knowledge *k, const char *name, u64 address)
{
	u64 entry;
	u32 id;
	int err = dwarf__find_type(k->dwarf, name, address, &entry);

	if (!err && !k->dwarf_types)
		err = dwarf_types__new(&k->dwarf_types, k->dwarf);
	if (!err)
		err = dwarf_types__add(k->dwarf_types, entry, &id);
	if (!err)
		*t = c_type__of(dwarf_types__btf(k->dwarf_types), id);
	return err;
}

/* Finds a type by the name in a cast. */
static int find_type(struct c_type *t, void *arg, const char *name)
{
	const struct place *p = arg;
	struct knowledge *k = p->types_arg;
	struct named_type *n;
	u32 i;

	if (!dwarf_of(k, p->binary))
		return -ENOENT;
	for (i = 0; i < NAMED_TYPES; i++) {
		n = &k->named[i];
		if (n->name && n->address == p->address && !strcmp(n->name, name))
			break;
	}
	if (i == NAMED_TYPES) {
		n = &k->named[k->nnamed++ % NAMED_TYPES];
		free(n->name);
		n->name = strdup(name);
		if (!n->name)
			return -ENOMEM;
		n->address = p->address;
		n->err = read_type(&n->type, k, name, p->address);
	}
	if (!n->err)
		*t = n->type;
	return n->err;
}

static bool find_symbol(const struct place *p, const char *name, u64 *address)
{
	bool is_relative;

	return !binary__symbol(p->binary, name, address, &is_relative);
}

static struct c_type type_of(const struct dwarf_variable *v, struct knowledge *k)
{
	struct c_type t = c_type__integer(v->size, v->kind == DWARF_SIGNED);

	if (full_type(&t, v, k) || v->kind != DWARF_POINTER)
		return t;
	t = c_type__integer(v->is_string ? 1 : 8, false);
	t.is_char = v->is_string;
	if (!v->is_string)
		return t;       /* the type that it refers to is unknown */
	return c_type__pointer_to(t);
}

static const char *where_live(const struct dwarf_variable *v, char *text, size_t size)
{
	size_t i, n = 0;

	if (!v->nlive_lines)
		return "it is not live at this point";
	n = snprintf(text, size, "it is not live at this point; it is live at lines");
	for (i = 0; i < v->nlive_lines && n < size; i++)
		n += snprintf(text + n, size - n, "%s %u", i ? "," : "", v->live_line[i]);
	return text;
}

#define FIRST_ON_STACK ARCH_ARGUMENT_REGISTERS  /* slot of the first word on the stack */

/*
 * At the first instruction of a function, the locations of parameters that the function moves to
 * memory are not valid yet. These parameters are still where the calling convention puts them.
 */
static int add_passed(struct place *p, const struct dwarf_variable *v, struct place_variable *add)
{
	struct machine_register sp = machine_stack_pointer();
	char why[80];

	add->where = AT_NOWHERE;
	add->why = why;
	snprintf(why, sizeof(why), "its location is not known");
	add->number = v->slot;
	switch (v->passed) {
	case DWARF_PASSED_NUMBER:
		add->where = AT_ARGUMENT;
		break;
	case DWARF_PASSED_ADDRESS:
		add->where = AT_POINTED;
		break;
	case DWARF_PASSED_STACK:
		add->where = AT_MEMORY;
		add->offset = 8 * (s64)(v->slot - FIRST_ON_STACK) + ARCH_CALL_BYTES;
		machine_register__dwarf(&sp, &add->number);
		break;
	case DWARF_PASSED_REGISTERS:
		snprintf(why, sizeof(why), v->nslots > 1 ? "it is in two registers, $arg%u and $arg%u" :
							   "it is in a register, $arg%u",
			 v->slot + 1, v->slot + 2);
		break;
	case DWARF_PASSED_VECTOR:
		snprintf(why, sizeof(why), "it is in a floating-point register");
		break;
	case DWARF_PASSED_NOWHERE:
		snprintf(why, sizeof(why), "it is empty");
		break;
	default:
		break;
	}
	if (add->where != AT_NOWHERE)
		add->why = NULL;
	return place__add(p, add);
}

/*
 * True for a function with its own calling convention, which it may have if no other file can call
 * it: at its entry, parameters are in other registers, or have become constants.
 */
static bool is_passed_otherwise(const struct dwarf_variables *found)
{
	struct machine_register said, passed;
	s64 on_stack;
	size_t i;

	for (i = 0; i < found->n; i++) {
		const struct dwarf_variable *v = &found->variable[i];

		if (!v->is_parameter || v->passed != DWARF_PASSED_NUMBER)
			continue;
		if (v->where == DWARF_CONSTANT)
			return true;
		if (v->where == DWARF_REGISTER && machine_register__by_dwarf(&said, v->reg) &&
		    (!machine_argument(&passed, v->slot, &on_stack) || passed.offset != said.offset))
			return true;
	}
	return false;
}

/* Sets *number to the argument that this register contains at the entry of a Go function. */
static bool is_go_argument(u32 reg, u32 *number)
{
	struct machine_register said, passed;

	if (!machine_register__by_dwarf(&said, reg))
		return false;
	for (*number = 0; machine_go_argument(&passed, *number); ++*number)
		if (passed.offset == said.offset)
			return true;
	return false;
}

/* At the entry of a Go function, registers also have argument numbers, and results have no values yet. */
static void settle_go(struct place_variable *add, const struct dwarf_variable *v)
{
	if (v->is_result) {
		add->where = AT_NOWHERE;
		add->why = (char *)"it is a result; the first result is $retval when the function returns";
	} else if (add->where == AT_NOWHERE && v->is_parameter && v->where == DWARF_COMPLEX) {
		add->why = (char *)"it takes several words; $arg1, $arg2, ... are the words of all arguments in "
				   "registers";
	} else if (add->where == AT_REGISTER && v->is_parameter && is_go_argument(v->reg, &add->number)) {
		add->where = AT_ARGUMENT;
	}
}

/* Adds a variable at the location that the compiler recorded. */
static int add_variable(struct place *p, const struct dwarf_variable *v, struct knowledge *k,
			bool by_convention, u64 address)
{
	static const enum place_where wheres[] = {
		[DWARF_REGISTER] = AT_REGISTER, [DWARF_MEMORY] = AT_MEMORY,
		[DWARF_STATIC] = AT_STATIC,	[DWARF_VALUE] = AT_SUM,
		[DWARF_CONSTANT] = AT_CONSTANT,
	};
	struct place_variable add = {
		.name = v->name, .number = v->reg, .offset = v->offset, .type = type_of(v, k),
		.is_parameter = v->is_parameter,
	};
	char why[200];

	if (by_convention && v->is_parameter) {
		add.offset = 0;
		return add_passed(p, v, &add);
	}
	if (v->where == DWARF_NOWHERE || v->where == DWARF_COMPLEX) {
		add.where = AT_NOWHERE;
		add.why = (char *)(v->where == DWARF_NOWHERE ? where_live(v, why, sizeof(why)) :
				   "it is split into pieces there, or has to be computed");
	} else {
		add.where = wheres[v->where];
		if (add.where == AT_STATIC)
			add.offset = v->offset - (s64)address;
	}
	if (p->is_go)
		settle_go(&add, v);
	return place__add(p, &add);
}

/* Returns the body of f that contains the site, or NULL. */
static const struct dwarf_place *place_of(const struct dwarf_function *f,
					  const struct event_site *site)
{
	size_t i;

	if (event_function__has_line(&site->event->function) || site->is_inlined)
		return dwarf_function__place(f, site->address);
	for (i = 0; i < f->nplaces; i++) {
		const struct dwarf_place *place = &f->place[i];

		if (!place->is_inlined && place->address == site->address - site->offset)
			return place;
	}
	return NULL;
}

/*
 * Finds the variables of the requested function: other functions inlined at the same address may
 * have variables with the same names.
 */
static int variables_at(struct dwarf_variables *found, struct dwarf *d,
			const struct event_site *site)
{
	struct dwarf_functions named = {};
	const struct dwarf_place *place;
	char *name = site->symbol ? strdup(site->symbol) : function_of(site);
	int err = name ? dwarf_functions__find(&named, d, !site->symbol &&
					       (event_function__has_line(&site->event->function) ||
							       site->is_inlined)
						       ? site->event->function.name
						       : name)
		       : -ENOMEM;
	bool done = false;
	size_t i;

	for (i = 0; i < named.n && !err && !done; i++) {
		place = place_of(&named.function[i], site);
		done = place && !dwarf_variables__of(found, d, place, site->address, true);
	}
	dwarf_functions__free(&named);
	free(name);
	return done ? 0 : dwarf_variables__at(found, d, site->address, true);
}

static void set_result(struct place *p, const struct dwarf_variable *result, struct knowledge *k)
{
	p->guessed_result = false;
	p->has_result = result->passed == DWARF_PASSED_NUMBER;
	if (result->passed == DWARF_PASSED_UNKNOWN)
		p->has_result = p->guessed_result = true;
	else if (p->has_result)
		p->result = type_of(result, k);
	else if (result->passed == DWARF_PASSED_NOWHERE)
		p->no_result = "this function returns nothing";
	else if (result->passed == DWARF_PASSED_REGISTERS && p->is_go)
		p->has_result = p->guessed_result = true;
	else if (result->passed == DWARF_PASSED_VECTOR)
		p->no_result = "the result is in a floating-point register";
	else
		p->no_result = "the result is not a number; use registers, as in %ax";
}

/*
 * 32-bit programs have other register numbers in their debug information. A 64-bit value takes two
 * arguments, or two registers if it is a result.
 */
static void limit_to_32_bits(struct place *p)
{
	bool is_signed;
	u32 size;

	forget(p, "arguments of 32-bit programs are known only by number: $arg1 is their first 4 bytes");
	if (c_type__is_pointer(&p->result) || !c_type__is_number(&p->result, &size, &is_signed) || size < 8)
		return;
	if (p->guessed_result) {
		p->result = c_type__integer(4, true);
		return;
	}
	p->has_result = false;
	p->no_result = "the result has 64 bits, which a 32-bit program returns in two registers";
}

/* Sets the places of the arguments and the result of a Go function. */
static void set_convention(struct place *p, const struct event_site *site, bool at_entry)
{
	switch (site->convention) {
	case CODE_C:
		return;
	case CODE_GO:
		p->is_go = at_entry || p->is_return;
		return;
	case CODE_GO_STACK:
		p->no_arguments = "this Go function takes its arguments on the stack";
		p->no_result = "this Go function leaves its results on the stack";
		break;
	case CODE_GO_ASSEMBLY:
		p->no_arguments = "its location depends on the source of this function, which is Go assembly";
		p->no_result = p->no_arguments;
		break;
	case CODE_GO_UNKNOWN:
		p->no_arguments = "its location depends on the Go version and is known for 1.18 and later";
		p->no_result = p->no_arguments;
		break;
	}
	p->has_result = false;
}

/*
 * Sets the number of arguments, unless the compiler changed it: in a copy, which has a '.' in its name, and in a
 * function with its own calling convention.
 */
static void set_declared(struct place *p, const struct event_site *site, const struct dwarf_variables *found)
{
	char *name = site->symbol ? NULL : function_of(site);

	p->declared = (struct place_declared){
		.is_known = found->declared.is_known && !p->is_32_bit && !strchr(site->symbol ?: name ?: ".", '.'),
		.arguments = found->declared.parameters, .registers = found->declared.registers,
		.stack = found->declared.stack,
	};
	free(name);
}

static int user_function(struct place *p, const struct event_site *site, struct knowledge *k)
{
	bool at_entry = !site->offset && !site->is_inlined;
	struct dwarf_variables found;
	struct dwarf *d = k->want_dwarf ? dwarf_of(k, site->path) : NULL;
	bool by_convention;
	int err = 0;
	size_t i;

	p->has_result = p->guessed_result = p->is_return;
	set_convention(p, site, at_entry);
	p->own_arguments = !at_entry;
	p->unread = k->want_dwarf ? k->unread : NULL;
	if (!d || variables_at(&found, d, site)) {
		if (p->is_32_bit)
			limit_to_32_bits(p);
		return 0;
	}
	by_convention = at_entry && site->convention == CODE_C && !is_passed_otherwise(&found);
	for (i = 0; i < found.n && !err; i++)
		if (!place__find(p, found.variable[i].name))
			err = add_variable(p, &found.variable[i], k, by_convention, site->address);
	if (by_convention)
		set_declared(p, site, &found);
	if (p->has_result && found.result.type)
		set_result(p, &found.result, k);
	dwarf_variables__free(&found);
	if (p->is_32_bit)
		limit_to_32_bits(p);
	if (site->is_return)
		forget(p, "variables are lost when the function returns; probe saves its arguments if all its events "
			  "are returns");
	return err;
}

static enum place_context context_of(enum attach_way way)
{
	switch (way) {
	case ATTACH_SYSCALL:
	case ATTACH_TRACEPOINT:
		return PLACE_RECORD;
	case ATTACH_RAW_TRACEPOINT:
	case ATTACH_FENTRY:
	case ATTACH_FEXIT:
		return PLACE_ARGUMENTS;
	default:
		return PLACE_REGISTERS;
	}
}

int site_place__make(struct place *p, struct tracepoint_format *format,
		     const struct event_site *site, enum attach_way way, struct knowledge *k)
{
	int err;

	*format = (struct tracepoint_format){};
	*p = (struct place){
		.context = context_of(way),
		.event = site->name,
		.is_return = site->is_return,
		.is_exit = site->is_exit,
		.is_tail_call = site->is_tail_call,
		.is_shared = site->is_shared,
		.return_bytes = site->return_bytes,
		.is_32_bit = site->is_32_bit,
		.has_goroutine = site->has_goroutine,
		.about_other = tracepoint_has_task(site->name),
		.is_inside = site->offset || site->is_inlined || site->event->type == EVENT_USDT,
		.result = c_type__integer(8, true),
		.address = site->address,
		.task_type = task_type,
		.types_arg = k,
	};
	/* User-space events use the types of their programs. */
	if (site->event->type != EVENT_USDT && site->event->type != EVENT_USER_FUNCTION) {
		p->types = kernel_types;
	} else {
		p->find_type = find_type;
		p->find_symbol = k->want_dwarf ? find_symbol : NULL;
		p->binary = site->path;
	}
	switch (p->context) {
	case PLACE_RECORD:
		if (k->tracefs < 0)
			k->tracefs = tracefs__open();
		err = event_site__read_format(format, site, k->tracefs);
		p->format = format;
		p->has_arguments = site->is_raw;
		return err;
	default:
		if (way == ATTACH_RAW_TRACEPOINT)
			return tracepoint_arguments(p, site, k);
		if (site->event->type == EVENT_USDT) {
			p->is_user = p->own_arguments = true;
			return place__add_usdt(p, site->arguments);
		}
		if (site->event->type == EVENT_USER_FUNCTION) {
			p->is_user = true;
			return user_function(p, site, k);
		}
		return kernel_function(p, site, k);
	}
}

void site_place__free(struct place *p, struct tracepoint_format *format)
{
	place__free(p);
	tracepoint_format__free(format);
}
