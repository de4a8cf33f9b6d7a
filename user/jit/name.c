// SPDX-License-Identifier: BSD-2-Clause
#include "jit/compiler.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/numbers.h"
#include "bpf/lib/probe.h"
#include "expr/fields.h"
#include "base/arch.h"
#include "jit/registers.h"
#include "types/dwarf.h"

const struct expr *compiler__follow(const struct compiler *f, const struct expr *e)
{
	return place__stands_for_other(f->place, e) ?: e;
}

/*
 * --- loading -----------------------------------------------------------------------------------
 */

/*
 * Turns a typed pointer into a number for the verifier: a conversion to the machine's own byte
 * order changes nothing, but ends the tracking. Numbers can be compared, stored, and passed to
 * helpers that report a failed read.
 */
static void forget_pointer(struct compiler *f)
{
	code__emit(f->code, (struct bpf_insn){ .code = BPF_ALU | BPF_END | BPF_TO_LE, .imm = 64 });
}

static void load_argument_slot(struct compiler *f, u32 n)
{
	code__load(f->code, BPF_DW, BPF_REG_0, REG_CONTEXT, 8 * n);
	forget_pointer(f);
}

static void load_register(struct compiler *f, const struct machine_register *r)
{
	code__load(f->code, BPF_DW, BPF_REG_0, REG_CONTEXT, r->offset);
	if (r->shift)
		code__op_number(f->code, BPF_RSH, BPF_REG_0, r->shift);
}

/* Converts r0, whose upper bits are undefined, to a number of this type. */
static int typed(struct compiler *f, const struct expr *e, const struct c_type *type,
		 struct operand *o)
{
	bool is_signed;
	u32 size;

	if (!c_type__is_number(type, &size, &is_signed)) {
		compiler__refuse(f, e, "this is not a number");
		return complain_hint(f->c, -EINVAL,
				     "members of a structure are named as in a.b or a->b");
	}
	compiler__convert(f, size, is_signed);
	*o = operand_of(is_signed ? SIGNED : size < 8 ? SMALL : UNSIGNED, type);
	return 0;
}

static int load_argument(struct compiler *f, u32 n)
{
	struct machine_register r;
	s64 on_stack;

	if (f->place->context == PLACE_ARGUMENTS) {
		load_argument_slot(f, n);
		return 0;
	}
	if (f->place->is_go ? machine_go_argument(&r, n) :
			      !f->place->is_32_bit && machine_argument(&r, n, &on_stack)) {
		load_register(f, &r);
		return 0;
	}
	if (f->place->is_go)
		return -EINVAL;
	r = machine_stack_pointer();
	load_register(f, &r);
	if (f->place->is_32_bit)
		compiler__read(f, 4 * (n + 1), 4, false);
	else
		compiler__read(f, on_stack, 8, false);
	return 0;
}

static void load_saved(struct compiler *f, const struct place_variable *v)
{
	code__load(f->code, BPF_DW, BPF_REG_0, REG_FRAME, offsetof(struct probe_frame, key) + v->offset);
}

bool compiler__variable_address(struct compiler *f, const struct place_variable *v)
{
	struct machine_register r, index;

	if (v->where == AT_STATIC) {
		/* The load address varies, but distances within the program are constant. */
		r = machine_instruction_pointer();
		load_register(f, &r);
		return true;
	}
	if (v->where == AT_POINTED)
		return !load_argument(f, v->number);
	if ((v->where != AT_MEMORY && v->where != AT_INDEXED) ||
	    !machine_register__by_dwarf(&r, v->number))
		return false;
	load_register(f, &r);
	if (v->where == AT_INDEXED && machine_register__by_dwarf(&index, v->index)) {
		code__load(f->code, BPF_DW, BPF_REG_1, REG_CONTEXT, index.offset);
		code__op_number(f->code, BPF_MUL, BPF_REG_1, v->scale);
		code__op(f->code, BPF_ADD, BPF_REG_0, BPF_REG_1);
	}
	return true;
}

