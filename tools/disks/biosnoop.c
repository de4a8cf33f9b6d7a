// SPDX-License-Identifier: BSD-2-Clause
/* biosnoop: block requests as they complete. The measurement is bpf/disks/biosnoop.bpf.c. */
#include <string.h>

#include "disks/requests.h"
#include "run/measurement.h"
#include "run/lines.h"
#include "tools.h"

#include "bpf/disks/biosnoop.h"
#include "biosnoop.skel.h"

SKELETON(biosnoop);

enum { DISK, RWBS, SECTOR, BYTES, QUEUE, DEVICE, RESULT, FIELDS };

static const char *const field_names[FIELDS] = {
	"disk", "rwbs", "sector", "bytes", "queue", "device", "result",
};

struct biosnoop {
	u64 min_ns;
	struct requests requests;
	struct biosnoop_bpf *bpf;
	struct lines lines;
};

/*
 * --- lines -------------------------------------------------------------------------------------
 */

static int show(void *context, const void *record, size_t size)
{
	char comm[TASK_KEY_COMM_LEN + 1] = "", disk[DISK_NAME_SPACE];
	char rwbs[REQUEST_TEXT_SPACE], result[REQUEST_TEXT_SPACE];
	const struct biosnoop_record *r = record;
	struct biosnoop *b = context;
	const struct field values[ARRAY_SIZE(field_names)] = {
		{ .text = (char *)disk__name(r->disk, disk), .word = true },
		{ .text = (char *)request_rwbs(r->op, r->flags, rwbs), .word = true },
		{ .number = r->sector == UINT64_MAX ? 0 : r->sector, .kind = FIELD_NUMBER,
		  .spare = true },
		{ .number = r->bytes, .kind = FIELD_SIZE },
		{ .number = r->queue_ns, .kind = FIELD_TIME },
		{ .number = r->device_ns, .kind = FIELD_TIME },
		{ .text = (char *)request_result(r->error, result), .word = true, .spare = !r->error },
	};
	struct stream_field fields[ARRAY_SIZE(field_names)] = {};
	struct stream_line line = {
		.time_ns = r->time_ns,
		.comm = comm, .pid = r->pid, .tid = r->tid, .cpu = r->cpu,
		.field = fields, .n = ARRAY_SIZE(fields),
	};
	size_t i;

	(void)size;
	memcpy(comm, r->comm, sizeof(r->comm));
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		fields[i].field = values[i];
		fields[i].field.name = field_names[i];
	}
	return lines__write(&b->lines, &line);
}

static int watch(struct measurement *m)
{
	struct biosnoop *b = m->own;

	return lines__drain(&b->lines);
}

static int report(struct measurement *m, struct report *r)
{
	struct biosnoop *b = m->own;
	int err = requests__describe(&b->requests, r);

	r->value = "requests";
	lines__none_so_long(&b->lines, r, "request", b->min_ns);
	return err ?: lines__report(&b->lines, r);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int check(void *context, struct cli *cli)
{
	struct biosnoop *b = context;

	return lines__init(&b->lines, cli, field_names, ARRAY_SIZE(field_names));
}

static int open_skeleton(struct measurement *m)
{
	struct biosnoop_bpf *bpf = m->bpf;
	struct biosnoop *b = m->own;
	int err;

	b->bpf = bpf;
	bpf->rodata->min_ns = b->min_ns;
	err = lines__prepare(&b->lines, m, bpf->obj);
	return err ?: requests__prepare(&b->requests, m);
}

static int attach(struct measurement *m)
{
	struct biosnoop *b = m->own;
	int err = lines__begin(&b->lines, m, sizeof(struct biosnoop_record), show, b);

	m->watch = watch;
	if (!err)
		err = measurement__attach(m);
	requests__begin(&b->requests, &b->bpf->bss->request_run);
	return err;
}

static void init(void *own)
{
	struct biosnoop *b = own;

	*b = (struct biosnoop){ .requests = REQUESTS };
}

static void release(void *own)
{
	struct biosnoop *b = own;

	lines__free(&b->lines);
}

static const struct option_row rows[] = {
	{ "min", 0, "TIME", ROW_TIME, "Only requests that took at least this long in total", 0,
	  FIELD(struct biosnoop, min_ns) },
	INCLUDE(struct biosnoop, requests, request_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "biosnoop",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_OUTPUT | CLI_MEASURE | CLI_METRICS | CLI_COMMAND | CLI_TIMES |
			  CLI_LINES,
		.doc = "Each disk request as it completes: its submitter, kind and duration.",
		.rows = rows,
	},
	.own_size = sizeof(struct biosnoop), .skeleton = &biosnoop_skeleton,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
	.free = release,
};

TOOL_MEASURING(biosnoop, spec, AREA_DISKS, "each disk request, and who submitted it");
