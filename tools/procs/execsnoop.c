// SPDX-License-Identifier: BSD-2-Clause
/* execsnoop: executed programs. The measurement is bpf/procs/execsnoop.bpf.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/errno_name.h"
#include "host/task_state.h"
#include "report/shell.h"
#include "stack/snoop_callers.h"
#include "tools.h"

#include "bpf/procs/execsnoop.h"
#include "execsnoop.skel.h"

SKELETON(execsnoop);

static const char *const field_names[] = { "ppid", "uid", "error", "dirfd", "path", "args" };

static const struct snoop_call calls[] = {
	{ "execve", EXEC_EXECVE }, { "execveat", EXEC_EXECVEAT },
};

struct execsnoop {
	struct snoop snoop;     /* first member: show() casts its context to this type */
	bool failed, with_failed;       /* show only programs that fail; show also programs that fail */
	struct callers callers;
	struct execsnoop_bpf *bpf;
};

/*
 * --- lines -------------------------------------------------------------------------------------
 */

static struct stream_field path_field(const struct exec_record *r, char path[EXEC_PATH_MOST])
{
	if (r->path_length)
		memcpy(path, r->text, r->path_length - 1);
	path[r->path_length ? r->path_length - 1 : 0] = 0;
	return (struct stream_field){
		.field = { .name = "path", .text = path }, .fault = !r->path_length,
	};
}

/* The words of a command, quoted for a shell, or a fault if none of them could be read. */
static struct stream_field args_field(const struct exec_record *r, char *line)
{
	shell_words(line, r->text + r->path_length, r->args_length);
	return (struct stream_field){
		.field = { .name = "args", .text = line, .word = true },
		.rest = true,
		.fault = r->args_fault && !r->args_length,
		.cut = r->args_cut || r->args_fault,
	};
}

static int show_line(struct execsnoop *e, const struct exec_record *r, char *args)
{
	char comm[sizeof(r->comm) + 1] = "", path[EXEC_PATH_MOST];
	bool has_dirfd = r->result && r->dirfd != AT_FDCWD;
	struct stream_field fields[ARRAY_SIZE(field_names)] = {
		snoop_id("ppid", r->ppid),
		snoop_spare(snoop_id("uid", r->uid)),
		snoop_word("error", r->result ? errno_name(-r->result) ?: "?" : NULL),
		has_dirfd ? snoop_number("dirfd", r->dirfd) : snoop_none("dirfd"),
		snoop_spare(path_field(r, path)),
		args_field(r, args),
	};
	struct stream_line line = {
		.time_ns = r->time_ns, .comm = comm, .pid = r->pid, .tid = r->tid, .cpu = r->cpu,
		.field = fields, .n = ARRAY_SIZE(fields),
	};

	memcpy(comm, r->comm, sizeof(r->comm));
	return snoop_callers__find(&e->snoop, &r->stack, &line) ?: lines__write(&e->snoop.lines, &line);
}

static int show(void *context, const void *record, size_t size)
{
	const struct exec_record *r = record;
	char *args;
	int err;

	if (r->path_length > EXEC_PATH_MOST ||
	    size < EXEC_RECORD_LEAST + r->path_length + r->args_length)
		return -EBADMSG;
	args = malloc(SHELL_SPACE(r->args_length, r->args_length));
	if (!args)
		return -ENOMEM;
	err = show_line(context, r, args);
	free(args);
	return err;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int open_skeleton(struct snoop *s)
{
	struct execsnoop *e = (struct execsnoop *)s;
	struct execsnoop_bpf *bpf = s->m->bpf;
	bool with_starts = e->callers.wanted && !e->failed;

	e->bpf = bpf;
	bpf_program__set_autoload(bpf->progs.on_enter, with_starts);
	bpf_program__set_autoload(bpf->progs.on_exec, !e->failed);
	bpf_program__set_autoload(bpf->progs.on_exit, e->failed || e->with_failed);
	s->state = with_starts ? "exec_starts" : NULL;
	return with_starts ? 0 : task_state__leave_out(s->m->obj, "exec_starts");
}

/* The option -U of bcc shows the user, which tally always does. */
static int check(void *own, struct cli *cli)
{
	struct execsnoop *e = own;

	e->callers.user &= e->callers.wanted;
	return snoop_callers__check(own, cli);
}

static void init(void *own)
{
	struct execsnoop *e = own;

	*e = (struct execsnoop){
		.snoop = {
			.value = "programs executed",
			.rare = true,
			.source = "tp_btf/sched_process_exec; failures: tp_btf/sys_exit",
			.field = field_names, .nfields = ARRAY_SIZE(field_names),
			.call = calls, .ncalls = ARRAY_SIZE(calls),
			.least = EXEC_RECORD_LEAST,
			.show = show,
			.open = open_skeleton,
			.callers = &e->callers,
		},
	};
}

static void release(void *own)
{
	struct execsnoop *e = own;

	lines__free(&e->snoop.lines);
	callers__free(&e->callers);
}

static const struct option_row rows[] = {
	{ "with-failed", 0, NULL, ROW_FLAG, "Also failures", 0, FIELD(struct execsnoop, with_failed) },
	{ "failed", 0, NULL, ROW_FLAG, "Only failures", 0, FIELD(struct execsnoop, failed) },
	INCLUDE(struct execsnoop, callers, caller_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "execsnoop",
	.cli = {
		.groups = SNOOP_GROUPS & ~CLI_TIMES,
		.doc = "Each program executed, with its arguments.",
		.rows = rows,
	},
	.own_size = sizeof(struct execsnoop), .skeleton = &execsnoop_skeleton,
	.check = check, .open = snoop_callers__open, .attach = snoop_callers__attach, .report = snoop__report,
	.init = init, .free = release,
};

TOOL_MEASURING(execsnoop, spec, AREA_PROCESSES,
	       "each program executed, with its arguments");