int compiler__load_variable(struct compiler *f, const struct expr *e,
			    const struct place_variable *v, struct operand *o)
{
	struct machine_register r;
	int err = 0;

	switch (v->where) {
	case AT_ARGUMENT:
		err = load_argument(f, v->number);
		break;
	case AT_REGISTER:
	case AT_SUM:
		if (!machine_register__by_dwarf(&r, v->number))
			return compiler__refuse(f, e,
						"this is in a register that BPF programs cannot read");
		load_register(f, &r);
		if (v->where == AT_SUM)
			code__op_number(f->code, BPF_ADD, BPF_REG_0, v->offset);
		break;
	case AT_CONSTANT:
		code__set(f->code, BPF_REG_0, v->offset);
		break;
	case AT_FRAME:
		load_saved(f, v);
		break;
	default:
		return complain(f->c, -EINVAL, e->at, e->len, "%s is not known here: %s", e->text,
				v->why ?: "it has no location at this point");
	}
	return err ?: typed(f, e, &v->type, o);
}

static bool is_call_argument(const struct place *p, const struct tracepoint_field *field)
{
	return field->size == 8 && !field_is_pointer(field) && p->event &&
	       !strncmp(p->event, "syscalls:sys_enter_", strlen("syscalls:sys_enter_"));
}

static int load_field(struct compiler *f, const struct expr *e,
		      const struct tracepoint_field *field, struct operand *o)
{
	int size = size_code(field->size);
	struct c_type type;

	if (field->elements || field->is_dynamic || field->is_relative || size < 0)
		return compiler__refuse(
			f, e, "this field is not a number; compare a string with a string in quotes");
	/* The kernel replaces the first fields in the copy that programs see (tp_prog_is_valid_access()). */
	if (field->offset < 8) {
		compiler__refuse(f, e, "fields common to all events cannot be read here");
		return complain_hint(f->c, -EOPNOTSUPP, "use pid, tid, uid and cpu instead");
	}
	/* The kernel allows only aligned reads of the context. */
	if (field->offset % field->size)
		return compiler__refuse(
			f, e, "this field is not aligned in its record and cannot be read");
	code__load(f->code, size, BPF_REG_0, REG_CONTEXT, field->offset);
	if (field->is_signed && field->size < 8)
		compiler__convert(f, field->size, true);
	*o = operand_integer(field->size, field->is_signed);
	/*
	 * Records of system calls have 8 bytes per argument, declared as unsigned regardless of the
	 * argument's type (syscall_enter_define_fields()).
	 */
	if (is_call_argument(f->place, field) && !place__parse_type(f->place, &type, field->type))
		return typed(f, e, &type, o);
	if (field_is_pointer(field) && !place__parse_type(f->place, &type, field->type))
		o->type = type;
	return 0;
}

/*
 * --- values known at every event ---------------------------------------------------------------
 */

static bool load_builtin(struct compiler *f, const char *name, struct operand *o)
{
	static const struct {
		const char *name;
		int helper;
		u32 size;
		bool upper;             /* the value is in the upper half */
	} known[] = {
		{ "pid", BPF_FUNC_get_current_pid_tgid, 4, true },
		{ "tid", BPF_FUNC_get_current_pid_tgid, 4, false },
		{ "uid", BPF_FUNC_get_current_uid_gid, 4, false },
		{ "cpu", BPF_FUNC_get_smp_processor_id, 4, false },
		{ "nsecs", BPF_FUNC_ktime_get_ns, 8, false },
	};
	struct c_type type;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(name, known[i].name))
			continue;
		code__call(f->code, known[i].helper);
		if (known[i].upper)
			code__op_number(f->code, BPF_RSH, BPF_REG_0, 32);
		else
			compiler__convert(f, known[i].size, false);
		type = c_type__integer(known[i].size, false);
		*o = operand_of(SMALL, &type);
		return true;
	}
	return false;
}

/* Reads a member of the structure that r0 points to. Sets *t to the type that r0 points to afterwards. */
static bool read_member(struct compiler *f, struct c_type *t, const char *name)
{
	struct c_member m;
	bool is_signed;
	u32 size;

	if (!c_type__member(t, name, &m) || m.bits || m.bit_offset / 8 > INT32_MAX)
		return false;
	if (!c_type__is_number(&m.type, &size, &is_signed)) {
		code__op_number(f->code, BPF_ADD, BPF_REG_0, m.bit_offset / 8);
		*t = m.type;
		return true;
	}
	compiler__read(f, m.bit_offset / 8, size, true);
	return !c_type__is_pointer(&m.type) || c_type__pointee(&m.type, t);
}

