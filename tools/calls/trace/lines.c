// SPDX-License-Identifier: BSD-2-Clause
/* Records of calls and page faults as lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "host/errno_name.h"
#include "report/diag.h"
#include "report/escape.h"
#include "calls/syscall/decode.h"
#include "calls/syscall/result.h"
#include "calls/trace/trace.h"

#define AS_CALL "{comm}[{pid}/{tid}] {call}({args}) = {result} <{duration}>"
#define AS_FAULT "{comm}[{pid}/{tid}] {call}({args})"

#define COMM_SPACE (sizeof(((struct trace_record *)NULL)->comm) + 1)

/* The order of fields in JSON and CSV. */
enum line_field {
	LINE_CALL,
	LINE_ARGS,
	LINE_RESULT, /* in text; in other formats ret and error contain the same */
	LINE_RET,
	LINE_ERROR,
	LINE_DURATION,
	LINE_SINCE, /* with --since */
	LINE_IP,    /* with --ip */
	LINE_FIELDS,
};

static const char *const field_names[LINE_FIELDS] = {
	"call", "args", "result", "ret", "error", "duration", "since", "ip",
};

/* Fills in the head of a line: time, task, CPU. The line refers to comm and fields. */
static struct stream_line line_of(const struct trace *t, const struct trace_record *r, char comm[COMM_SPACE],
				  const struct stream_field fields[LINE_FIELDS])
{
	memcpy(comm, r->comm, sizeof(r->comm));
	comm[sizeof(r->comm)] = 0;
	return (struct stream_line){
		.time_ns = r->time_ns,
		.comm = comm,
		.pid = r->pid,
		.tid = r->tid,
		.cpu = r->cpu,
		.field = fields,
		.n = t->nfields,
		.has_stack = t->callers.wanted,
	};
}

/*
 * --- calls -------------------------------------------------------------------------------------
 */

/*
 * Reads a call that began before the trace from /proc. Returns false if the task runs in user
 * space.
 */
static bool ask_proc(struct trace_record *r)
{
	char path[64], line[256];
	u64 *v = r->value;
	long number;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", r->pid, r->tid);
	if (read_line(path, line, sizeof(line)))
		return false;
	if (sscanf(line, "%ld %llx %llx %llx %llx %llx %llx", &number, &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5]) != 7 ||
	    number < 0)
		return false;
	r->number = number;
	r->slot += number < SYSCALL_NUMBERS ? number : SYSCALL_NUMBERS - 1;
	r->used = 0;
	return true;
}

static void put_escaped(FILE *f, const char *name)
{
	char *text = escape_string(name);

	fputs(text ?: "?", f);
	free(text);
}

/* Puts "main+0x1b (prog)" or "[heap]+0x1010", or nothing if the place is unknown. */
static void put_place(FILE *f, const struct symbol *at)
{
	if (at->name) {
		put_escaped(f, at->name);
		fprintf(f, "+%#llx (", at->offset);
		put_escaped(f, at->module ?: "?");
		fputc(')', f);
	} else if (at->module) {
		put_escaped(f, at->module);
		fprintf(f, "+%#llx", at->module_offset);
	}
}

static int put_address(FILE *f, struct trace *t, u32 pid, u64 address)
{
	bool kernel = (s64)address < 0;
	struct symbol at = {};
	int err = kernel ? symbols__kernel(t->symbols, address, &at) :
			   symbols__user(t->symbols, pid, address, &at);

	fprintf(f, at.module ? "%#llx " : "%#llx", address);
	put_place(f, &at);
	return err;
}

/* Names the code that makes the call. Reads its mappings now; if the process has exited, only its address is known. */
static int ip_text(char **text, size_t *n, struct trace *t, const struct trace_record *r)
{
	FILE *f = open_memstream(text, n);
	int err;

	if (!f)
		return -ENOMEM;
	symbols__see(t->symbols, r->pid);
	err = put_address(f, t, r->pid, r->ip);
	return fclose(f) ? -ENOMEM : err;
}

static int make_text(char **text, size_t *n, const struct trace *t, const struct signature *s,
		     const struct trace_record *r, size_t size, bool result)
{
	FILE *f = open_memstream(text, n);

	if (!f)
		return -ENOMEM;
	if (result)
		syscall_result__put(f, s, r, size);
	else
		syscall_arguments__put(f, s, r, size);
	if (fclose(f))
		return -ENOMEM;
	*text = constants__choose(*text, t->constants);
	return *text ? 0 : -ENOMEM;
}

