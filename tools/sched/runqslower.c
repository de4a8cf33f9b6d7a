// SPDX-License-Identifier: BSD-2-Clause
/*
 * runqslower: long waits for a CPU, each with the task that ran before. See
 * bpf/sched/runqslower.bpf.c.
 */
#include <string.h>

#include "run/measurement.h"
#include "run/lines.h"
#include "sched/waits.h"
#include "tools.h"

#include "bpf/lib/switches.h"
#include "runqslower.skel.h"

SKELETON(runqslower);

#define DEFAULT_MIN (10 * NSEC_PER_MSEC)
#define RARE_MIN NSEC_PER_MSEC  /* waits this long are rare */

static const char *const field_names[] = { "wait", "prev_comm", "prev_pid", "prev_tid" };

struct runqslower {
	int source;             /* enum wait_source or WAIT_SOURCE_AUTO */
	u64 min_ns;
	struct runqslower_bpf *bpf;
	struct lines lines;
};

/*
 * --- lines -------------------------------------------------------------------------------------
 */

static int show(void *context, const void *record, size_t size)
{
	const struct switches_record *r = record;
	struct runqslower *s = context;
	char comm[sizeof(r->task.comm) + 1] = "", prev[sizeof(r->other.comm) + 1] = "";
	const struct stream_field fields[ARRAY_SIZE(field_names)] = {
		{ .field = { .name = field_names[0], .number = r->wait_ns, .kind = FIELD_TIME } },
		{ .field = { .name = field_names[1], .text = prev } },
		{ .field = { .name = field_names[2], .number = r->other.pid, .kind = FIELD_ID } },
		{ .field = { .name = field_names[3], .number = r->other.tid, .kind = FIELD_ID,
			     .spare = true } },
	};
	struct stream_line line = {
		.time_ns = r->time_ns,
		.comm = comm, .pid = r->task.pid, .tid = r->task.tid, .cpu = r->cpu,
		.field = fields, .n = ARRAY_SIZE(fields),
	};

	(void)size;
	memcpy(comm, r->task.comm, sizeof(r->task.comm));
	memcpy(prev, r->other.comm, sizeof(r->other.comm));
	return lines__write(&s->lines, &line);
}

static int watch(struct measurement *m)
{
	struct runqslower *s = m->own;

	return lines__drain(&s->lines);
}

static int report(struct measurement *m, struct report *r)
{
	struct runqslower *s = m->own;

	r->value = "waits for a CPU";
	waits__describe(s->source, r);
	lines__none_so_long(&s->lines, r, "wait", s->min_ns);
	return lines__report(&s->lines, r);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int configure(struct measurement *m, enum wait_source source)
{
	struct runqslower_bpf *bpf = m->bpf;
	struct runqslower *s = m->own;

	(void)source;

	bpf->rodata->min_ns = s->min_ns;
	return lines__prepare(&s->lines, m, m->obj);
}

static int load(struct measurement *m)
{
	struct runqslower *s = m->own;

	return waits__load(m, &s->source, configure);
}

static int attach(struct measurement *m)
{
	struct runqslower *s = m->own;
	int err;

	err = lines__begin(&s->lines, m, sizeof(struct switches_record), show, s);
	m->watch = watch;
	return err ?: measurement__attach(m);
}

static int check(void *context, struct cli *cli)
{
	struct runqslower *s = context;
	int err = lines__check(cli) ?: lines__init(&s->lines, cli, field_names,
						   ARRAY_SIZE(field_names));

	s->lines.rare = s->min_ns >= RARE_MIN;
	return err;
}

static void init(void *own)
{
	struct runqslower *s = own;

	*s = (struct runqslower){ .source = WAIT_SOURCE_AUTO, .min_ns = DEFAULT_MIN };
}

static void release(void *own)
{
	struct runqslower *s = own;

	lines__free(&s->lines);
}

static const struct option_row rows[] = {
	{ "min", 0, "TIME", ROW_TIME, "Only waits of at least this long (default: 10ms)", 0,
	  FIELD(struct runqslower, min_ns) },
	INCLUDE(struct runqslower, source, wait_source_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "runqslower",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_OUTPUT | CLI_MEASURE | CLI_METRICS | CLI_COMMAND | CLI_TIMES |
			  CLI_LINES,
		.doc = "Each long wait for a CPU, and the task that had the CPU before.",
		.rows = rows,
	},
	.own_size = sizeof(struct runqslower), .skeleton = &runqslower_skeleton,
	.init = init, .check = check, .load = load, .attach = attach, .report = report,
	.free = release,
};

TOOL_MEASURING(runqslower, spec, AREA_SCHEDULER, "each long wait for a CPU, and who had it");