/* Must match task_pidns() in bpf/lib/scope.bpf.h. The result is 0 once an exiting task has left its namespace. */
static int pid_namespace(struct compiler *f, const struct expr *e, struct operand *o)
{
	const struct c_type *task = f->place->task_type ? f->place->task_type(f->place->types_arg) : NULL;
	int at = compiler__slot(f, e), gone = code__label(f->code);
	struct c_type pid, level, upid;
	u32 n;

	if (!at)
		return -EINVAL;
	if (!task)
		return compiler__refuse(f, e, "struct task_struct is unknown: this kernel has no BTF");
	pid = *task;
	code__call(f->code, BPF_FUNC_get_current_task);
	if (!read_member(f, &pid, "thread_pid"))
		return compiler__refuse(f, e, "this kernel's BTF does not describe a task's pid namespace");
	code__jump_if_number(f->code, BPF_JEQ, BPF_REG_0, 0, gone);
	code__store(f->code, BPF_DW, BPF_REG_10, BPF_REG_0, at);
	level = upid = pid;
	if (!read_member(f, &level, "level"))
		return compiler__refuse(f, e, "this kernel's BTF does not describe a task's pid namespace");
	code__move(f->code, BPF_REG_1, BPF_REG_0);
	code__load(f->code, BPF_DW, BPF_REG_0, BPF_REG_10, at);
	code__store(f->code, BPF_DW, BPF_REG_10, BPF_REG_1, at);
	if (!read_member(f, &upid, "numbers") || !c_type__element(&upid, &upid, &n))
		return compiler__refuse(f, e, "this kernel's BTF does not describe a task's pid namespace");
	code__load(f->code, BPF_DW, BPF_REG_1, BPF_REG_10, at);
	code__op_number(f->code, BPF_MUL, BPF_REG_1, c_type__size(&upid));
	code__op(f->code, BPF_ADD, BPF_REG_0, BPF_REG_1);
	if (!read_member(f, &upid, "ns") || !read_member(f, &upid, "ns") || !read_member(f, &upid, "inum"))
		return compiler__refuse(f, e, "this kernel's BTF does not describe a task's pid namespace");
	code__place(f->code, gone);
	f->slots--;
	*o = operand_integer(4, false);
	return 0;
}

static int unknown_cgroup(struct compiler *f, const struct expr *e)
{
	return compiler__refuse(f, e, "this kernel's BTF does not describe a task's cgroups");
}

/* Must match scope_cgroup_id() in bpf/lib/scope.bpf.h: the id in cgroup v2, or in a controller of v1. */
int compiler__cgroup(struct compiler *f, const struct expr *e)
{
	static const char *const controllers[SCOPE_CGROUP_HIERARCHIES] = {
		[SCOPE_CGROUP_CPUSET] = "cpuset_cgrp_id", [SCOPE_CGROUP_CPU] = "cpu_cgrp_id",
		[SCOPE_CGROUP_CPUACCT] = "cpuacct_cgrp_id", [SCOPE_CGROUP_BLKIO] = "io_cgrp_id",
		[SCOPE_CGROUP_MEMORY] = "memory_cgrp_id", [SCOPE_CGROUP_DEVICES] = "devices_cgrp_id",
		[SCOPE_CGROUP_FREEZER] = "freezer_cgrp_id", [SCOPE_CGROUP_NET_CLS] = "net_cls_cgrp_id",
		[SCOPE_CGROUP_PERF_EVENT] = "perf_event_cgrp_id", [SCOPE_CGROUP_NET_PRIO] = "net_prio_cgrp_id",
		[SCOPE_CGROUP_HUGETLB] = "hugetlb_cgrp_id", [SCOPE_CGROUP_PIDS] = "pids_cgrp_id",
		[SCOPE_CGROUP_RDMA] = "rdma_cgrp_id", [SCOPE_CGROUP_MISC] = "misc_cgrp_id",
	};
	const struct c_type *task = f->place->task_type ? f->place->task_type(f->place->types_arg) : NULL;
	const char *controller = controllers[f->place->hierarchy];
	struct c_type t, css;
	u64 index;
	u32 n;

	if (!controller) {
		code__call(f->code, BPF_FUNC_get_current_cgroup_id);
		return 0;
	}
	if (!task || !btf_enumerator(task->btf, controller, &index))
		return unknown_cgroup(f, e);
	t = *task;
	code__call(f->code, BPF_FUNC_get_current_task);
	if (!read_member(f, &t, "cgroups") || !read_member(f, &t, "subsys") || !c_type__element(&t, &t, &n) ||
	    index >= n || !c_type__pointee(&t, &css))
		return unknown_cgroup(f, e);
	compiler__read(f, 8 * index, 8, true);
	if (!read_member(f, &css, "cgroup") || !read_member(f, &css, "kn") || !read_member(f, &css, "id"))
		return unknown_cgroup(f, e);
	return 0;
}

