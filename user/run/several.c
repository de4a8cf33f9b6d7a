// SPDX-License-Identifier: BSD-2-Clause
#include "run/several.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "report/diag.h"

/* What is the run's, and stands in no line. */
#define GROUPS_OF_RUN (CLI_TIME | CLI_OUTPUT | CLI_RUN | CLI_COMMAND | CLI_HEAT)

/* One line, and what became of it. */
struct line {
	const char *text;
	char **words;
	bool parsed;                    /* cli is to be freed */
	struct cli cli;
	struct measurement m;
};

struct several {
	several_find find;
	const struct several_plan *plan;        /* NULL: the lines were typed */
	const char *text[RUN_MOST];
	struct line *line;
	size_t n;
	bool interval_begun;            /* what follows is interval and count */
	struct run run;
};

/*
 * --- the command line --------------------------------------------------------------------------
 */

/* Anything but a number is a line, until the interval has begun. */
static bool takes(void *input, char *arg)
{
	struct several *s = input;

	s->interval_begun |= isdigit((unsigned char)arg[0]) || arg[0] == '.';
	if (s->interval_begun || s->n == RUN_MOST)
		return false;
	s->text[s->n++] = arg;
	return true;
}

/* The run's value of a scope option becomes the line's, which may not have one. */
static int merge(const void *of_run, void *of_line, size_t size, const char *option)
{
	static const char nothing[16];

	if (!memcmp(of_run, nothing, size))
		return 0;
	if (memcmp(of_line, nothing, size)) {
		diag_error("%s is given here and for the whole run; give it once", option);
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
		diag_error("%s is given here and for the whole run; give it once", option);
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
	l->all |= r->all;
	return err;
}

static int check_format(const struct cli *line, enum report_format format)
{
	if (line->format == format)
		return 0;
	diag_error("the format is the run's: it stands behind the lines");
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
	line->format = s->plan ? FORMAT_JSON : run->format;     /* all rows: no first few for people */
	line->separator = run->separator;
	line->timestamps = run->timestamps;
	line->explain = run->explain;
	line->verbose = run->verbose;
	line->ring_bytes = run->ring_bytes;
	line->command = run->command;
	return merge_scopes(run, line);
}

/* Tools with stacks have formats of their own, which they look at last. */
static int check(struct line *l)
{
	const struct tool_spec *spec = l->m.spec;
	const char *option = spec->alone ? spec->alone(l->m.own) : NULL;
	enum report_format format = l->cli.format;
	int err;

	if (option) {
		diag_error("%s is for a run of its own", option);
		return -EINVAL;
	}
	err = spec->check ? spec->check(l->m.own, &l->cli) : 0;
	return err ?: check_format(&l->cli, format);
}

static int parse_words(struct several *s, struct line *l, int argc)
{
	int err = measurement__parse(&l->m, &l->cli, GROUPS_OF_RUN, argc, l->words);

	if (err == -EINVAL)
		diag_hint("options about time, output and the command stand behind the lines, as in: "
			  "tally run 'runqlat' 'biolatency' -d 10");
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
		diag_error("'%s' ends within a quote or behind a backslash", l->text);
	if (argc < 0)
		return argc;
	spec = argc ? s->find(l->words[0]) : NULL;
	if (!spec) {
		diag_error("'%s' begins with no tool that measures", l->text);
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

static int parse_lines(struct several *s)
{
	int err = 0;
	size_t i;

	s->line = calloc(s->n, sizeof(*s->line));
	if (!s->line)
		return -ENOMEM;
	for (i = 0; i < s->n && !err; i++) {
		s->line[i].text = s->text[i];
		err = parse_line(s, &s->line[i]);
	}
	return err;
}

/*
 * --- the run -----------------------------------------------------------------------------------
 */

/* The command is everybody's subject unless a line has one of its own: perf's habit. */
static void follow_command(const struct cli *run, struct cli *line)
{
	const struct scope_options *o = &line->scope;

	if (!o->npids && !o->ntids && !o->all)
		line->scope.command_pid = run->scope.command_pid;
}

/* Ready to be armed. */
static int begin(struct measurement *m)
{
	int err = measurement__load(m);

	if (!err)
		err = m->cli->explain ? measurement__tell(m) : measurement__begin(m);
	return err;
}

/* Is it no fault of the kernel, that others may be spared? A mistake in a line, a missing right. */
static bool is_for_all(int err)
{
	return err == -EINVAL || err == -EPERM || err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

static int add_lines(struct several *s)
{
	struct run *run = &s->run;
	int err = 0, last = 0;
	size_t i;

	for (i = 0; i < s->n && !err; i++) {
		struct measurement *m = &s->line[i].m;

		diag_speaker(m->tool);
		follow_command(run->cli, m->cli);
		err = run__add(run, m);
		if (!err) {
			last = begin(m);
			if (last)
				run->n--;
			if (is_for_all(last))
				err = last;
			else if (last)
				diag_warn("'%s' is left out", s->line[i].text);
		}
		diag_speaker(NULL);
	}
	return err ?: run->n ? 0 : last;
}

static int measure(struct several *s)
{
	int err = add_lines(s);
	size_t i;

	if (!err && !s->run.cli->explain)
		err = run__loop(&s->run);
	for (i = 0; i < s->n; i++)
		if (s->line[i].m.run && s->line[i].m.spec->end)
			err = s->line[i].m.spec->end(&s->line[i].m, err);
	return err;
}

static void free_line(struct line *l)
{
	measurement__release(&l->m);
	if (l->parsed)
		cli__free(&l->cli);
	free(l->words);
}

static int run_lines(struct several *s, struct cli *cli)
{
	int err = run__init(&s->run, cli), code;
	size_t i;

	if (!err && s->plan && !cli->explain) {
		err = s->plan->begin(s->plan->sink.context, &s->run);
		s->run.writer.sink = &s->plan->sink;
	}
	if (!err)
		err = measure(s);
	run__release(&s->run);
	code = run__exit_code(&s->run, err);
	for (i = 0; i < s->n; i++)
		free_line(&s->line[i]);
	return code;
}

static int check_run(const struct several *s, const struct cli *cli)
{
	if (!s->n) {
		diag_error("nothing to measure");
		diag_hint("as in: tally run 'runqlat --by cgroup' 'biolatency --by disk' -d 10");
		return -EINVAL;
	}
	if (cli->format == FORMAT_CSV) {
		diag_error("--csv has one heading for all lines, and each tool has its own; --json has both");
		return -EINVAL;
	}
	if (cli->format == FORMAT_OPENMETRICS) {
		diag_error("--listen and --format openmetrics are of one tool: start one for each");
		return -EINVAL;
	}
	return 0;
}

static int parse_and_run(struct several *s, struct cli *cli)
{
	int code = EXIT_USAGE;
	size_t i;

	s->run.cli = cli;
	if (!parse_lines(s))
		code = run_lines(s, cli);
	else
		for (i = 0; s->line && i < s->n; i++)
			free_line(&s->line[i]);
	free(s->line);
	return code;
}

int several__run(several_find find, const struct several_plan *plan, struct cli *cli)
{
	struct several s = { .find = find, .plan = plan };

	while (s.n < plan->n && s.n < RUN_MOST) {
		s.text[s.n] = plan->line[s.n];
		s.n++;
	}
	return parse_and_run(&s, cli);
}

int several__main(several_find find, int argc, char **argv)
{
	static const struct argp own = {
		.args_doc = "'TOOL [OPTION...]'... [INTERVAL [COUNT]]\n"
			    "'TOOL [OPTION...]'... -- COMMAND [ARG...]",
	};
	struct several s = { .find = find };
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_OUTPUT | CLI_RUN | CLI_COMMAND,
		.doc = "Several measurements at once, over the same time: each 'TOOL [OPTION...]' in "
		       "quotes, what is for all of them behind.",
		.own = &own,
		.own_input = &s,
		.takes = takes,
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
