// SPDX-License-Identifier: BSD-2-Clause
/* filetop: reads and writes by file. The measurement is bpf/files/filetop.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "files/calls.h"
#include "files/mounts.h"
#include "report/column.h"
#include "run/measurement.h"
#include "run/map_room.h"
#include "run/named_files.h"
#include "run/sum_table.h"
#include "tools.h"

#include "bpf/files/filetop.h"
#include "filetop.skel.h"

SKELETON(filetop);

struct filetop {
	struct file_options options;
	struct filetop_bpf *bpf;
	struct named_files files;
};

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* A map element, summed over the CPUs of its key. */
struct file_sums {
	struct filetop_key key;
	struct filetop_sums sums;
};

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct filetop *s = t->own;
	const struct file_sums *e = element;
	const struct filetop_key *k = &e->key;
	u32 by = t->cli->by;
	char text[32];
	int err = 0;

	if (by & BY_FILE)
		err = report_row__add_file(row, &k->id);
	if (!err && by & BY_FILE_FS) {
		snprintf(text, sizeof(text), "%.*s", FILE_FS_LEN, k->fs);
		err = report_row__add_text(row, "fs", text);
	}
	if (!err && by & BY_FILE_MOUNT)
		err = report_row__add_mount(row, s->bpf->maps.mounts, &k->mount);
	return err ?: task_key__add_fields(row, &k->task, e->sums.name, by, &t->names);
}

#define OF(member) SUM(struct filetop_sums, member)

static const struct column columns[] = {
	COUNTER("reads", OF(read.calls), FIELD_NUMBER),
	COUNTER("writes", OF(written.calls), FIELD_NUMBER),
	COUNTER("read_bytes", OF(read.bytes), FIELD_NUMBER),
	COUNTER("write_bytes", OF(written.bytes), FIELD_NUMBER),
	COUNTER("read_time", OF(read.ns), FIELD_TIME),
	COUNTER("write_time", OF(written.ns), FIELD_TIME),
	COUNTER("failed", OF(failed), FIELD_NUMBER),
	COUNTER("bytes", OF(read.bytes) | OF(written.bytes), FIELD_NUMBER, .machine = true),
	COUNTER("time", OF(read.ns) | OF(written.ns), FIELD_TIME, .machine = true),
	{},
};

static int add_path(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct filetop *s = t->own;
	const struct file_sums *e = element;

	return t->cli->by & BY_FILE ? report_row__add_path(row, &s->files, &e->key.id) : 0;
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct filetop_key), .value_size = sizeof(struct filetop_sums),
		.writer_at = offsetof(struct filetop_key, writer),
		.nsums = offsetof(struct filetop_sums, name_stamp) / sizeof(u64), .named = true,
	},
	.task_at = offsetof(struct filetop_key, task), .of_cpus = true,
	.events = OF(read.calls) | OF(written.calls) | OF(failed),
	.add_key = add_key, .add_more = add_path,
};

static int report(struct measurement *m, struct report *r)
{
	struct filetop *s = m->own;

	r->source = file_calls_source;
	r->caveat = file_calls_caveat;
	return sum_table__report(m, s->files.ring, r);
}

static int watch(struct measurement *m)
{
	struct filetop *s = m->own;

	return named_files__drain(&s->files);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int check(void *context, struct cli *cli)
{
	(void)context;
	cli->scope.command_joins_at_exec = true;
	if (!cli->by)
		cli->by = BY_FILE;
	return 0;
}

static int open_skeleton(struct measurement *m)
{
	struct filetop_bpf *bpf = m->bpf;
	struct filetop *s = m->own;
	int err;

	s->bpf = bpf;
	bpf->rodata->want_ids = m->cli->by & BY_FILE;
	bpf->rodata->want_fs = m->cli->by & BY_FILE_FS;
	bpf->rodata->want_mount = m->cli->by & BY_FILE_MOUNT;
	FILE_OPTIONS_SET(bpf->rodata, &s->options);
	err = sum_table__prepare(m);
	if (!err && m->cli->by & BY_FILE_MOUNT)
		err = map__set_room(bpf->maps.mounts, &m->run->host, MOUNT_NAMES);
	if (!err)
		err = named_files__prepare(m, bpf->obj);
	if (!err)
		err = file_calls__prepare(bpf->obj, &m->run->host, &s->options);
	return err;
}

static int attach(struct measurement *m)
{
	struct filetop *s = m->own;
	int err = named_files__open(&s->files, m);

	m->watch = watch;
	return err ?: measurement__attach(m);
}

static void init(void *own)
{
	struct filetop *s = own;

	*s = (struct filetop){
		.options = { .ops = 1 << FILE_READ | 1 << FILE_WRITE },
	};
}

static void release(void *own)
{
	struct filetop *s = own;

	named_files__free(&s->files);
}

static const struct option_row rows[] = {
	INCLUDE(struct filetop, options, file_rows),
	{},
};

static const char *const key_names[] = { "file", "fs", "mount" };
static const struct own_parts parts = {
	.name = key_names, .n = ARRAY_SIZE(key_names), .text = "file, fs, mount",
};

static const struct tool_spec spec = {
	.name = "filetop",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_ORDER,
		.doc = "Reads and writes by file: calls, bytes, time.",
		.rows = rows,
		.own_parts = &parts, .columns = columns, .order = "bytes",
	},
	.own_size = sizeof(struct filetop), .skeleton = &filetop_skeleton, .table = &table,
	.value = "reads and writes",
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
	.source = file_calls_source, .free = release,
};

TOOL_MEASURING(filetop, spec, AREA_FILES,
	       "reads and writes by file: calls, bytes, time");