/* Refuses names that describe the current task if the event is about another task. */
static int check_subject(struct compiler *f, const struct expr *e)
{
	if (!f->place->about_other || !strcmp(e->text, "cpu") || !strcmp(e->text, "nsecs"))
		return 0;
	complain(f->c, -EINVAL, e->at, e->len,
		 "%s describes a task other than the current one and does not give its %s",
		 f->place->event, e->text);
	return complain_hint(f->c, -EINVAL, "`list -v %s` shows its fields", f->place->event);
}

static int cgroup(struct compiler *f, const struct expr *e, struct operand *o)
{
	struct c_type type = c_type__integer(8, false);
	int err = check_subject(f, e) ?: compiler__cgroup(f, e);

	*o = operand_of(SMALL, &type);
	return err;
}

int compiler__cgroup_name(struct compiler *f, const struct expr *e, enum layout_kind *kind)
{
	const struct place *p = f->place;

	e = compiler__follow(f, e);
	if (e->op != EXPR_NAME || (strcmp(e->text, "container") && strcmp(e->text, "unit")) ||
	    place__find(p, e->text) || (p->format && field__find(p->format, e->text)))
		return -ENOENT;
	*kind = *e->text == 'c' ? LAYOUT_CONTAINER : LAYOUT_UNIT;
	return check_subject(f, e);
}

static int unknown_name(struct compiler *f, const struct expr *e)
{
	static const char *const builtins[] = {
		"comm", "pid", "tid", "uid", "cpu", "cgroup", "container", "unit", "pidns", "nsecs",
	};
	const struct place *p = f->place;
	const char **names, *near;
	char list[400];
	size_t i, n = 0;

	if (p->format)
		return field__complain(p->format, p->event, e, f->c);
	place__names(p, list, sizeof(list));
	names = calloc(p->nvariables + ARRAY_SIZE(builtins), sizeof(*names));
	for (i = 0; names && i < p->nvariables; i++)
		names[n++] = p->variable[i].name;
	for (i = 0; names && i < ARRAY_SIZE(builtins); i++)
		names[n++] = builtins[i];
	near = names ? nearest(e->text, names, n) : NULL;
	if (p->unread && !p->nvariables) {
		free(names);
		complain(f->c, 0, e->at, e->len, "'%s' is not known here: %s %s", e->text, p->binary, p->unread->why);
		return complain_hint(f->c, -EINVAL, "%s; or use $arg1, $arg2, ...",
				     p->unread->hint);
	}
	if (p->is_return)
		complain(f->c, 0, e->at, e->len, "'%s' is not known after %s has returned", e->text,
			 p->event);
	else
		complain(f->c, 0, e->at, e->len, "%s has no '%s'", p->event, e->text);
	if (near)
		complain_hint(f->c, 0, "did you mean %s?%s%s", near, *list ? " It has " : "", list);
	else if (p->is_return)
		complain_hint(f->c, 0,
			      "use $retval; probe saves arguments if all its events are returns");
	else if (*list)
		complain_hint(f->c, 0, "it has %s", list);
	else
		complain_hint(f->c, 0,
			      "argument names are not known here; use $arg1, $arg2, ...");
	free(names);
	return -EINVAL;
}

/*
 * --- $ and % -----------------------------------------------------------------------------------
 */

