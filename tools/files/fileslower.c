// SPDX-License-Identifier: BSD-2-Clause
/* fileslower: slow reads, writes, opens and fsyncs of files. See bpf/files/fileslower.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "files/calls.h"
#include "files/name.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/lines.h"
#include "tools.h"

#include "bpf/files/fileslower.h"
#include "fileslower.skel.h"

SKELETON(fileslower);

#define DEFAULT_MIN (10 * NSEC_PER_MSEC)
#define RARE_MIN NSEC_PER_MSEC  /* calls this slow are rare */

enum { TOOK, BYTES, OFFSET, ERROR, FS, PATH, FIELDS };

static const char *const field_names[FIELDS] = {
	[TOOK] = "took", [BYTES] = "bytes", [OFFSET] = "offset", [ERROR] = "error", [FS] = "fs",
	[PATH] = "path",
};

struct fileslower {
	struct file_options options;
	u64 min_ns;
	struct fileslower_bpf *bpf;
	struct lines lines;
};

/*
 * --- lines -------------------------------------------------------------------------------------
 */

/* "ENOENT"; calls that restart after a signal have errors that user space never sees. */
static const char *error_text(const struct fileslower_record *r)
{
	const char *name;

	if (r->end == FILESLOWER_UNFINISHED)
		return "unfinished";
	if (r->end || r->result >= 0)
		return NULL;
	name = strerrorname_np(-r->result);
	return name ?: "interrupted";
}

static bool moves_bytes(const struct fileslower_record *r)
{
	return r->op == FILE_READ || r->op == FILE_WRITE;
}

static struct field number_or_none(u64 number, bool there)
{
	return (struct field){ .number = number, .kind = there ? FIELD_NUMBER : FIELD_NONE };
}

static struct field text_or_none(const char *text, bool word)
{
	return (struct field){ .text = (char *)text, .kind = text ? FIELD_NUMBER : FIELD_NONE,
			       .word = word };
}

static int write_line(struct fileslower *s, const struct fileslower_record *r, char *path)
{
	char comm[sizeof(r->comm) + 1] = "", fs[sizeof(r->fs) + 1] = "";
	bool done = r->result >= 0 && r->end == FILESLOWER_ENDED;
	struct stream_field field[FIELDS] = {
		[TOOK] = { .field = { .number = r->took_ns, .kind = FIELD_TIME } },
		[BYTES] = { .field = { .number = r->result,
				       .kind = done && moves_bytes(r) ? FIELD_SIZE : FIELD_NONE } },
		[OFFSET] = { .field = number_or_none(r->offset, r->offset >= 0) },
		[ERROR] = { .field = text_or_none(error_text(r), true) },
		[FS] = { .field = text_or_none(r->fs[0] ? fs : NULL, true) },
		[PATH] = { .field = text_or_none(path, false) },
	};
	struct stream_line line = {
		.time_ns = r->time_ns, .comm = comm, .pid = r->pid, .tid = r->tid, .cpu = r->cpu,
		.event = r->op < FILE_OPS ? file_op_names[r->op] : "?", .field = field, .n = FIELDS,
	};
	size_t i;

	memcpy(comm, r->comm, sizeof(r->comm));
	memcpy(fs, r->fs, sizeof(r->fs));
	field[OFFSET].field.spare = field[FS].field.spare = true;
	for (i = 0; i < FIELDS; i++)
		field[i].field.name = field_names[i];
	return lines__write(&s->lines, &line);
}

static int show(void *context, const void *record, size_t size)
{
	const struct fileslower_record *r = record;
	char *path;
	int err;

	path = file_name__path(&r->name, size - offsetof(struct fileslower_record, name));
	err = write_line(context, r, path);
	free(path);
	return err;
}

static int watch(struct measurement *m)
{
	struct fileslower *s = m->own;

	return lines__drain(&s->lines);
}

static int report(struct measurement *m, struct report *r)
{
	struct fileslower *s = m->own;
	int err;

	if (tasks__visit(s->bpf->progs.show_unfinished))
		diag_detail("no task iterator: unfinished calls are not shown");
	err = lines__drain(&s->lines);
	if (err)
		return err;
	r->value = s->options.waits ? "long waits in file calls" : "slow calls";
	r->source = m->source;
	r->caveat = file_calls_caveat;
	lines__none_so_long(&s->lines, r, s->options.waits ? "wait" : "call", s->min_ns);
	return lines__report(&s->lines, r);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int check(void *context, struct cli *cli)
{
	struct fileslower *s = context;
	int err = lines__init(&s->lines, cli, field_names, FIELDS);

	cli->scope.command_joins_at_exec = true;
	s->lines.has_event = true;
	s->lines.rare = s->min_ns >= RARE_MIN;
	return err;
}

static int open_skeleton(struct measurement *m)
{
	struct fileslower_bpf *bpf = m->bpf;
	struct fileslower *s = m->own;
	int err;

	s->bpf = bpf;
	bpf->rodata->min_ns = s->min_ns;
	FILE_OPTIONS_SET(bpf->rodata, &s->options);
	if (s->options.waits) {
		m->source = file_waits_source;
		bpf->rodata->file_depth = FILE_DEPTH_SHORT;
	}
	err = lines__prepare(&s->lines, m, bpf->obj);
	if (!err)
		err = file_calls__prepare(bpf->obj, &m->run->host, &s->options);
	return err;
}

static int attach(struct measurement *m)
{
	struct fileslower *s = m->own;
	int err = lines__begin(&s->lines, m, offsetof(struct fileslower_record, name.names), show,
			       s);

	m->watch = watch;
	return err ?: measurement__attach(m);
}

static void init(void *own)
{
	struct fileslower *s = own;

	*s = (struct fileslower){ .options = { .ops = ~0U }, .min_ns = DEFAULT_MIN };
}

static void release(void *own)
{
	struct fileslower *s = own;

	lines__free(&s->lines);
}

static const struct option_row rows[] = {
	{ "min", 0, "TIME", ROW_TIME, "Only calls of at least this long (default: 10ms)", 0,
	  FIELD(struct fileslower, min_ns) },
	INCLUDE(struct fileslower, options, file_rows),
	INCLUDE(struct fileslower, options, file_call_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "fileslower",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_OUTPUT | CLI_MEASURE | CLI_METRICS | CLI_COMMAND | CLI_TIMES |
			  CLI_LINES,
		.doc = "Each slow read, write, open and fsync of a file.",
		.rows = rows,
	},
	.own_size = sizeof(struct fileslower), .skeleton = &fileslower_skeleton,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
	.source = file_calls_source, .free = release,
};

TOOL_MEASURING(fileslower, spec, AREA_FILES, "each slow read, write, open and fsync of a file");
