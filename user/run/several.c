// SPDX-License-Identifier: BSD-2-Clause
#include "run/several.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/words.h"
#include "report/diag.h"
#include "report/openmetrics.h"

/* Option groups of the run, not allowed in lines. */
#define GROUPS_OF_RUN (CLI_TIME | CLI_OUTPUT | CLI_RUN | CLI_COMMAND | CLI_HEAT | CLI_LIVE)

/* One line and its state. */
struct line {
	char *text;
	char **words;
	bool parsed;                    /* cli must be freed */
	bool measured;                  /* m has been added to the run */
	struct cli cli;
	struct measurement m;
};

struct several {
	several_find find;
	const struct several_plan *plan;        /* NULL: lines come from the command line */
	struct several_lines text;
	struct line **line;
	size_t n;
	struct run run;
};

/*
 * --- the command line --------------------------------------------------------------------------
 */

bool several_lines__take(struct several_lines *l, char *arg)
{
	l->interval_begun |= begins_number(arg);
	if (l->interval_begun)
		return false;
	if (l->n < RUN_MOST)
		l->line[l->n++] = arg;
	else
		l->too_many = true;
	return true;
}

int several_lines__check(const struct several_lines *l)
{
	if (!l->too_many)
		return 0;
	diag_error("a run has at most %d measurements", RUN_MOST);
	return -EINVAL;
}

static bool takes(void *input, char *arg)
{
	struct several *s = input;

	return several_lines__take(&s->text, arg);
}

/* Copies a scope option of the run to the line, which must not also set the option. */
static int merge(const void *of_run, void *of_line, size_t size, const char *option)
{
	static const char nothing[16];

	if (!memcmp(of_run, nothing, size))
		return 0;
	if (memcmp(of_line, nothing, size)) {
		diag_error("%s is given twice: here and for the whole run", option);
		return -EINVAL;
	}
	memcpy(of_line, of_run, size);
	return 0;
}

static int merge_ids(const u32 *id, size_t n, u32 **of_line, size_t *n_of_line, const char *option)
{
	if (!n)
		return 0;
	if (*n_of_line) {
		diag_error("%s is given twice: here and for the whole run", option);
		return -EINVAL;
	}
	*of_line = malloc(n * sizeof(*id));
	if (!*of_line)
		return -ENOMEM;
	memcpy(*of_line, id, n * sizeof(*id));
	*n_of_line = n;
	return 0;
}

static int merge_scopes(const struct cli *run, struct cli *line)
{
	const struct scope_options *r = &run->scope;
	struct scope_options *l = &line->scope;
	int err = merge_ids(r->pids, r->npids, &l->pids, &l->npids, "-p");

	if (!err)
		err = merge_ids(r->tids, r->ntids, &l->tids, &l->ntids, "-t");
	if (!err)
		err = merge(&r->user, &l->user, sizeof(r->user), "-u");
	if (!err)
		err = merge(&r->cgroup, &l->cgroup, sizeof(r->cgroup), "-G");
	if (!err)
		err = merge(&r->cpus, &l->cpus, sizeof(r->cpus), "-C");
	if (!err)
		err = merge(&r->comm, &l->comm, sizeof(r->comm), "--comm");
	if (!err)
		err = merge(&r->pidns, &l->pidns, sizeof(r->pidns), "--pidns");
	if (!err && r->pidns)
		l->pidns_of = r->pidns_of;
	if (run->asked_follow)
		l->follow = r->follow;
	l->command_alone |= r->command_alone;
	l->all |= r->all;
	return err;
}

static int check_format(const struct cli *line, enum report_format format)
{
	if (line->format == format)
		return 0;
	diag_error("the format applies to the whole run: give it after the lines");
	return -EINVAL;
}

static int impose(const struct several *s, struct cli *line)
{
	const struct cli *run = s->run.cli;

	if (check_format(line, FORMAT_TEXT))
		return -EINVAL;
	line->interval_ns = run->interval_ns;
	line->count = run->count;
	line->duration_ns = run->duration_ns;
	line->delay_ns = run->delay_ns;
	line->format = s->plan && s->plan->sink.report ? FORMAT_JSON : run->format;     /* no default --top */
	if (line->format == FORMAT_OPENMETRICS) {
		line->metrics_top = line->top ?: run->top ?: run->metrics_top;
		line->top = 0;
	}
	line->separator = run->separator;
	line->timestamps = run->timestamps;
	line->explain = run->explain;
	line->verbose = run->verbose;
	line->ring_bytes = run->ring_bytes;
	line->command = run->command;
	if (run->live) {
		line->live = true;
		line->live_top = line->top ?: run->live_top;
		line->top = 0;
	}
	return merge_scopes(run, line);
}