static int result(struct compiler *f, const struct expr *e, struct operand *o)
{
	const struct place *p = f->place;
	struct machine_register r = machine_result();
	int err;

	if (!p->has_result && p->no_result)
		return compiler__refuse(f, e, p->no_result);
	if (!p->has_result) {
		compiler__refuse(f, e, "only the return of a function has a result");
		return complain_hint(f->c, -EINVAL, "use FUNCTION%%return or --latency");
	}
	if (p->is_tail_call) {
		/* The verifier needs a path to the code that follows. */
		f->no_result = true;
		code__set(f->code, BPF_REG_0, 0);
		code__jump_if_number(f->code, BPF_JEQ, BPF_REG_0, 0, f->fault);
	}
	if (p->context == PLACE_ARGUMENTS)
		load_argument_slot(f, p->nslots);
	else
		load_register(f, &r);
	err = typed(f, e, &p->result, o);
	o->is_bits = !err && p->guessed_result;
	return err;
}

/* Returns the parameter declared at this slot or, at a return, its saved value; NULL if unknown. */
static const struct place_variable *argument_variable(const struct place *p, u32 slot)
{
	char name[16];
	size_t i;

	snprintf(name, sizeof(name), "$arg%u", slot + 1);
	if (p->is_return)
		return place__find(p, name);
	for (i = 0; i < p->nvariables; i++)
		if (p->variable[i].where == AT_ARGUMENT && p->variable[i].number == slot)
			return &p->variable[i];
	return NULL;
}

/* Parses the number after a word, as in arg3. */
static bool numbered(const char *text, const char *word, u64 from, u64 to, u64 *n)
{
	size_t len = strlen(word);

	return !strncmp(text, word, len) && !parse_u64_between(text + len, from, to, n);
}

bool compiler__argument_pointee(const struct compiler *f, const struct expr *e, struct c_type *to)
{
	const struct place_variable *v = NULL;
	u64 n;

	e = compiler__follow(f, e);
	if ((e->op == EXPR_SPECIAL || e->op == EXPR_NAME) && !place__find(f->place, e->text) &&
	    numbered(e->text, "arg", 1, 100, &n))
		v = argument_variable(f->place, n - 1);
	return v && c_type__pointee(&v->type, to);
}

static struct operand operand_bits(u32 size)
{
	struct operand o = operand_integer(size, false);

	o.is_bits = true;
	return o;
}

/* True if the function declares the contents of argument n. */
static bool is_declared(const struct place *p, u64 n)
{
	const struct place_declared *d = &p->declared;

	if (p->context == PLACE_ARGUMENTS)
		return n <= p->nslots;
	return !d->is_known || n <= d->registers ||
	       (n > ARCH_ARGUMENT_REGISTERS && n <= ARCH_ARGUMENT_REGISTERS + (u64)d->stack);
}

static int undeclared(struct compiler *f, const struct expr *e)
{
	const struct place_declared *d = &f->place->declared;
	u32 n = f->place->context == PLACE_ARGUMENTS ? f->place->nslots : d->arguments;
	u32 last = d->is_known ? d->stack ? ARCH_ARGUMENT_REGISTERS + d->stack : d->registers : n;
	char text[40] = "";

	if (last && last != n)
		snprintf(text, sizeof(text), "; $arg%u is the last", last);
	return complain(f->c, -EINVAL, e->at, e->len, n ? "%s has %u argument%s%s%s" : "%s has no arguments",
			f->place->event, n, n == 1 ? "" : "s", text, last ? "" : "; none has a number");
}

/* Checks that the argument exists, and that its function has not returned yet. */
static int check_argument(struct compiler *f, const struct expr *e, u64 n)
{
	const struct place *p = f->place;
	struct machine_register r;
	u32 words = 0;

	if (p->no_arguments) {
		compiler__refuse(f, e, p->no_arguments);
		return complain_hint(f->c, -EINVAL, "use $stack1, $stack2, ... for words of the stack, and registers "
						    "as in %%sp");
	}
	while (p->is_go && machine_go_argument(&r, words))
		words++;
	if (p->is_go && n > words) {
		complain(f->c, 0, e->at, e->len, "a Go function has only the first %u words of its arguments in "
						 "registers", words);
		return complain_hint(f->c, -EINVAL, "$stack1 is the first argument word on the stack");
	}
	return is_declared(p, n) ? 0 : undeclared(f, e);
}

