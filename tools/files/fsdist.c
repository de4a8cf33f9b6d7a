// SPDX-License-Identifier: BSD-2-Clause
/* fsdist: times of reads, writes, opens and fsyncs of files. See bpf/files/fsdist.bpf.c. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/task_key.h"
#include "files/calls.h"
#include "files/mounts.h"
#include "run/measurement.h"
#include "run/map_room.h"
#include "run/measure.h"
#include "tools.h"

#include "bpf/files/fsdist.h"
#include "fsdist.skel.h"

SKELETON(fsdist);

struct fsdist {
	struct file_options options;
	struct own_parts parts;
	struct fsdist_bpf *bpf;
};

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	const struct fsdist *s = context;
	const struct fsdist_own *key = own;
	u32 op = key->op & ~FSDIST_FAILED;
	char text[32];
	int err;

	snprintf(text, sizeof(text), "%s%s", op < FILE_OPS ? file_op_names[op] : "?",
		 key->op & FSDIST_FAILED ? " failed" : "");
	err = report_row__add_text(row, "op", text);
	snprintf(text, sizeof(text), "%.*s", FILE_FS_LEN, key->fs[0] ? key->fs : "-");
	if (!err && by & BY_FILE_FS)
		err = report_row__add_text(row, "fs", text);
	if (!err && by & BY_FILE_MOUNT)
		err = report_row__add_mount(row, s->bpf->maps.mounts, &key->mount);
	return err;
}

static int report(struct measurement *m, struct report *r)
{
	const struct fsdist *s = m->own;

	r->metric = s->options.waits ? "wait" : "call";
	r->value = s->options.waits ? "waits in calls" : "time of calls";
	r->unit = UNIT_NS;
	r->source = m->source;
	r->caveat = file_calls_caveat;
	return measure__report(&m->measure, m, r);
}

static int check(void *context, struct cli *cli)
{
	(void)context;
	cli->scope.command_joins_at_exec = true;
	cli->by |= BY_FILE_OP;
	return 0;
}

static int open_skeleton(struct measurement *m)
{
	struct fsdist_bpf *bpf = m->bpf;
	struct fsdist *s = m->own;
	int err = 0;

	s->bpf = bpf;
	bpf->rodata->want_fs = m->cli->by & BY_FILE_FS;
	bpf->rodata->want_mount = m->cli->by & BY_FILE_MOUNT;
	FILE_OPTIONS_SET(bpf->rodata, &s->options);
	if (s->options.waits)
		m->source = file_waits_source;
	if (m->cli->by & BY_FILE_MOUNT)
		err = map__set_room(bpf->maps.mounts, &m->run->host, MOUNT_NAMES);
	return err ?: file_calls__prepare(bpf->obj, &m->run->host, &s->options);
}

static const char *const key_names[] = { "op", "fs", "mount" };

static void init(void *own)
{
	struct fsdist *s = own;

	*s = (struct fsdist){
		.options = { .ops = ~0U },
		.parts = {
			.name = key_names, .n = ARRAY_SIZE(key_names), .text = "op, fs, mount",
			.add = add_parts, .context = s,
		},
	};
}

static const struct own_parts *parts(void *own)
{
	struct fsdist *s = own;

	return &s->parts;
}

static const struct option_row rows[] = {
	INCLUDE(struct fsdist, options, file_rows),
	INCLUDE(struct fsdist, options, file_call_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "fsdist",
	.cli = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.doc = "How long reads, writes, opens and fsyncs of files take.",
		.rows = rows,
	},
	.own_size = sizeof(struct fsdist), .skeleton = &fsdist_skeleton,
	.hist = { "times", sizeof(struct fsdist_key) },
	.init = init, .parts = parts, .check = check, .open = open_skeleton, .report = report,
	.source = file_calls_source,
};

TOOL_MEASURING(fsdist, spec, AREA_FILES, "how long reads, writes, opens and fsyncs of files take");
