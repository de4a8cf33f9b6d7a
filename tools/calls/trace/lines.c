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
#include "calls/trace/trace.h"

#define AS_STRACE "{time} {comm}[{pid}/{tid}] {call}({args}) = {result} <{duration}>"
#define AS_FAULT "{time} {comm}[{pid}/{tid}] {call}({args})"

#define COMM_SPACE (sizeof(((struct trace_record *)NULL)->comm) + 1)

/* In this order in JSON and CSV. */
enum line_field {
	LINE_CALL,
	LINE_ARGS,
	LINE_RESULT, /* for people; ret and error say the same */
	LINE_RET,
	LINE_ERROR,
	LINE_DURATION,
	LINE_FIELDS,
};

static const char *const field_names[LINE_FIELDS] = {
	"call", "args", "result", "ret", "error", "duration",
};

/* Its head: whose it is. comm and fields stay the caller's. */
static struct stream_line line_of(const struct trace_record *r, char comm[COMM_SPACE],
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
		.n = LINE_FIELDS,
	};
}

/*
 * --- calls -------------------------------------------------------------------------------------
 */

/* What a call that runs since before the trace is: /proc knows. False: it runs in user space. */
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

static int make_text(char **text, size_t *n, const struct signature *s,
		     const struct trace_record *r, size_t size, bool result)
{
	FILE *f = open_memstream(text, n);

	if (!f)
		return -ENOMEM;
	if (result)
		syscall_result__put(f, s, r, size);
	else
		syscall_arguments__put(f, s, r, size);
	return fclose(f) ? -ENOMEM : 0;
}

static int write_call(struct trace *t, const struct trace_record *r, char *args, char *result)
{
	bool returned = r->state == TRACE_RETURNED, timed = returned && r->start_ns;
	int error = syscall_error(r);
	char comm[COMM_SPACE], call[CALL_NAME_SPACE];
	const struct stream_field fields[LINE_FIELDS] = {
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
	};
	struct stream_line line = line_of(r, comm, fields);

	trace__call_name(call, r->slot, r->number);
	return lines__write(&t->lines, &line);
}

static int show_call(struct trace *t, const struct trace_record *r, size_t size)
{
	const struct signature *s = trace__signature(t, r->slot % TRACE_SLOTS);
	char *args = NULL, *result = NULL;
	size_t n;
	int err;

	err = make_text(&args, &n, s, r, size, false);
	if (!err)
		err = make_text(&result, &n, s, r, size, true);
	if (!err)
		err = write_call(t, r, args, result);
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

static void put_escaped(FILE *f, const char *name)
{
	char *text = escape_string(name);

	fputs(text ?: "?", f);
	free(text);
}

/* "main+0x1b (prog)", "[heap]+0x1010"; nothing where nothing is known. */
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

static const char *access_name(u64 error)
{
	if (error & FAULT_INSTRUCTION)
		return "exec";
	return error & FAULT_WRITE ? "write" : "read";
}

/* What was touched, how, and where the program was. */
static int fault_text(char **text, size_t *n, struct trace *t, const struct trace_record *r)
{
	FILE *f = open_memstream(text, n);
	int err;

	if (!f)
		return -ENOMEM;
	/* Of a process that has gone there are the addresses. */
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
	struct stream_line line = line_of(r, comm, fields);
	size_t i;

	for (i = 0; i < LINE_FIELDS; i++)
		fields[i] = (struct stream_field){
			.field = {.name = field_names[i], .kind = FIELD_NONE}};
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
 * --- the course --------------------------------------------------------------------------------
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

	return lines__drain(&t->lines);
}

/* Without intervals the report is the last one, and whatever still runs is shown with it. */
static int drain_last(struct trace *t)
{
	int err;

	t->bpf->bss->closed = 1;
	err = lines__drain(&t->lines);
	if (err)
		return err;
	if (tasks__visit(t->bpf->progs.show_running))
		diag_detail("no task iterator: calls that still run are not shown");
	return lines__drain(&t->lines);
}

int trace_lines__report(struct measurement *m, struct report *r)
{
	struct trace *t = m->own;
	int err = m->cli->interval_ns ? 0 : drain_last(t);

	r->value = "system calls";
	r->source = TRACE_SOURCE;
	return err ?: lines__report(&t->lines, r);
}

int trace_lines__init(struct trace *t, struct cli *cli)
{
	struct complaint c;
	int err = 0;

	if (!cli->template_text && cli->format == FORMAT_TEXT) {
		cli->template_text = AS_STRACE;
		err = stream_template__parse(&t->fault_line, AS_FAULT, field_names, LINE_FIELDS,
					     &c);
	}
	if (!err && t->faults)
		err = symbols__new(&t->symbols);
	return err ?: lines__init(&t->lines, cli, field_names, LINE_FIELDS);
}

int trace_lines__begin(struct trace *t, struct measurement *m)
{
	m->watch = watch;
	return lines__begin(&t->lines, m, offsetof(struct trace_record, data), show, t);
}

void trace_lines__free(struct trace *t)
{
	lines__free(&t->lines);
	stream_template__free(&t->fault_line);
	symbols__free(t->symbols);
}