static int argument(struct compiler *f, const struct expr *e, u64 n, struct operand *o)
{
	const struct place *p = f->place;
	const struct place_variable *v;
	bool is_signed;
	char list[400];
	u32 size;
	int err;

	if (p->context == PLACE_RECORD && p->has_arguments) {
		compiler__refuse(f, e, "arguments of a tracepoint cannot be combined with fields of its record");
		return complain_hint(f->c, -EINVAL, "`list -v %s` shows fields and arguments", p->event);
	}
	if (p->context == PLACE_RECORD)
		return compiler__refuse(f, e, "a tracepoint has named fields, not arguments");
	v = argument_variable(p, n - 1);
	if (p->is_return && !v) {
		compiler__refuse(f, e, "arguments are lost when the function returns");
		return complain_hint(f->c, -EINVAL, "probe saves them if all its events are returns");
	}
	if (p->own_arguments) {
		place__names(p, list, sizeof(list));
		complain(f->c, 0, e->at, e->len, "%s has no such argument", p->event);
		return complain_hint(f->c, -EINVAL, "%s%s",
				     *list ? "it has " : "arguments are known only at the entry of a function",
				     list);
	}
	err = p->is_return ? 0 : check_argument(f, e, n);
	if (err)
		return err;
	if (p->is_return)
		load_saved(f, v);
	else if ((err = load_argument(f, n - 1)))
		return err;
	/* Non-integers keep the raw value of the register. */
	if (v && !c_type__is_pointer(&v->type) && c_type__is_number(&v->type, &size, &is_signed))
		return typed(f, e, &v->type, o);
	*o = operand_bits(p->is_32_bit ? 4 : 8);
	return 0;
}

static int on_stack(struct compiler *f, const struct expr *e, u64 n, struct operand *o)
{
	struct machine_register sp = machine_stack_pointer();
	u32 size = f->place->is_32_bit ? 4 : 8;

	if (f->place->context != PLACE_REGISTERS)
		return compiler__refuse(f, e, "the stack is not available here");
	load_register(f, &sp);
	/* Use the caller's view: at an instruction that is about to return, the return address is still on top. */
	compiler__read(f, size * (n + (f->place->is_exit && ARCH_CALL_BYTES)), size, false);
	*o = operand_bits(size);
	return 0;
}

/*
 * Loads the current task's structure in the kernel, even in user code. Does not check the subject:
 * the name means the current task at every event.
 */
static int current_task(struct compiler *f, const struct expr *e, struct operand *o)
{
	const struct place *p = f->place;
	const struct c_type *type = p->task_type ? p->task_type(p->types_arg) : NULL;

	if (!type)
		return compiler__refuse(f, e, "struct task_struct is unknown: this kernel has no BTF");
	code__call(f->code, BPF_FUNC_get_current_task);
	*o = operand_address(*type);
	return 0;
}

bool expr_is_of_task(const struct compiler *f, const struct expr *e)
{
	e = compiler__follow(f, e);
	switch (e->op) {
	case EXPR_SPECIAL:
		return !strcmp(e->text, "task");
	case EXPR_MEMBER:
	case EXPR_ARROW:
	case EXPR_INDEX:
	case EXPR_DEREFERENCE:
	case EXPR_ADDRESS:
	case EXPR_MEMORY:
	case EXPR_CAST:
	case EXPR_TYPED:
		return expr_is_of_task(f, e->left);
	default:
		return false;
	}
}

/* At a function's entry, the return address is on top of the stack, or in the link register. */
static int caller(struct compiler *f, const struct expr *e, struct operand *o)
{
	struct machine_register link;

	if (f->place->context != PLACE_REGISTERS || f->place->is_return || f->place->is_inside)
		return compiler__refuse(f, e, "the caller is known only at the entry of a function");
	if (machine_link(&link)) {
		load_register(f, &link);
		*o = operand_bits(8);
		return 0;
	}
	return on_stack(f, e, 0, o);
}