/* Checks a line. Tools with stacks check their own formats last. */
static int check(struct line *l)
{
	const struct tool_spec *spec = l->m.spec;
	const char *option = spec->alone ? spec->alone(l->m.own) : NULL;
	enum report_format format = l->cli.format;
	int err;

	if (option) {
		diag_error("%s needs a run of its own", option);
		return -EINVAL;
	}
	if (l->cli.format == FORMAT_OPENMETRICS && !(spec->cli.groups & CLI_METRICS)) {
		diag_error("--format openmetrics and --listen need measurements: histograms, tables, event counts");
		return -EINVAL;
	}
	if (l->cli.live && !(spec->cli.groups & CLI_LIVE)) {
		diag_error("--live shows tables and histograms, but %s prints lines", spec->name);
		diag_hint("without --live, lines and reports are printed one after another");
		return -EINVAL;
	}
	err = spec->check ? spec->check(l->m.own, &l->cli) : 0;
	return err ?: check_format(&l->cli, format);
}

/* Refuses --help and similar options, which exit and would end a run in progress. */
static int check_words(char *const *word)
{
	static const char *const wrong[] = { "--help", "--usage", "--version" };
	size_t i;

	for (; *word; word++)
		for (i = 0; i < ARRAY_SIZE(wrong); i++)
			if (!strcmp(*word, "-?") || !strcmp(*word, "-V") ||
			    (strlen(*word) > 3 && !strncmp(*word, wrong[i], strlen(*word)))) {
				diag_error("%s cannot be part of a measurement", *word);
				return -EINVAL;
			}
	return 0;
}

static int parse_words(struct several *s, struct line *l, int argc)
{
	int err = check_words(l->words);

	if (err)
		return err;
	err = measurement__parse(&l->m, &l->cli, GROUPS_OF_RUN, argc, l->words);

	if (err == -EINVAL)
		diag_hint("options for time, output and the command follow the lines, as in: tally run 'runqlat' "
			  "'biolatency' -d 10");
	if (err)
		return err;
	l->parsed = true;
	err = impose(s, &l->cli);
	return err ?: check(l);
}

static int parse_line(struct several *s, struct line *l)
{
	const struct tool_spec *spec;
	int argc = words__split(l->text, &l->words), err;

	if (argc == -EINVAL)
		diag_error("'%s' ends within a quote or after a backslash", l->text);
	if (argc < 0)
		return argc;
	spec = argc ? s->find(l->words[0]) : NULL;
	if (!spec) {
		diag_error("'%s' does not begin with a measuring tool", l->text);
		diag_hint("a line is a tool with its options, in quotes, as in: "
			  "tally run 'runqlat --by cgroup' 'biolatency' -d 10");
		return -EINVAL;
	}
	err = measurement__init(&l->m, spec);
	if (err)
		return err;
	diag_speaker(spec->name);
	err = parse_words(s, l, argc);
	diag_speaker(NULL);
	return err;
}

static void free_line(struct line *l)
{
	measurement__release(&l->m);
	if (l->parsed)
		cli__free(&l->cli);
	free(l->words);
	free(l->text);
	free(l);
}

/* Returns the parsed line, or NULL after reporting the error. */
static struct line *new_line(struct several *s, const char *text)
{
	struct line *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->text = strdup(text);
	if (l->text && !parse_line(s, l))
		return l;
	if (s->plan && s->plan->reload)
		diag_hint("the line is: %s", text);
	free_line(l);
	return NULL;
}

/* Refuses equal lines for OpenMetrics, where the line is the label that distinguishes metrics. */
static int check_unique(const struct several *s, struct line *const *line, size_t n)
{
	size_t i, k;

	for (i = 0; i < n && s->run.cli->format == FORMAT_OPENMETRICS; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(line[i]->cli.command_line, line[k]->cli.command_line)) {
				diag_error("'%s' is given twice", line[i]->text);
				return -EINVAL;
			}
	return 0;
}

/* Finds a line with that text that is being measured and is not in have. */
static struct line *same_line(const struct several *s, const char *text, struct line *const *have, size_t n)
{
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		if (!s->line[i]->measured || s->line[i]->m.ended_ns || strcmp(s->line[i]->text, text))
			continue;
		for (k = 0; k < n && have[k] != s->line[i]; k++)
			;
		if (k == n)
			return s->line[i];
	}
	return NULL;
}

static bool is_among(const struct line *l, struct line *const *line, size_t n)
{
	while (n--)
		if (line[n] == l)
			return true;
	return false;
}

