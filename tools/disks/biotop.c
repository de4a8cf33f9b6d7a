// SPDX-License-Identifier: BSD-2-Clause
/* biotop: disk usage by task. The measurement is bpf/disks/biotop.bpf.c. */
#include <errno.h>

#include "disks/requests.h"
#include "report/column.h"
#include "run/measurement.h"
#include "run/sum_table.h"
#include "tools.h"

#include "bpf/disks/biotop.h"
#include "biotop.skel.h"

SKELETON(biotop);

struct biotop {
	struct requests requests;
	struct biotop_bpf *bpf;
};

/*
 * --- the report --------------------------------------------------------------------------------
 */

#define OF(member) SUM(struct biotop_sums, member)

static const struct column columns[] = {
	COUNTER("requests", OF(requests), FIELD_NUMBER),
	COUNTER("bytes", OF(bytes), FIELD_NUMBER),
	COUNTER("time", OF(queue_ns) | OF(device_ns), FIELD_TIME),
	MEAN("avg", "time", "requests", FIELD_TIME),
	MEAN("queue", "queue_time", "requests", FIELD_TIME),
	MEAN("device", "device_time", "requests", FIELD_TIME),
	MAXIMUM("max", struct biotop_sums, slowest, FIELD_TIME),
	COUNTER("errors", OF(errors), FIELD_NUMBER),
	COUNTER("requeued", OF(requeues), FIELD_NUMBER),
	COUNTER("queue_time", OF(queue_ns), FIELD_TIME, .machine = true),
	COUNTER("device_time", OF(device_ns), FIELD_TIME, .machine = true),
	{},
};

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct biotop_element *e = element;
	int err = task_key__add_fields(row, &e->key.task, e->sums.name, t->cli->by, &t->names);

	return err ?: request_own_parts.add(NULL, &e->key.parts, t->cli->by, row);
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct biotop_key), .value_size = sizeof(struct biotop_sums),
		.writer_at = offsetof(struct biotop_key, writer),
		.nsums = offsetof(struct biotop_sums, slowest) / sizeof(u64), .nmaxima = 1, .named = true,
	},
	.task_at = offsetof(struct biotop_key, task), .of_cpus = true,
	.events = OF(requests), .add_key = add_key,
};

static int report(struct measurement *m, struct report *r)
{
	struct biotop *b = m->own;
	int err = requests__describe(&b->requests, r);

	return err ?: sum_table__report(m, NULL, r);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int check(void *context, struct cli *cli)
{
	(void)context;
	if (!cli->by)
		cli->by = BY_PID | BY_DISK | BY_OP;
	return 0;
}

static int open_skeleton(struct measurement *m)
{
	struct biotop_bpf *bpf = m->bpf;
	struct biotop *b = m->own;
	int err;

	b->bpf = bpf;
	err = sum_table__prepare(m);
	return err ?: requests__prepare(&b->requests, m);
}

static int attach(struct measurement *m)
{
	struct biotop *b = m->own;
	int err = measurement__attach(m);

	requests__begin(&b->requests, &b->bpf->bss->request_run);
	return err;
}

static void init(void *own)
{
	struct biotop *b = own;

	*b = (struct biotop){ .requests = REQUESTS };
}

static const struct option_row rows[] = {
	INCLUDE(struct biotop, requests, request_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "biotop",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_TIMES | CLI_ORDER,
		.doc = "Disk usage: requests, bytes and times, by process, disk and operation (--by), the first 20 "
		       "(--top).",
		.rows = rows,
		.own_parts = &request_own_parts, .columns = columns, .order = "bytes",
	},
	.own_size = sizeof(struct biotop), .skeleton = &biotop_skeleton, .table = &table,
	.value = "requests", .metric = "request",
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
};

TOOL_MEASURING(biotop, spec, AREA_DISKS, "disk usage by process: requests, bytes, times");