int compiler__name(struct compiler *f, const struct expr *e, struct operand *o)
{
	const struct place *p = f->place;
	const struct tracepoint_field *field = p->format ? field__find(p->format, e->text) : NULL;
	const struct place_variable *v = place__find(p, e->text);
	u64 number;

	if (field && !field_is_text(field))
		return load_field(f, e, field, o);
	if (field || (!v && !strcmp(e->text, "comm")))
		return compiler__refuse(f, e, "compare a string with a string in quotes");
	if (v)
		return compiler__load_variable(f, e, v, o);
	if (load_builtin(f, e->text, o))
		return check_subject(f, e);
	if (!strcmp(e->text, "pidns"))
		return check_subject(f, e) ?: pid_namespace(f, e, o);
	if (!strcmp(e->text, "cgroup"))
		return cgroup(f, e, o);
	if (!strcmp(e->text, "container") || !strcmp(e->text, "unit")) {
		complain(f->c, 0, e->at, e->len, "%s is a key or a column, not a value", e->text);
		return complain_hint(f->c, -EINVAL, "as in --by %s; cgroup is a number", e->text);
	}
	if (p->context != PLACE_RECORD && !strcmp(e->text, "retval"))
		return result(f, e, o);
	if (p->context != PLACE_RECORD && numbered(e->text, "arg", 1, 100, &number))
		return argument(f, e, number, o);
	if (place__types(p) && btf_enumerator(place__types(p)->vmlinux, e->text, &number)) {
		code__set(f->code, BPF_REG_0, number);
		*o = operand_constant(number, number > INT64_MAX ? SIGNED : SMALL);
		return 0;
	}
	return unknown_name(f, e);
}

int compiler__special(struct compiler *f, const struct expr *e, struct operand *o)
{
	const struct place_variable *v =
		f->place->own_arguments ? place__find(f->place, e->text) : NULL;
	u64 n;

	if (!strcmp(e->text, "task"))
		return current_task(f, e, o);
	if (v)
		return compiler__load_variable(f, e, v, o);
	if (!strcmp(e->text, "retval"))
		return result(f, e, o);
	if (numbered(e->text, "arg", 1, 100, &n))
		return argument(f, e, n, o);
	if (numbered(e->text, "stack", 0, 4096, &n))
		return on_stack(f, e, n, o);
	if (!strcmp(e->text, "stack")) {
		struct machine_register sp = machine_stack_pointer();

		if (f->place->context != PLACE_REGISTERS)
			return compiler__refuse(f, e, "the stack is not available here");
		load_register(f, &sp);
		*o = operand_integer(8, false);
		return 0;
	}
	if (!strcmp(e->text, "caller"))
		return caller(f, e, o);
	if (!strcmp(e->text, "elapsed")) {
		if (!f->place->is_end) {
			compiler__refuse(f, e, "$elapsed is known only between two events");
			return complain_hint(f->c, -EINVAL,
					     "--latency measures from a function's entry to its "
					     "return, --from and --to between any two events");
		}
		code__load(f->code, BPF_DW, BPF_REG_0, REG_FRAME,
			   offsetof(struct probe_frame, elapsed));
		*o = operand_between(0, INT64_MAX);
		return 0;
	}
	/* $comm and $pid are the same as the names. */
	if (load_builtin(f, e->text, o))
		return check_subject(f, e);
	if (!strcmp(e->text, "pidns"))
		return check_subject(f, e) ?: pid_namespace(f, e, o);
	if (!strcmp(e->text, "cgroup"))
		return cgroup(f, e, o);
	complain(f->c, 0, e->at, e->len, "unknown variable $%s", e->text);
	return complain_hint(
		f->c, -EINVAL,
		"variables are $retval, $arg1, $arg2, ..., $task, $caller, $elapsed, $stack, $stack0, ...");
}

int compiler__register(struct compiler *f, const struct expr *e, struct operand *o)
{
	struct machine_register r;

	if (f->place->context == PLACE_RECORD)
		return compiler__refuse(f, e, "the record of a tracepoint has no registers");
	if (f->place->context == PLACE_ARGUMENTS)
		return compiler__refuse(f, e, "registers are not available here");
	if (!machine_register__find(&r, e->text)) {
		complain(f->c, 0, e->at, e->len, "unknown register %%%s", e->text);
		return complain_hint(f->c, -EINVAL, "there are %s", machine_registers());
	}
	load_register(f, &r);
	compiler__convert(f, r.size, false);
	*o = operand_bits(r.size);
	return 0;
}