/*
 * The time from the latest start of a call on a previous line to the start of this call. Lines are ordered by the end
 * of calls. A call that started before that time has no such value, nor does the first call.
 */
static struct field since_field(struct trace *t, const struct trace_record *r)
{
	bool known = t->last_start_ns && r->start_ns >= t->last_start_ns;
	struct field since = {
		.name = field_names[LINE_SINCE],
		.number = r->start_ns - t->last_start_ns,
		.kind = known ? FIELD_TIME : FIELD_NONE,
	};

	if (r->start_ns > t->last_start_ns)
		t->last_start_ns = r->start_ns;
	return since;
}

static int write_call(struct trace *t, const struct trace_record *r, const struct call_stack *stack, char *args,
		      char *result, char *ip)
{
	bool returned = r->state == TRACE_RETURNED || r->state == TRACE_ANSWERED, timed = returned && r->start_ns;
	int error = syscall_error(r);
	char comm[COMM_SPACE], call[CALL_NAME_SPACE];
	struct stream_field fields[LINE_FIELDS] = {
		{.field = {.name = field_names[LINE_CALL], .text = call, .word = true}},
		{.field = {.name = field_names[LINE_ARGS], .text = args}, .escaped = true},
		{.field = {.name = field_names[LINE_RESULT], .text = result}, .escaped = true},
		{.field = {.name = field_names[LINE_RET],
			   .number = r->value[TRACE_RESULT],
			   .kind = returned ? FIELD_SIGNED : FIELD_NONE}},
		{.field = {.name = field_names[LINE_ERROR],
			   .text = (char *)errno_name(error),
			   .word = true,
			   .kind = error ? FIELD_NUMBER : FIELD_NONE}},
		{.field = {.name = field_names[LINE_DURATION],
			   .number = r->time_ns - r->start_ns,
			   .kind = timed ? FIELD_TIME : FIELD_NONE},
		 .seconds = true},
		{.field = since_field(t, r), .seconds = true},
		{.field = {.name = field_names[LINE_IP], .text = ip}, .escaped = true},
	};
	struct stream_line line = line_of(t, r, comm, fields);

	line.most_frames = t->callers.most_frames;
	line.stack = stack;
	if (!t->since)
		fields[LINE_SINCE] = fields[LINE_IP];
	call_name(call, r->slot, r->number);
	return lines__write(&t->lines, &line);
}

static int show_call(struct trace *t, const struct trace_record *r, size_t size)
{
	const struct signature *s = call_signature(&t->signatures, r->slot % TRACE_SLOTS);
	char *args = NULL, *result = NULL, *ip = NULL;
	const struct call_stack *stack;
	size_t n;
	int err;

	if (t->paths.n && !trace_paths__touches(&t->paths, s, r, size))
		return 0;
	/* A call that has not returned has no stack. */
	err = callers__find(&t->callers, &r->stack, t->lines.writer->is_last, &stack);
	if (err)
		return err;
	err = make_text(&args, &n, t, s, r, size, false);
	if (!err)
		err = make_text(&result, &n, t, s, r, size, true);
	if (!err && t->ip)
		err = ip_text(&ip, &n, t, r);
	if (!err)
		err = write_call(t, r, stack, args, result, ip);
	free(ip);
	free(args);
	free(result);
	return err;
}

static int show_running(struct trace *t, const struct trace_record *known)
{
	size_t size = offsetof(struct trace_record, data);
	struct trace_record r;

	memcpy(&r, known, size);
	if (!ask_proc(&r) || !syscall_set__has(&t->set, r.slot / SYSCALL_NUMBERS,
					       r.slot % SYSCALL_NUMBERS))
		return 0;
	return show_call(t, &r, size);
}

/*
 * --- page faults -------------------------------------------------------------------------------
 */

static const char *access_name(u64 error)
{
	if (error & FAULT_INSTRUCTION)
		return "exec";
	return error & FAULT_WRITE ? "write" : "read";
}

/* The address, the access, and the code that caused the fault. */
static int fault_text(char **text, size_t *n, struct trace *t, const struct trace_record *r)
{
	FILE *f = open_memstream(text, n);
	int err;

	if (!f)
		return -ENOMEM;
	/* If the process has exited, only addresses are shown. */
	symbols__see(t->symbols, r->pid);
	err = put_address(f, t, r->pid, r->value[FAULT_ADDRESS]);
	fprintf(f, ", %s%s, ", access_name(r->value[FAULT_ERROR]),
		r->value[FAULT_ERROR] & FAULT_PRESENT ? " protected" : "");
	if (!err)
		err = put_address(f, t, r->pid, r->value[FAULT_IP]);
	return fclose(f) ? -ENOMEM : err;
}

