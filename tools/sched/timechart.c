// SPDX-License-Identifier: BSD-2-Clause
/* timechart: CPUs and tasks over time. See bpf/sched/timechart.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agg/loss.h"
#include "base/clock.h"
#include "base/iterator.h"
#include "types/kernel_btf.h"
#include "host/task_state.h"
#include "host/topology.h"
#include "report/diag.h"
#include "report/heat.h"
#include "run/measurement.h"
#include "run/ring.h"
#include "sched/chart.h"
#include "tools.h"

#include "timechart.skel.h"

SKELETON(timechart);

#define DEFAULT_TOP 15
#define MOST_TOP 200            /* rows that fit into a file of 1 MB */
#define FIRST_WIDTH_NS NSEC_PER_MSEC    /* width of slots if the duration is unknown */
/* Begin and end are set this long in advance, since no program runs that long. */
#define AHEAD_NS (2 * NSEC_PER_MSEC)

struct timechart_tool {
	int format;             /* enum report_format; -1: not given */
	u32 width;              /* number of columns of a line */
	struct timechart_bpf *bpf;
	struct bpf_link *stretches;
	struct ring *ring;
	struct chart chart;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static int parse_format(void *own, char *arg)
{
	struct timechart_tool *t = own;

	t->format = report_format(arg);
	if (t->format >= 0)
		return 0;
	diag_error("--format: '%s' is not one of text, svg, json, csv", arg);
	return -EINVAL;
}

/* A chart covers the whole run, so an interval alone sets the duration. */
static int check(void *context, struct cli *cli)
{
	struct timechart_tool *t = context;
	const char *end = cli->output ? strrchr(cli->output, '.') : NULL;
	const char *what = NULL;

	if (t->format >= 0)
		cli__set_format(cli, t->format);
	else if (cli->format == FORMAT_TEXT && end && !strcmp(end, ".svg"))
		cli->format = FORMAT_SVG;
	cli->top = cli->top ?: DEFAULT_TOP;
	if (cli->format == FORMAT_OPENMETRICS)
		what = "--format openmetrics cannot show charts";
	else if (cli->format == FORMAT_HTML)
		what = "--format html cannot show charts; use -o chart.svg";
	else if (cli->interval_ns && (cli->count > 1 || cli->duration_ns))
		what = "a chart covers the whole run: use -d instead of intervals";
	else if (cli->scope.cpus)
		what = "-C is not supported: a chart shows all CPUs";
	else if (cli->top > MOST_TOP)
		what = "--top: a chart has at most 200 rows of tasks";
	else if (cli->format == FORMAT_SVG && !cli->explain && !cli->output &&
		 isatty(STDOUT_FILENO))
		what = "--format svg cannot be written to a terminal; use -o chart.svg";
	if (what) {
		diag_error("%s", what);
		return -EINVAL;
	}
	if (cli->interval_ns) {
		cli->duration_ns = cli->interval_ns;
		cli->interval_ns = cli->count = 0;
	}
	return 0;
}

/*
 * --- records -----------------------------------------------------------------------------------
 */

static int take(void *context, const void *record, size_t size)
{
	struct timechart_tool *t = context;
	int err = chart__take(&t->chart, record);

	(void)size;
	t->bpf->data->width_ns = t->chart.width_ns;
	return err;
}

static int watch(struct measurement *m)
{
	struct timechart_tool *t = m->own;

	return ring__drain(t->ring);
}

/* Sleeps until the given time. */
static void sleep_until(u64 moment_ns)
{
	const struct timespec ts = own_monotonic(moment_ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static int take_stretch(void *context, const void *record)
{
	return chart__take(context, record);
}

static int stop(struct timechart_tool *t)
{
	u64 end = monotonic_ns() + AHEAD_NS;
	int fd, err;

	t->bpf->data->end_ns = end;
	sleep_until(end);
	err = ring__drain(t->ring);
	if (err)
		return err;
	fd = bpf_iter_create(bpf_link__fd(t->stretches));
	if (fd < 0)
		return fd;
	err = iterator__each(fd, sizeof(struct timechart_record), take_stretch, &t->chart);
	close(fd);
	return err;
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

static int add_number(struct report_row *row, const char *name, u64 n, bool has,
		      enum field_kind kind)
{
	return report_row__add_number(row, name, n, has ? kind : FIELD_NONE);
}

static int add_slot(struct report *r, const struct timechart *c, const struct timechart_row *row,
		    u32 i)
{
	static const char *const kinds[] = { "cpu", "task", "others" };
	static const char *const parts[] = { "run", "wait", "sleep", "block" };
	bool cpu = row->kind == TIMECHART_CPU, task = row->kind == TIMECHART_TASK;
	const struct timechart_slot *s = &row->slot[i];
	u32 most = cpu ? timechart__most(s) : 0, k;
	struct report_row out = {};
	u64 start = i * c->slot_ns;
	int err;

	err = report_row__add_text(&out, "row", kinds[row->kind]);
	if (!err)
		err = add_number(&out, "cpu", row->cpu, cpu, FIELD_ID);
	if (!err)
		err = add_number(&out, "tid", row->tid, task, FIELD_ID);
	if (!err)
		err = add_number(&out, "pid", row->pid, task, FIELD_ID);
	if (!err)
		err = report_row__add_text(&out, "comm", task ? row->name : NULL);
	if (!err)
		err = add_number(&out, "from_ns", start, true, FIELD_NUMBER);
	if (!err)
		err = add_number(&out, "to_ns", start + timechart__span(c, i, 1), true,
				 FIELD_NUMBER);
	report_row__end_key(&out);
	for (k = 0; k < PARTS && !err; k++)
		err = add_number(&out, parts[k], s->ns[k], !cpu || k == PART_RUN, FIELD_TIME);
	if (!err)
		err = add_number(&out, "most_tid", most ? c->row[most - 1].tid : 0, most, FIELD_ID);
	if (!err)
		return report__add_row(r, &out);
	report_row__free(&out);
	return err;
}

static bool is_empty(const struct timechart_slot *s)
{
	return !(s->ns[PART_RUN] | s->ns[PART_WAIT] | s->ns[PART_SLEEP] | s->ns[PART_BLOCK]);
}

/* Adds a row for each slot that is not empty. */
static int add_slots(struct report *r, const struct timechart *c)
{
	struct timechart_slot empty = {};
	const struct timechart_row none = { .slot = &empty };
	int err = 0;
	size_t i;
	u32 k;

	for (i = 0; i < c->n; i++)
		for (k = 0; k < c->nslots && !err; k++)
			if (!is_empty(&c->row[i].slot[k]))
				err = add_slot(r, c, &c->row[i], k);
	if (err || r->nrows)
		return err;
	return report__keep_columns(r, add_slot(r, c, &none, 0));
}

static int draw(struct timechart_tool *t, struct measurement *m, const struct report *r,
		const struct timechart *c)
{
	struct writing writing;
	int err = writer__begin(m->writer, &writing);

	if (!err && m->cli->format == FORMAT_SVG)
		err = write_timechart_svg(m->writer, r, c);
	else if (!err)
		err = write_timechart_text(m->writer, r, c, t->width);
	return writer__end(m->writer, &writing, err);
}

static int report(struct measurement *m, struct report *r)
{
	struct timechart_tool *t = m->own;
	struct timechart chart = {};
	int err = stop(t);

	r->value = "activity of CPUs and tasks";
	r->source = "tp_btf/sched_switch, sched_wakeup";
	r->table = true;
	r->has_losses = true;
	if (!err)
		err = loss__read(&r->counters, bpf_map__fd(t->bpf->maps.losses), t->bpf->obj);
	if (!err)
		err = chart__draw(&t->chart, t->bpf->data->end_ns, &chart);
	r->start_ns = t->chart.begin_ns + ring__to_wall_clock();
	r->duration_ns = chart.duration_ns;
	m->hold = m->cli->format == FORMAT_TEXT || m->cli->format == FORMAT_SVG;
	if (!err)
		err = m->hold ? draw(t, m, r, &chart) : add_slots(r, &chart);
	timechart__free(&chart);
	return err;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int open_skeleton(struct measurement *m)
{
	struct timechart_bpf *bpf = m->bpf;
	struct timechart_tool *t = m->own;
	int err;

	t->bpf = bpf;
	bpf->rodata->have_prev_state = kernel_btf_arguments("btf_trace_sched_switch") >= 5;
	err = ring__prepare(bpf->obj, &m->run->host);
	if (!err)
		err = task_state__prepare(bpf->obj, "stretches", &m->run->host);
	return err;
}

/* The gate opens shortly before the chart begins, so that the tasks running at that time are known. */
static int begin(struct timechart_tool *t, struct measurement *m)
{
	/* Allows for late timers. */
	u64 width = (m->cli->duration_ns + m->cli->duration_ns / 64 + 2 * AHEAD_NS) /
		    CHART_SLOTS;
	u64 begin_ns = monotonic_ns() + AHEAD_NS;
	int err;

	if (!m->cli->duration_ns)
		width = FIRST_WIDTH_NS;
	err = chart__init(&t->chart, begin_ns, width, topology__end(&m->run->host), m->cli->top);
	t->bpf->bss->begin_ns = begin_ns;
	t->bpf->data->width_ns = width;
	t->bpf->bss->armed = 1;
	sleep_until(begin_ns);
	return err;
}

static int attach(struct measurement *m)
{
	struct timechart_tool *t = m->own;
	struct timechart_bpf *bpf = t->bpf;
	int err;

	t->width = heat_style__of(m->writer->file).width;
	err = ring__open(&t->ring, bpf->maps.records, sizeof(struct timechart_record),
			 m->writer, take, t);
	if (err)
		return err;
	m->watch = watch;
	m->watch_fd = ring__fd(t->ring);
	err = measurement__attach(m);
	if (err)
		return err;
	t->stretches = bpf_program__attach_iter(bpf->progs.show_stretches, NULL);
	return t->stretches ? begin(t, m) : -errno;
}

static void init(void *own)
{
	struct timechart_tool *t = own;

	t->format = -1;
}

static void release(void *own)
{
	struct timechart_tool *t = own;

	ring__close(t->ring);
	bpf_link__destroy(t->stretches);
	chart__free(&t->chart);
}

static const char *const formats[] = { "text", "svg", "json", "csv" };

static const struct option_row rows[] = {
	{ "format", 0, "NAME", ROW_OWN, "text (default), svg (also with -o NAME.svg), json, csv", HELP_OUTPUT,
	  .parse = parse_format, WORDS(formats) },
	{},
};

static const struct tool_spec spec = {
	.name = "timechart",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_TOP | CLI_OUTPUT | CLI_MEASURE | CLI_COMMAND,
		.doc = "A chart over time: the task on each CPU; when tasks run, wait or are blocked.",
		.rows = rows,
	},
	.own_size = sizeof(struct timechart_tool), .skeleton = &timechart_skeleton,
	.init = init, .source = "tp_btf/sched_switch, sched_wakeup", .check = check,
	.open = open_skeleton, .attach = attach, .report = report, .free = release,
};

TOOL_MEASURING(timechart, spec, AREA_SCHEDULER, "a chart over time of CPUs and the busiest tasks");