/* Ends and frees the lines that are not in others. */
static void free_lines_but(struct line **line, size_t n, struct line *const *others, size_t nothers)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct line *l = line[i];

		if (is_among(l, others, nothers))
			continue;
		if (l->m.run) {
			if (l->measured)
				measurement__disarm(&l->m);
			if (l->m.spec->end)
				(void)l->m.spec->end(&l->m, 0);
		}
		free_line(l);
	}
	free(line);
}

/* Returns an array of n lines, reusing those already measured. NULL after reporting the error. */
static struct line **parse_lines(struct several *s, const char *const *text, size_t n)
{
	struct line **line = calloc(n ?: 1, sizeof(struct line *));
	size_t i;

	for (i = 0; line && i < n; i++) {
		line[i] = same_line(s, text[i], line, i) ?: new_line(s, text[i]);
		if (!line[i])
			break;
	}
	if (line && i == n && !check_unique(s, line, n))
		return line;
	if (line)
		free_lines_but(line, i, s->line, s->n);
	return NULL;
}

/*
 * --- the run -----------------------------------------------------------------------------------
 */

/* Scopes a line to the command unless the line has its own scope, as perf does. */
static void follow_command(const struct cli *run, struct cli *line)
{
	const struct scope_options *o = &line->scope;

	if (!o->npids && !o->ntids && !o->all)
		line->scope.command_pid = run->scope.command_pid;
	else
		line->scope.command_apart = run->scope.command_pid ?: run->scope.command_apart;
}

/* Loads and attaches a measurement, which can then be armed. */
static int begin(struct measurement *m)
{
	int err = measurement__load(m);

	if (!err)
		err = m->cli->explain ? measurement__tell(m) : measurement__begin(m);
	return err;
}

/*
 * True if the error would stop every line: a usage error, a missing permission or a failed output, not a limit of the
 * kernel.
 */
static bool is_for_all(const struct run *run, int err)
{
	return run->writer.failed || err == -EINVAL || err == -EPERM || err == -EMFILE || err == -ENFILE ||
	       err == -ENOMEM;
}

static int add_line(struct run *run, struct line *l)
{
	struct measurement *m = &l->m;
	int err;

	follow_command(run->cli, m->cli);
	err = run__add(run, m);
	if (err)
		return err;
	err = begin(m);
	l->measured = !err;
	if (err)
		run->n--;
	return err;
}

/* Adds a line, and reports it if it cannot be measured. Returns the result of add_line(). */
static int add_new_line(struct run *run, struct line *l)
{
	int err;

	diag_speaker(l->m.tool);
	err = add_line(run, l);
	if (err && !is_for_all(run, err)) {
		diag_warn("'%s' is left out", l->text);
		run->absent[run->nabsent++] = (struct run_absent){ l->m.tool, l->cli.command_line };
	}
	diag_speaker(NULL);
	return err;
}

static bool is_any_measured(struct line *const *line, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (line[i]->measured)
			return true;
	return false;
}

/* Keeps measured lines and begins the others. At least one of the first `needed` lines must work. */
static int add_lines(struct run *run, struct line **line, size_t n, size_t needed)
{
	int err = 0, last = 0;
	size_t i;

	run->n = run->nabsent = 0;
	for (i = 0; i < n && !err; i++) {
		if (line[i]->measured) {
			run->measurement[run->n++] = &line[i]->m;
			continue;
		}
		last = add_new_line(run, line[i]) ?: last;
		err = last && is_for_all(run, last) ? last : 0;
	}
	return err ?: is_any_measured(line, needed) ? 0 : last;
}

/*
 * --- other lines, while it runs ----------------------------------------------------------------
 */

static int arm_new(struct several *s, struct line *const *line, size_t n)
{
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++)
		if (line[i]->measured && !is_among(line[i], s->line, s->n))
			err = run__arm_late(&line[i]->m);
	return err;
}

/* The measurements before the reload, restored if it fails. */
struct former {
	struct measurement *measurement[RUN_MOST];
	struct run_absent absent[RUN_MOST];
	size_t n, nabsent;
};

static void keep_former(struct former *f, const struct run *run)
{
	memcpy(f->measurement, run->measurement, sizeof(f->measurement));
	memcpy(f->absent, run->absent, sizeof(f->absent));
	f->n = run->n;
	f->nabsent = run->nabsent;
}

static void restore_former(const struct former *f, struct run *run)
{
	memcpy(run->measurement, f->measurement, sizeof(f->measurement));
	memcpy(run->absent, f->absent, sizeof(f->absent));
	run->n = f->n;
	run->nabsent = f->nabsent;
}

