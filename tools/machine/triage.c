// SPDX-License-Identifier: BSD-2-Clause
/* triage: finds problems of this machine. Its measurements and rules are in triage/rules.c. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/process.h"
#include "machine/triage/gather.h"
#include "machine/triage/past.h"
#include "machine/triage/rules.h"
#include "report/diag.h"
#include "report/html.h"
#include "report/stream.h"
#include "run/measurement.h"
#include "run/several.h"
#include "tools.h"
#include "triage/page.h"
#include "triage/rule.h"

#define DEFAULT_SECONDS 10

struct looking {
	struct gathered gathered;
	struct run *run;
	struct report_overhead cost;    /* without the list of programs */
	u64 start_ns, duration_ns;      /* those of the longest report */
	/* Lines that were skipped because no program that they are about was running at the start. */
	const char *left_out[RUN_MOST];
	size_t nleft_out;
	bool verbose;
};

/* Takes a report. The last report contains the cost. */
static int take_report(void *context, const struct report *r)
{
	struct looking *l = context;

	if (r->overhead)
		l->cost = *r->overhead;
	l->cost.program = NULL;
	l->cost.nprograms = 0;
	if (r->duration_ns > l->duration_ns) {
		l->duration_ns = r->duration_ns;
		l->start_ns = r->start_ns;
	}
	if (l->run->writer.format == FORMAT_HTML && html__add_report(&l->run->writer, r))
		return -ENOMEM;
	return gathered__take(&l->gathered, r);
}

static int take_line(void *context, const struct writer *w, const struct stream_line *line)
{
	struct looking *l = context;

	if (l->run->writer.format == FORMAT_HTML && html__add_line(&l->run->writer, line))
		return -ENOMEM;
	return triage__take_line(l->gathered.triage, w->of_tool, line);
}

/*
 * Returns the first word of a line if the run has no measurement of that tool, else NULL.
 * Allocated.
 */
static char *absent_tool(const struct run *run, const char *line)
{
	size_t n = strcspn(line, " "), i;

	for (i = 0; i < run->n; i++)
		if (strlen(run->measurement[i]->tool) == n && !strncmp(run->measurement[i]->tool, line, n))
			return NULL;
	return strndup(line, n);
}

/* For processes__visit(): returns 1 if the process is one of this program. */
static int is_of_program(void *program, u32 pid, const char *comm)
{
	(void)pid;
	return !strncmp(comm, program, strlen(program));
}

/* Whether a process of the program is running, or may be. NULL stands for any program. */
static bool runs(const char *program)
{
	return !program || processes__visit(is_of_program, (void *)program);
}

/* If the program of a skipped line is still not running at the end, the line counts as measured, with nothing found. */
static int take_left_out(struct looking *l)
{
	int err = 0;
	size_t i;

	for (i = 0; i < l->nleft_out && !err; i++) {
		const char *program = triage_line_program(l->left_out[i]);
		char *tool = strndup(l->left_out[i], strcspn(l->left_out[i], " "));
		struct report none = { .tool = tool, .command = l->left_out[i],
				       .duration_ns = l->duration_ns };

		if (!tool)
			err = -ENOMEM;
		else if (!runs(program))
			err = triage__take(l->gathered.triage, &none);
		else
			diag_warn("%s started after triage: its locks are not examined; run triage again",
				  program);
		free(tool);
	}
	return err;
}

static int write_page(struct looking *l, struct run *run, struct triage_page *p)
{
	char *absent[RUN_MOST];
	size_t i, n = 0;
	int err;

	for (i = 0; i < triage_line_count; i++) {
		absent[n] = absent_tool(run, triage_lines[i]);
		n += absent[n] != NULL;
	}
	p->absent = (const char *const *)absent;
	p->nabsent = n;
	err = gathered__write(&l->gathered, p, run->host.cpus_online, &run->writer);
	for (i = 0; i < n; i++)
		free(absent[i]);
	return err;
}

static int end(void *context)
{
	struct looking *l = context;
	struct run *run = l->run;
	const struct writer_sink *sink = run->writer.sink;
	struct triage_page page = {
		.kernel = run->host.uts.release, .cpus = run->host.cpus_online,
		.start_ns = l->start_ns, .duration_ns = l->duration_ns, .measurements = run->n,
		.loss = l->gathered.loss, .nlosses = l->gathered.nlosses, .overhead = &l->cost,
		.verbose = l->verbose,
	};
	int err;

	run->writer.sink = NULL;
	err = take_left_out(l) ?: write_page(l, run, &page);
	run->writer.sink = sink;
	gathered__reset(&l->gathered);
	l->duration_ns = 0;
	return err;
}

static int begin(void *context, struct run *run)
{
	struct looking *l = context;

	l->run = run;
	return 0;
}

/*
 * Chooses the lines of this run: those about all programs, and those about programs that are running. Returns their
 * number.
 */
static size_t choose_lines(struct looking *l, const char *line[])
{
	size_t i, n = 0;

	for (i = 0; i < triage_line_count; i++)
		if (runs(triage_line_program(triage_lines[i])))
			line[n++] = triage_lines[i];
		else
			l->left_out[l->nleft_out++] = triage_lines[i];
	return n;
}

