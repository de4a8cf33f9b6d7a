// SPDX-License-Identifier: BSD-2-Clause
#include "run/reports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "report/arrange.h"
#include "report/diag.h"
#include "run/measurement.h"

static int write_top(struct measurement *m, const struct report *r, size_t top)
{
	struct report view;
	int err = arrange__view(&view, r, top);

	if (err)
		return err;
	err = measurement__write(m, &view);
	free(view.row);
	return err;
}

/*
 * Writes the last report below the terminal's earlier content. If its interval had just begun, it contains little, so
 * the report that was on the screen is written, too.
 */
static int write_live(struct measurement *m, struct report *r)
{
	const struct cli *cli = m->run->cli;
	const struct report *before;
	int err = 0;

	if (!m->writer->is_last)
		return live__show(m->run->live, m->cli, m->writer, r);
	before = live__leave(m->run->live, m->cli, r);
	if (before && r->duration_ns < cli->interval_ns / 2)
		err = write_top(m, before, m->cli->live_top);
	return err ?: write_top(m, r, m->cli->live_top);
}

static int write_or_add(struct measurement *m, struct report *r)
{
	int err;

	if (m->hold)
		return 0;
	if (m->run->live)
		return write_live(m, r);
	if (!m->heat)
		return measurement__write(m, r);
	err = heat__add(m->heat, r);
	if (!err)
		err = heat__write_line(m->heat, m->writer, r);
	if (err == -EOPNOTSUPP) {
		diag_error("--heat needs a histogram, and this report has none");
		m->run->usage = true;
		return -EINVAL;
	}
	return err;
}

static int add_overhead(struct run *run, struct report *r)
{
	struct report_overhead *cost = &run->overhead.cost;
	int err = overhead__since(&run->overhead, r->duration_ns, r->cpus);

	cost->budget = run->cli->budget;
	cost->over_budget = run->over_budget;
	r->overhead = cost;
	if (!err)
		metrics__add_cost(&run->metrics, cost);
	return err;
}

/* Prints the cost for reports whose format cannot contain it. */
static void tell_overhead(const struct measurement *m, const struct report *r)
{
	enum report_format format = m->writer->format;
	char *line = NULL;
	size_t n = 0;
	FILE *f;

	if (m->hold || m->writer->sink || (!m->heat && (format == FORMAT_TEXT || format == FORMAT_JSON ||
					 format == FORMAT_OPENMETRICS || format == FORMAT_HTML)))
		return;
	f = open_memstream(&line, &n);
	if (!f)
		return;
	put_overhead_line(f, r->overhead);
	if (!fclose(f))
		diag_hint("%s", line);
	free(line);
}

/* True for the last report of an interval, which shows the cost of the programs. */
static bool tells_overhead(const struct measurement *m)
{
	const struct run *run = m->run;

	return run->cli->overhead && m == run->measurement[run->n - 1];
}

/*
 * True if only lines are written. Programs that read lines get no report between them. A file of -o gets the report,
 * except with --template, since its readers need to know what was lost.
 */
static bool has_only_lines(const struct measurement *m)
{
	return !m->cli->explain && (m->cli->only_lines || (m->has_lines && cli__is_piped(m->cli, m->writer)));
}

/*
 * Sets the writer to this measurement. In a run of several, each measurement has its own headings, time unit, --top and
 * name in messages.
 */
void reports__begin_lines(struct measurement *m)
{
	m->writer->of_tool = m->tool;
	m->writer->of_command = m->cli->command_line;
	m->writer->only_lines = has_only_lines(m);
	if (m->run->n == 1)
		return;
	m->writer->header = m->header;
	m->writer->milliseconds = m->cli->milliseconds;
	m->writer->terminal.rows = m->cli->top ? 0 : m->run->rows;
	m->writer->tool = m->tool;
	diag_speaker(m->tool);
}

void reports__end_lines(struct measurement *m)
{
	if (m->run->n == 1)
		return;
	m->header = m->writer->header;
	diag_speaker(NULL);
}

#define CLOCK_STEP_NS (NSEC_PER_SEC / 2)        /* more than NTP slews the clock between two reports */

/*
 * Returns the start of the next interval: the end of the last one, so that intervals have no gaps. If the clock was set
 * or the machine was suspended in between, the time of that moment by the current clock.
 */
static u64 next_start(u64 expected_ns, u64 began_ns)
{
	u64 by_clock_ns = realtime_ns() - (monotonic_ns() - began_ns);
	u64 apart_ns = by_clock_ns > expected_ns ? by_clock_ns - expected_ns : expected_ns - by_clock_ns;

	return apart_ns > CLOCK_STEP_NS ? by_clock_ns : expected_ns;
}

/*
 * The next interval begins where this one ends. Measurements are read one after the other, so each has its own
 * intervals.
 */
static int write_report(struct measurement *m)
{
	struct run *run = m->run;
	u64 duration_ns = measurement__until(m) - m->began_ns;
	struct report r = {
		.tool = m->tool,
		.command = m->cli->command_line,
		.kernel = run->host.uts.release,
		.cpus = run->host.cpus_online,
		.start_ns = m->start_ns,
		.duration_ns = duration_ns,
		.has_max_keys = m->cli->has_max_keys,
	};
	u64 began_ns = monotonic_ns();
	int err = measurement__report(m, &r);

	m->reading_ns = monotonic_ns() - began_ns;
	if (!err && tells_overhead(m))
		err = add_overhead(run, &r);
	if (!err) {
		run->lost |= (r.has_events || r.has_losses) && !loss__is_none(&r.counters);
		err = write_or_add(m, &r);
		if (r.overhead)
			tell_overhead(m, &r);
	} else if (err == -EMFILE || err == -ENFILE) {
		host__complain_of_files();
	} else {
		diag_error("cannot read the results: %s", strerror(-err));
	}
	report__free(&r);
	m->began_ns += duration_ns;
	m->start_ns = next_start(m->start_ns + duration_ns, m->began_ns);
	return err;
}

int run__end_metrics(struct run *run)
{
	return run->cli->format == FORMAT_OPENMETRICS ? metrics__write(run) : 0;
}

int reports__write(struct run *run)
{
	int err = 0;
	size_t i;

	for (i = 0; i < run->n && !err; i++) {
		reports__begin_lines(run->measurement[i]);
		err = write_report(run->measurement[i]);
		reports__end_lines(run->measurement[i]);
	}
	if (!err && run->writer.sink)
		err = run->writer.sink->end(run->writer.sink->context);
	return err || run->measurement[0]->hold ? err : run__end_metrics(run);
}

int reports__write_heat(const struct run *run)
{
	int err = 0;
	size_t i;

	for (i = 0; i < run->n && !err; i++)
		if (run->measurement[i]->heat)
			err = heat__write(run->measurement[i]->heat, run->measurement[i]->writer);
	return err;
}