/* Applies all changes or none. */
static int change_lines(struct several *s, const char *const *text, size_t n)
{
	struct line **line = parse_lines(s, text, n);
	struct former former;
	int err;

	if (!line)
		return -EINVAL;
	keep_former(&former, &s->run);
	err = add_lines(&s->run, line, n, n);
	if (!err)
		err = arm_new(s, line, n);
	if (err) {
		restore_former(&former, &s->run);
		free_lines_but(line, n, s->line, s->n);
		return err;
	}
	free_lines_but(s->line, s->n, line, n);
	s->line = line;
	s->n = n;
	return 0;
}

static void reload(void *several)
{
	struct several *s = several;
	struct run_metrics *m = &s->run.metrics;
	const char *text[RUN_MOST];
	size_t n = 0;
	int err = s->plan->reload(s->plan->sink.context, text, &n);

	if (!err)
		err = change_lines(s, text, n);
	m->reads++;
	m->failures += err != 0;
	m->is_read = !err;
	if (err) {
		diag_warn("the measurement continues");
	} else {
		m->read_ns = realtime_ns();
		diag_hint("%zu of %zu lines are measured", s->run.n, n);
	}
}

static int measure(struct several *s)
{
	size_t needed = s->plan && s->plan->needed ? s->plan->needed : s->n, i;
	int err = add_lines(&s->run, s->line, s->n, needed);

	if (!err && !s->run.cli->explain)
		err = run__loop(&s->run);
	for (i = 0; i < s->n; i++)
		if (s->line[i]->m.run && s->line[i]->m.spec->end)
			err = s->line[i]->m.spec->end(&s->line[i]->m, err);
	return err;
}

static int take_plan(struct several *s)
{
	struct run *run = &s->run;

	if (s->plan->sink.report)
		run->writer.sink = &s->plan->sink;
	if (run->writer.sink && run->cli->format == FORMAT_OPENMETRICS) {
		run->writer.metrics = openmetrics__new(NULL);
		if (!run->writer.metrics)
			return -ENOMEM;
	}
	if (!s->plan->reload)
		return 0;
	run->reload = reload;
	run->reloader = s;
	run->metrics.has_file = run->metrics.is_read = true;
	run->metrics.read_ns = run->metrics.started_ns;
	return 0;
}

static int run_lines(struct several *s, struct cli *cli)
{
	int err = run__init(&s->run, cli), code;
	size_t i;

	if (!err && s->plan && s->plan->begin && !cli->explain)
		err = s->plan->begin(s->plan->sink.context, &s->run);
	if (!err && s->plan && !cli->explain)
		err = take_plan(s);
	if (!err)
		err = measure(s);
	run__release(&s->run);
	code = run__exit_code(&s->run, err);
	for (i = 0; i < s->n; i++)
		free_line(s->line[i]);
	return code;
}

static int check_run(const struct several *s, const struct cli *cli)
{
	if (!s->text.n) {
		diag_error("nothing to measure");
		diag_hint("as in: tally run 'runqlat --by cgroup' 'biolatency --by disk' -d 10");
		return -EINVAL;
	}
	if (cli->format == FORMAT_CSV) {
		diag_error("--csv has one header for all lines, but each tool has its own columns; use --json");
		return -EINVAL;
	}
	return several_lines__check(&s->text);
}

static int parse_and_run(struct several *s, struct cli *cli)
{
	struct line **line;
	int code;

	s->run.cli = cli;
	s->run.several = true;
	line = parse_lines(s, s->text.line, s->text.n);
	if (!line)
		return EXIT_USAGE;
	s->line = line;
	s->n = s->text.n;
	code = run_lines(s, cli);
	free(s->line);
	return code;
}

int several__run(several_find find, const struct several_plan *plan, struct cli *cli)
{
	struct several s = { .find = find, .plan = plan };

	while (s.text.n < plan->n && s.text.n < RUN_MOST) {
		s.text.line[s.text.n] = plan->line[s.text.n];
		s.text.n++;
	}
	return parse_and_run(&s, cli);
}

int several__main(several_find find, int argc, char **argv)
{
	struct several s = { .find = find };
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_OUTPUT | CLI_RUN | CLI_COMMAND | CLI_LIVE,
		.doc = "Several measurements at the same time: each 'TOOL [OPTION...]' in quotes, then the options "
		       "for all of them.",
		.formats = "text, json, html, openmetrics, prometheus",        /* each tool has its own columns */
		.args_doc = "'TOOL [OPTION...]'... [INTERVAL [COUNT]]\n"
			    "'TOOL [OPTION...]'... -- COMMAND [ARG...]",
		.own_input = &s,
		.takes = takes,
		.arguments = complete_tools,
	};
	struct cli cli;
	int code = EXIT_USAGE;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (!check_run(&s, &cli))
		code = parse_and_run(&s, &cli);
	cli__free(&cli);
	return code;
}