static int look(struct cli *cli)
{
	struct looking l = { .verbose = cli->verbose };
	const char *line[RUN_MOST];
	size_t n = choose_lines(&l, line);
	const struct several_plan plan = {
		.line = line, .n = n, .needed = n - (triage_line_count - triage_lines_needed),
		/* Only a page shows stacks; the rules look at keys and values. */
		.sink = { &l, take_report, take_line, .end = end, .ignores_frames = cli->format != FORMAT_HTML },
		.begin = begin,
	};
	int code = EXIT_FAILED;

	cli->verbose = false;           /* otherwise, it would print pages for each measurement */
	if (!gathered__begin(&l.gathered)) {
		gathered__leave_out(&l.gathered, getpid());
		code = several__run(find_tool_spec, &plan, cli);
	} else {
		diag_error("no memory");
	}
	gathered__free(&l.gathered);
	return code;
}

/*
 * --- the rules ---------------------------------------------------------------------------------
 */

static int add_limit(struct report_row *row, const struct triage_rule *rule, const char *name, double limit,
		     bool each_cpu)
{
	char value[UNITS_SPACE], text[UNITS_SPACE + 16];

	snprintf(text, sizeof(text), "%s%s", triage_value(value, rule, limit), each_cpu ? " per CPU" : "");
	return report_row__add_text(row, name, limit > 0 ? text : "-");
}

static int add_rule(struct report *r, const struct triage_rule *rule)
{
	struct report_row row = {};
	int err = report_row__add_text(&row, "rule", rule->name);

	if (!err)
		err = report_row__add_text(&row, "tool", rule->tool);
	if (!err)
		err = add_limit(&row, rule, "notice", rule->notice, false);
	if (!err)
		err = add_limit(&row, rule, "problem", rule->problem, rule->each_cpu);
	if (!err)
		err = report_row__add_text(&row, "because", rule->why);
	return report__end_row(r, &row, err);
}

static int show_rules(const struct cli *cli)
{
	struct report r = { .tool = "triage" };
	struct writer w = {};
	int err = cli__open_writer(cli, &w);
	size_t i;

	for (i = 0; i < triage_rule_count && !err; i++)
		err = add_rule(&r, &triage_rules[i]);
	if (!err)
		err = writer__write(&w, &r);
	err = cli__close_writer(&w, err);
	report__free(&r);
	return err ? EXIT_FAILED : EXIT_DONE;
}

struct asked {
	bool rules;
	const char *recording;          /* NULL: measure now */
	struct when when;
};

/* A word that does not begin with a digit is a file; files that do can be given as ./1. */
static bool takes(void *input, char *arg)
{
	struct asked *asked = input;

	if (asked->recording || isdigit((unsigned char)arg[0]))
		return false;
	asked->recording = arg;
	return true;
}

static int end_options(void *own)
{
	const struct asked *asked = own;

	if (asked->recording || !(asked->when.from || asked->when.to || asked->when.at))
		return 0;
	diag_error("--from, --to and --at need a recording: tally triage FILE --at TIME");
	return -EINVAL;
}

static const struct option_row rows[] = {
	{ "rules", 0, NULL, ROW_FLAG, "List the rules and their limits without measuring", 1,
	  FIELD(struct asked, rules) },
	{ "at", 0, "TIME", ROW_TEXT,
	  "In a recording: the minute around that time (03:14, '2026-11-23 03:14', -10m)", HELP_TIME,
	  FIELD(struct asked, when.at) },
	{ "from", 0, "TIME", ROW_TEXT, "In a recording: from this time", HELP_TIME, FIELD(struct asked, when.from) },
	{ "to", 0, "TIME", ROW_TEXT, "In a recording: up to this time", HELP_TIME, FIELD(struct asked, when.to) },
	{},
};

static int triage_main(int argc, char **argv)
{
	struct asked asked = { .when.width_ns = 60 * NSEC_PER_SEC };
	const struct cli_spec spec = {
		.groups = CLI_TIME | CLI_OUTPUT | CLI_RUN,
		.rows = rows,
		.args_doc = "[INTERVAL [COUNT]]\nRECORDING",
		.own_input = &asked,
		.takes = takes,
		.end = end_options,
		.arguments = complete_files,
		.doc = "Finds what is wrong with this machine: runs many tools over the same time (10 s without -d), "
		       "checks the results against rules, and prints problems first, each with its figures and the "
		       "next command to type. -v also shows what is fine, and the reasons for the limits; -n shows "
		       "what is measured. With a recording (tally record), shows when something was wrong; with --at "
		       "or --from, what was wrong then.",
	};
	struct cli cli;
	int code = EXIT_USAGE;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (asked.rules) {
		code = show_rules(&cli);
	} else if (asked.recording) {
		code = triage_past(asked.recording, &asked.when, &cli);
	} else {
		if (!cli.interval_ns && !cli.on_demand)
			cli.duration_ns = cli.duration_ns ?: DEFAULT_SECONDS * NSEC_PER_SEC;
		cli.overhead_sliced = !cli.overhead;
		cli.overhead = true;
		code = look(&cli);
	}
	cli__free(&cli);
	return code;
}

TOOL_NAMED(triage, triage_main, AREA_MACHINE, "finds what is wrong with this machine and suggests the next command");