static int write_fault(struct trace *t, const struct trace_record *r, char *args)
{
	char *call = r->value[FAULT_IN_KERNEL] ? "page_fault_kernel" : "page_fault_user";
	struct stream_field fields[LINE_FIELDS];
	char comm[COMM_SPACE];
	struct stream_line line = line_of(t, r, comm, fields);
	size_t i;

	for (i = 0; i < t->nfields; i++)
		fields[i] = (struct stream_field){
			.field = {.name = t->field[i], .kind = FIELD_NONE}};
	fields[LINE_CALL].field = (struct field){
		.name = field_names[LINE_CALL], .text = call, .word = true};
	fields[LINE_ARGS].field = (struct field){.name = field_names[LINE_ARGS], .text = args};
	fields[LINE_ARGS].escaped = true;
	return lines__write_as(&t->lines, t->fault_line.n ? &t->fault_line : &t->lines.template,
			       &line);
}

static int show_fault(struct trace *t, const struct trace_record *r)
{
	char *args = NULL;
	size_t n;
	int err = fault_text(&args, &n, t, r);

	if (!err)
		err = write_fault(t, r, args);
	free(args);
	return err;
}

/*
 * --- the records -------------------------------------------------------------------------------
 */

static int show(void *context, const void *data, size_t size)
{
	const struct trace_record *r = data;
	struct trace *t = context;

	switch (r->state) {
	case TRACE_FAULT:
		return show_fault(t, r);
	case TRACE_SINCE_BEFORE:
		return show_running(t, r);
	default:
		return show_call(t, r, size);
	}
}

static int watch(struct measurement *m)
{
	struct trace *t = m->own;
	int err = t->callers.wanted ? stacks__watch(&t->callers.stacks) : 0;

	return err ?: lines__drain(&t->lines);
}

/* Without intervals this report is the last one, and includes calls in progress. */
static int drain_last(struct trace *t)
{
	int err;

	t->bpf->bss->closed = 1;
	err = lines__drain(&t->lines);
	if (err)
		return err;
	if (tasks__visit(t->bpf->progs.show_running))
		diag_detail("no task iterator: unfinished calls are not shown");
	return lines__drain(&t->lines);
}

int trace_lines__report(struct measurement *m, struct report *r)
{
	struct trace *t = m->own;
	int err = m->cli->interval_ns ? 0 : drain_last(t);

	r->value = "system calls";
	r->source = TRACE_SOURCE;
	lines__none_so_long(&t->lines, r, "call", t->min_ns);
	return err ?: lines__report(&t->lines, r);
}

static void name_fields(struct trace *t)
{
	_Static_assert(ARRAY_SIZE(t->field) >= LINE_FIELDS, "a name for each field");
	size_t i;

	for (i = 0; i < LINE_FIELDS; i++)
		if ((i != LINE_SINCE || t->since) && (i != LINE_IP || t->ip))
			t->field[t->nfields++] = field_names[i];
}

/* The format of strace. */
static void write_templates(struct trace *t)
{
	const char *time = t->epoch ? "{epoch} " : "{time} ";

	snprintf(t->line, sizeof(t->line), "%s%s%s" AS_CALL, t->since && !t->epoch ? "" : time,
		 t->since ? "{since} " : "", t->ip ? "[{ip}] " : "");
	snprintf(t->fault, sizeof(t->fault), "%s" AS_FAULT, time);
}

int trace_lines__init(struct trace *t, struct cli *cli)
{
	struct complaint c;
	int err = 0;

	name_fields(t);

	if (!cli->template_text && cli->format == FORMAT_TEXT) {
		write_templates(t);
		cli->template_text = t->line;
		err = stream_template__parse(&t->fault_line, t->fault, t->field, t->nfields, &c);
	}
	if (!err && (t->faults || t->ip))
		err = symbols__new(&t->symbols);
	err = err ?: lines__init(&t->lines, cli, t->field, t->nfields);
	t->lines.has_stack = t->callers.wanted;
	return err;
}

int trace_lines__begin(struct trace *t, struct measurement *m)
{
	int err = lines__begin(&t->lines, m, offsetof(struct trace_record, data), show, t);

	if (!err && t->callers.wanted)
		err = callers__begin(&t->callers, m, ring__fd(t->lines.ring));
	m->watch = watch;
	return err;
}

void trace_lines__free(struct trace *t)
{
	lines__free(&t->lines);
	callers__free(&t->callers);
	stream_template__free(&t->fault_line);
	symbols__free(t->symbols);
}
