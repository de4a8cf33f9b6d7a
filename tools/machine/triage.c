// SPDX-License-Identifier: BSD-2-Clause
/* triage: what is wrong with this machine. What it measures and its rules: triage/rules.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "machine/triage/rules.h"
#include "report/diag.h"
#include "report/stream.h"
#include "run/measurement.h"
#include "run/several.h"
#include "tools.h"
#include "triage/page.h"
#include "triage/rule.h"

#define DEFAULT_SECONDS 10

struct looking {
	struct triage *triage;
	struct run *run;
	struct triage_loss loss[RUN_MOST];
	size_t nlosses;
	struct report_overhead cost;    /* without its programs */
	u64 start_ns, duration_ns;
	bool verbose;
};

static void take_losses(struct looking *l, const struct report *r)
{
	if (!(r->has_events || r->has_losses) || loss__is_none(&r->counters) || l->nlosses == RUN_MOST)
		return;
	l->loss[l->nlosses++] = (struct triage_loss){
		.tool = r->tool, .events = r->events,
		.lost = loss__of(&r->counters, LOSS_LOST), .inexact = loss__of(&r->counters, LOSS_INEXACT),
	};
}

/* The last report has the cost. */
static int take_report(void *context, const struct report *r)
{
	struct looking *l = context;

	take_losses(l, r);
	if (r->overhead)
		l->cost = *r->overhead;
	l->cost.program = NULL;
	l->cost.nprograms = 0;
	if (r->duration_ns > l->duration_ns) {
		l->duration_ns = r->duration_ns;
		l->start_ns = r->start_ns;
	}
	return triage__take(l->triage, r);
}

static int take_line(void *context, const struct writer *w, const struct stream_line *line)
{
	struct looking *l = context;

	return triage__take_line(l->triage, w->of_tool, line);
}

/* The first word of a line, if no measurement of the run is of that tool; else NULL. */
static char *absent_tool(const struct run *run, const char *line)
{
	size_t n = strcspn(line, " "), i;

	for (i = 0; i < run->n; i++)
		if (strlen(run->measurement[i]->tool) == n && !strncmp(run->measurement[i]->tool, line, n))
			return NULL;
	return strndup(line, n);
}

static int write_page(struct looking *l, struct run *run, struct triage_page *p)
{
	char *absent[RUN_MOST];
	struct triage_finding *finding;
	size_t i, n = 0;
	int err;

	for (i = 0; i < triage_line_count; i++) {
		absent[n] = absent_tool(run, triage_lines[i]);
		n += absent[n] != NULL;
	}
	finding = triage__findings(l->triage, run->host.cpus_online);
	p->finding = finding;
	p->n = triage_rule_count;
	p->absent = (const char *const *)absent;
	p->nabsent = n;
	err = finding ? triage_page__write(p, &run->writer) : -ENOMEM;
	free(finding);
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
		.loss = l->loss, .nlosses = l->nlosses, .overhead = &l->cost,
		.verbose = l->verbose,
	};
	int err;

	run->writer.sink = NULL;
	err = write_page(l, run, &page);
	run->writer.sink = sink;
	triage__reset(l->triage);
	l->nlosses = 0;
	l->duration_ns = 0;
	return err;
}

static int begin(void *context, struct run *run)
{
	struct looking *l = context;

	l->run = run;
	return 0;
}

static int look(struct cli *cli)
{
	struct looking l = {
		.verbose = cli->verbose,
		.triage = triage__new(triage_rules, triage_rule_count),
	};
	const struct several_plan plan = {
		.line = triage_lines, .n = triage_line_count,
		.sink = { &l, take_report, take_line, end }, .begin = begin,
	};
	int code = EXIT_FAILED;

	cli->verbose = false;           /* of each measurement it would be pages */
	if (l.triage) {
		triage__leave_out(l.triage, getpid());
		code = several__run(find_tool_spec, &plan, cli);
	} else {
		diag_error("no memory");
	}
	triage__free(l.triage);
	return code;
}

/*
 * --- the rules ---------------------------------------------------------------------------------
 */

static int add_limit(struct report_row *row, const struct triage_rule *rule, const char *name, double limit)
{
	char text[UNITS_SPACE];

	return report_row__add_text(row, name, limit > 0 ? triage_value(text, rule, limit) : "-");
}

static int add_rule(struct report *r, const struct triage_rule *rule)
{
	struct report_row row = {};
	int err = report_row__add_text(&row, "rule", rule->name);

	if (!err)
		err = report_row__add_text(&row, "tool", rule->tool);
	if (!err)
		err = add_limit(&row, rule, "notice", rule->notice);
	if (!err)
		err = add_limit(&row, rule, "problem", rule->problem);
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

#define KEY_RULES 0x1000

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	bool *rules = state->input;

	(void)arg;
	if (key != KEY_RULES)
		return ARGP_ERR_UNKNOWN;
	*rules = true;
	return 0;
}

static int triage_main(int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		{ "rules", KEY_RULES, NULL, 0, "List the rules and their limits, and measure nothing", 5 },
		{},
	};
	static const struct argp own = { .options = option_list, .parser = parse_own };
	bool rules = false;
	const struct cli_spec spec = {
		.groups = CLI_TIME | CLI_OUTPUT | CLI_RUN,
		.own = &own,
		.own_input = &rules,
		.doc = "What is wrong with this machine? Measures with many tools over the same time (10 s without -d), "
		       "holds what they found against rules, and says what stands out: problems first, each "
		       "with its figures and the command to type next. -v: also what is fine, and the "
		       "reasons of the limits; -n: what is measured.",
	};
	struct cli cli;
	int code = EXIT_USAGE;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (rules) {
		code = show_rules(&cli);
	} else {
		if (!cli.interval_ns && !cli.on_demand)
			cli.duration_ns = cli.duration_ns ?: DEFAULT_SECONDS * NSEC_PER_SEC;
		cli.overhead = true;
		code = look(&cli);
	}
	cli__free(&cli);
	return code;
}

TOOL_NAMED(triage, triage_main, AREA_MACHINE, "what is wrong with this machine, and what to type next");
