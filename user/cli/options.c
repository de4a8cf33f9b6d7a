// SPDX-License-Identifier: BSD-2-Clause
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/task_key.h"
#include "base/numbers.h"
#include "cli/prescan.h"
#include "out/diag.h"
#include "out/replace.h"

/* Keys of options without a letter. */
enum {
	KEY_COMM = 0x100,
	KEY_PIDNS,
	KEY_BY,
	KEY_MAX_KEYS,
	KEY_TOP,
	KEY_SORT,
	KEY_JSON,
	KEY_CSV,
	KEY_FORMAT,
	KEY_STRICT,
	KEY_READY_FD,
	KEY_FILTER,
	KEY_TEMPLATE,
	KEY_RING_SIZE,
	KEY_HEAT,
	KEY_OVERHEAD,
	KEY_BUDGET,
};

/* The kernel's limit on pids, PID_MAX_LIMIT on 64-bit machines. */
#define PID_LIMIT (4U << 20)

/* A day in a year's seconds is enough for any -d. */
#define LONGEST_NS (366 * 86400 * NSEC_PER_SEC)

static int bad_value(const char *option, const char *value, const char *wanted)
{
	diag_error("%s: '%s' is not %s", option, value, wanted);
	return EINVAL;
}

static int parse_ids(const char *option, const char *value, u32 **ids, size_t *n)
{
	free(*ids);
	*ids = NULL;
	if (parse_id_list(value, 1, PID_LIMIT, ids, n))
		return bad_value(option, value, "a list of numbers like 12,345");
	return 0;
}

static error_t parse_scope(int key, char *arg, struct argp_state *state)
{
	struct scope_options *o = &((struct cli *)state->input)->scope;
	u64 n;

	switch (key) {
	case 'p':
		return parse_ids("-p", arg, &o->pids, &o->npids);
	case 't':
		return parse_ids("-t", arg, &o->tids, &o->ntids);
	case 'u':
		o->user = arg;
		return 0;
	case 'G':
		o->cgroup = arg;
		return 0;
	case 'C':
		o->cpus = arg;
		return 0;
	case 'a':
		o->all = true;
		return 0;
	case KEY_COMM:
		o->comm = arg;
		return 0;
	case KEY_PIDNS:
		o->pidns = true;
		if (arg && parse_u64_between(arg, 1, PID_LIMIT, &n))
			return bad_value("--pidns", arg, "a process number");
		o->pidns_of = arg ? n : 0;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option scope_options[] = {
	{NULL, 0, NULL, 0,
	 "Scope (all conditions must hold; about the task the event is about):", 3},
	{"pid", 'p', "PID,..", 0, "These processes", 3},
	{"tid", 't', "TID,..", 0, "These threads", 3},
	{"uid", 'u', "USER", 0, "Tasks of this user (name or number)", 3},
	{"cgroup", 'G', "CGROUP", 0, "Tasks in this cgroup or below it", 3},
	{"cpu", 'C', "CPUS", 0, "Events on these CPUs, e.g. 0,2-5", 3},
	{"comm", KEY_COMM, "GLOB", 0, "Tasks with such a name, e.g. 'nginx*'", 3},
	{"pidns", KEY_PIDNS, "PID", OPTION_ARG_OPTIONAL,
	 "Tasks in the pid namespace of PID (default: the tool's own)", 3},
	{"all", 'a', NULL, 0, "Everything (the default without a scope or a command)", 3},
	{},
};

static error_t parse_time(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;
	u64 n;

	switch (key) {
	case 'I':
		if (parse_duration(arg, NSEC_PER_MSEC, &n) || n < NSEC_PER_MSEC || n > LONGEST_NS)
			return bad_value("-I", arg, "a time in milliseconds, at least 1");
		cli->interval_ns = n;
		return 0;
	case 'd':
		if (parse_duration(arg, NSEC_PER_SEC, &n) || !n || n > LONGEST_NS)
			return bad_value("-d", arg, "a time in seconds, like 10 or 2.5 or 5m");
		cli->duration_ns = n;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option time_options[] = {
	{ NULL, 0, NULL, 0, "Time:", 4 },
	{ "duration", 'd', "SECONDS", 0, "Stop after this time in all", 4 },
	{ "interval", 'I', "MS", 0, "A report each MS milliseconds", 4 },
	{},
};

static error_t parse_keys(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;
	char bad[64];
	u64 n;
	u32 by;

	switch (key) {
	case KEY_BY:
		if (cli->own_keys) {
			if (cli->by_text)
				diag_error("--by is given twice; name all keys in one, as in --by "
					   "comm,cpu");
			return cli->by_text ? EINVAL : !(cli->by_text = arg);
		}
		if (task_key__parse(arg, cli->own_parts, &by, bad, sizeof(bad))) {
			diag_error("--by: no key '%s'; there are %s%s%s", bad, task_key_parts(),
				   cli->own_parts ? ", " : "",
				   cli->own_parts ? cli->own_parts->text : "");
			return EINVAL;
		}
		cli->by |= by;
		return 0;
	case 'P':
		cli->by |= BY_PID;
		return 0;
	case 'L':
		cli->by |= BY_TID;
		return 0;
	case KEY_MAX_KEYS:
		if (parse_u64_between(arg, 1, 100000000, &n))
			return bad_value("--max-keys", arg, "a number of keys");
		cli->max_keys = n;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option key_options[] = {
	{ NULL, 0, NULL, 0, "Grouping:", 5 },
	{ "by", KEY_BY, "KEY,..", 0, "One result per pid, tid, comm, cgroup, cpu, pidns, uid", 5 },
	{ NULL, 'P', NULL, 0, "By process, like --by pid", 5 },
	{ NULL, 'L', NULL, 0, "By thread, like --by tid", 5 },
	{ "max-keys", KEY_MAX_KEYS, "N", 0, "Make room for about N keys (default 10240)", 5 },
	{},
};

/* argp's: what is returned is freed unless it is text. */
static char *name_own_parts(int key, const char *text, void *input)
{
	const struct cli *cli = input;
	char *more;

	if (key != KEY_BY || !cli || !cli->own_parts ||
	    asprintf(&more, "%s; of this tool: %s", text, cli->own_parts->text) < 0)
		return (char *)text;
	return more;
}

static error_t parse_top(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	if (key != KEY_TOP)
		return ARGP_ERR_UNKNOWN;
	if (parse_u64_between(arg, 1, UINT32_MAX, &cli->top))
		return bad_value("--top", arg, "a number from 1 on");
	return 0;
}

static const struct argp_option top_options[] = {
	{ "top", KEY_TOP, "N", 0, "Show the first N results only", 5 },
	{},
};

static error_t parse_sort(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	if (key != KEY_SORT)
		return ARGP_ERR_UNKNOWN;
	cli->sort = report_sort_column(arg);
	if (cli->sort >= 0)
		return 0;
	diag_error("--sort: no column '%s'; there are %s", arg, report_sort_columns());
	return EINVAL;
}

static const struct argp_option sort_options[] = {
	{ "sort", KEY_SORT, "COL", 0,
	  "Order by key, count, sum, min, avg, max, p50, p90, p99 or p999", 5 },
	{},
};

static error_t parse_heat(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	(void)arg;
	if (key != KEY_HEAT)
		return ARGP_ERR_UNKNOWN;
	cli->heat = true;
	return 0;
}

static const struct argp_option heat_options[] = {
	{ "heat", KEY_HEAT, NULL, 0,
	  "A heat map: values over time; an SVG file with -o NAME.svg or --format svg", 5 },
	{},
};

static error_t add_event(struct cli *cli, const char *text)
{
	const char **larger = realloc(cli->events, (cli->nevents + 1) * sizeof(*larger));

	if (!larger)
		return ENOMEM;
	cli->events = larger;
	cli->events[cli->nevents++] = text;
	return 0;
}

static error_t parse_events(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	switch (key) {
	case 'e':
		return add_event(cli, arg);
	case 'x':
		cli->binary = arg;
		return 0;
	case KEY_FILTER:
		cli->filter = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option event_options[] = {
	{NULL, 0, NULL, 0, "Events (`list` shows them):", 2},
	{"event", 'e', "EVENT,..", 0, "These events, as perf names them; may be given again", 2},
	{"binary", 'x', "FILE", 0, "Functions and USDT probes are those of this program or library",
	 2},
	{"filter", KEY_FILTER, "EXPR", 0, "Only events whose fields are so, e.g. 'count < 10'", 2},
	{},
};

static error_t parse_output(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;
	int format;

	switch (key) {
	case KEY_JSON:
		cli->format = FORMAT_JSON;
		return 0;
	case KEY_CSV:
		if (arg && (strlen(arg) != 1 || strchr("\"\r\n", *arg)))
			return bad_value("--csv", arg, "one character to stand between fields");
		cli->format = FORMAT_CSV;
		cli->separator = arg ? *arg : ',';
		return 0;
	case KEY_FORMAT:
		format = report_format(arg);
		if (format < 0)
			return bad_value("--format", arg, "one of text, json, csv, openmetrics");
		cli->format = format;
		return 0;
	case 'o':
		cli->output = arg;
		return 0;
	case 'T':
		cli->timestamps = true;
		return 0;
	case 'v':
		cli->verbose = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option output_options[] = {
	{NULL, 0, NULL, 0, "Output:", 6},
	{"json", KEY_JSON, NULL, 0, "JSON, one object per line", 6},
	{"csv", KEY_CSV, "SEP", OPTION_ARG_OPTIONAL, "Comma-separated values, or SEP between them",
	 6},
	{"format", KEY_FORMAT, "NAME", 0, "text, json, csv or openmetrics", 6},
	{"output", 'o', "FILE", 0, "Write to FILE, made anew, mode 0600", 6},
	{"timestamps", 'T', NULL, 0, "Begin each report with its time", 6},
	{"verbose", 'v', NULL, 0, "Say more on standard error, libbpf's messages included", 6},
	{},
};

static error_t parse_lines(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	switch (key) {
	case KEY_TEMPLATE:
		cli->template_text = arg;
		return 0;
	case KEY_RING_SIZE:
		if (parse_u64_between(arg, 4096, 1U << 30, &cli->ring_bytes))
			return bad_value("--ring-size", arg, "a size from 4K to 1G");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option lines_options[] = {
	{ "template", KEY_TEMPLATE, "TEXT", 0,
	  "How a line looks: '{time} {comm} {pid}', with names as in --json", 6 },
	{ "ring-size", KEY_RING_SIZE, "SIZE", 0,
	  "Memory for lines on their way: 16M where some are lost (ring_full)", 6 },
	{},
};

static error_t parse_times(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	(void)arg;
	if (key != 'm')
		return ARGP_ERR_UNKNOWN;
	cli->milliseconds = true;
	return 0;
}

static const struct argp_option times_options[] = {
	{ "milliseconds", 'm', NULL, 0, "Show all times in milliseconds", 6 },
	{},
};

/* "0.5", "1%": above 0, at most 100. */
static int parse_percent(const char *text, double *percent)
{
	char *end;

	if (!isdigit((unsigned char)*text) || text[strspn(text, "0123456789.%")])
		return -EINVAL;
	*percent = strtod(text, &end);
	if (*end == '%')
		end++;
	return *end || !(*percent > 0 && *percent <= 100) ? -EINVAL : 0;
}

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;
	u64 n;

	switch (key) {
	case 'n':
		cli->explain = true;
		return 0;
	case KEY_STRICT:
		cli->strict = true;
		return 0;
	case KEY_READY_FD:
		if (parse_u64_between(arg, 1, 1 << 20, &n) || fcntl(n, F_GETFD) < 0)
			return bad_value("--ready-fd", arg, "an open file descriptor");
		cli->ready_fd = n;
		return 0;
	case KEY_BUDGET:
		if (parse_percent(arg, &cli->budget))
			return bad_value("--budget", arg, "a share of the machine in percent, like 0.5");
		cli->overhead = true;
		return 0;
	case KEY_OVERHEAD:
		cli->overhead = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option run_options[] = {
	{NULL, 0, NULL, 0, "Run:", 7},
	{"explain", 'n', NULL, 0, "Say what would be done, and do nothing", 7},
	{"strict", KEY_STRICT, NULL, 0, "Exit with 3 if anything was lost", 7},
	{"ready-fd", KEY_READY_FD, "N", 0, "Write a line to descriptor N when measuring begins", 7},
	{"overhead", KEY_OVERHEAD, NULL, 0, "Say what the measurement itself cost, by program", 7},
	{"budget", KEY_BUDGET, "PERCENT", 0,
	 "Stop measuring when the programs take more of the machine's CPU time than this", 7},
	{},
};

/* [interval [count]] */
static int parse_positional(struct cli *cli, const struct cli_spec *spec, unsigned int i, char *arg)
{
	u64 n;

	if (!(spec->groups & CLI_TIME)) {
		diag_error("unexpected argument '%s'", arg);
		return EINVAL;
	}
	if (i == 0 && !parse_duration(arg, NSEC_PER_SEC, &n) && n >= NSEC_PER_MSEC &&
	    n <= LONGEST_NS) {
		cli->interval_ns = n;
		return 0;
	}
	if (i == 1 && !parse_u64_between(arg, 1, UINT32_MAX, &cli->count))
		return 0;
	if (i > 1) {
		diag_error("unexpected argument '%s' after the interval and the count", arg);
		return EINVAL;
	}
	diag_error("'%s' is not %s", arg, i ? "a count of reports" : "an interval in seconds");
	if (!i && spec->groups & CLI_EVENTS)
		diag_hint("an event stands behind -e, as in: %s -e %s",
			  program_invocation_short_name, arg);
	if (!i && spec->groups & CLI_COMMAND)
		diag_hint("a command to run stands behind --, as in: %s -- %s",
			  program_invocation_short_name, arg);
	return EINVAL;
}

struct parse_input {
	struct cli *cli;
	const struct cli_spec *spec;
	const struct argp_child *children;
	unsigned int taken;     /* positional arguments that were the tool's */
};

static error_t parse_root(int key, char *arg, struct argp_state *state)
{
	struct parse_input *in = state->input;
	int i;

	switch (key) {
	case ARGP_KEY_INIT:
		for (i = 0; in->children[i].argp; i++) {
			bool own = in->children[i].argp == in->spec->own;

			state->child_inputs[i] = own ? in->spec->own_input : in->cli;
		}
		return 0;
	case ARGP_KEY_ARG:
		/* A tool that takes arguments of its own names them in its argp. */
		if (in->spec->takes && in->spec->takes(in->spec->own_input, arg)) {
			in->taken++;
			return 0;
		}
		if (in->spec->own && in->spec->own->args_doc && !in->spec->takes)
			return ARGP_ERR_UNKNOWN;
		return parse_positional(in->cli, in->spec, state->arg_num - in->taken, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Heat maps drawn with --by where --top does not say. */
#define HEAT_TOP 4

/*
 * The columns of a heat map where no interval is given: sixty, or as many as there are seconds.
 * Commands may be short.
 */
static u64 heat_interval_ns(const struct cli *cli)
{
	u64 least = 100 * NSEC_PER_MSEC, ns = cli->duration_ns / 60;

	if (!ns && cli->command)
		return least;
	if (!ns || ns > NSEC_PER_SEC)
		return NSEC_PER_SEC;
	return ns < least ? least : ns;
}

/* What --heat implies. Maps are sorted and cut when the run has ended, its reports are not. */
static void settle_heat(struct cli *cli)
{
	const char *end = cli->output ? strrchr(cli->output, '.') : NULL;

	if (!cli->heat)
		return;
	if (cli->format == FORMAT_TEXT && end && !strcmp(end, ".svg"))
		cli->format = FORMAT_SVG;
	cli->heat_live = cli->interval_ns;
	if (!cli->interval_ns)
		cli->interval_ns = heat_interval_ns(cli);
	if (cli->format == FORMAT_TEXT || cli->format == FORMAT_SVG) {
		cli->heat_top = cli->top ?: HEAT_TOP;
		cli->top = 0;
	}
}

/* What no single option can see. */
static int check_together(const struct cli *cli, const struct cli_spec *spec)
{
	const struct scope_options *s = &cli->scope;

	if (cli->format == FORMAT_OPENMETRICS && (cli->heat || !(spec->groups & CLI_RUN))) {
		diag_error("--format openmetrics is of measurements: histograms, tables, numbers of "
			   "events");
		return -EINVAL;
	}
	if (cli->format == FORMAT_SVG && !cli->heat) {
		diag_error("--format svg is the format of heat maps: it goes with --heat");
		return -EINVAL;
	}

	if (s->all && (s->npids || s->ntids || s->user || s->cgroup || s->comm || s->pidns)) {
		diag_error(
			"-a means every task; it cannot be combined with -p, -t, -u, -G, --comm or "
			"--pidns");
		return -EINVAL;
	}
	if (cli->count && cli->duration_ns) {
		diag_error("-d and a count of reports both say when to stop; give one of them");
		return -EINVAL;
	}
	return 0;
}

static int take_command(struct cli *cli, const struct cli_spec *spec, int argc, char **argv,
			int end)
{
	if (end == argc)
		return 0;
	if (!(spec->groups & CLI_COMMAND)) {
		diag_error("no command can be given here");
		return -EINVAL;
	}
	if (end + 1 == argc) {
		diag_error("no command behind --");
		return -EINVAL;
	}
	cli->command = argv + end + 1;
	return 0;
}

/* Before argp sorts argv. NULL when there is no memory for it. */
static char *joined(int argc, char **argv)
{
	size_t length = 1;
	char *text, *end;
	int i;

	for (i = 0; i < argc; i++)
		length += strlen(argv[i]) + 1;
	text = end = malloc(length);
	if (!text)
		return NULL;
	*text = 0;
	for (i = 0; i < argc; i++)
		end = stpcpy(stpcpy(end, i ? " " : ""), argv[i]);
	return text;
}

int cli__parse(struct cli *cli, const struct cli_spec *spec, int argc, char **argv)
{
	static const struct argp scope = { .options = scope_options, .parser = parse_scope };
	static const struct argp time = { .options = time_options, .parser = parse_time };
	static const struct argp keys = {
		.options = key_options, .parser = parse_keys, .help_filter = name_own_parts,
	};
	static const struct argp lines = { .options = lines_options, .parser = parse_lines };
	static const struct argp sort = { .options = sort_options, .parser = parse_sort };
	static const struct argp heat = { .options = heat_options, .parser = parse_heat };
	static const struct argp top = { .options = top_options, .parser = parse_top };
	static const struct argp events = { .options = event_options, .parser = parse_events };
	static const struct argp output = { .options = output_options, .parser = parse_output };
	static const struct argp times = { .options = times_options, .parser = parse_times };
	static const struct argp run = { .options = run_options, .parser = parse_run };
	static const struct {
		u32 group;
		const struct argp *argp;
	} all[] = {
		{ CLI_SCOPE, &scope },   { CLI_TIME, &time },     { CLI_KEYS, &keys },
		{ CLI_SORT, &sort },     { CLI_HEAT, &heat },     { CLI_OUTPUT, &output },
		{ CLI_TIMES, &times },
		{ CLI_RUN, &run },       { CLI_TOP, &top },       { CLI_EVENTS, &events },
		{ CLI_LINES, &lines },
	};
	struct argp_child children[ARRAY_SIZE(all) + 2] = {};
	struct argp root = { .parser = parse_root, .doc = spec->doc, .children = children };
	struct parse_input input = { cli, spec, children, 0 };
	size_t i, n = 0;
	int err, end;

	*cli = (struct cli){
		.max_keys = CLI_DEFAULT_MAX_KEYS, .sort = -1, .ready_fd = -1, .separator = ',',
		.command_line = joined(argc, argv), .own_keys = spec->own_keys,
		.own_parts = spec->own_parts,
	};
	if (spec->groups & CLI_TIME && !(spec->own && spec->own->args_doc))
		root.args_doc = spec->groups & CLI_COMMAND
					? "[INTERVAL [COUNT]]\n-- COMMAND [ARG...]"
					: "[INTERVAL [COUNT]]";
	if (spec->own)
		children[n++].argp = spec->own;
	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (spec->groups & all[i].group)
			children[n++].argp = all[i].argp;

	err = cli_prescan(&root, argc, argv, &end);
	if (!err)
		err = take_command(cli, spec, argc, argv, end);
	if (!err && argp_parse(&root, end, argv, 0, NULL, &input))
		err = -EINVAL;
	if (!err)
		err = check_together(cli, spec);
	if (!err)
		settle_heat(cli);
	if (err)
		cli__free(cli);
	return err;
}

bool cli__picks_tasks(const struct cli *cli)
{
	const struct scope_options *s = &cli->scope;

	return s->npids || s->ntids || s->user || s->cgroup || s->comm || s->pidns || cli->command;
}

void cli__free(struct cli *cli)
{
	scope_options__free(&cli->scope);
	free(cli->command_line);
	free(cli->events);
	cli->events = NULL;
	cli->command_line = NULL;
}

static int open_output(const char *path)
{
	struct stat st;
	int fd;

	if (!lstat(path, &st)) {
		if (!S_ISREG(st.st_mode)) {
			diag_error("-o: '%s' is there and is not a regular file", path);
			return -EEXIST;
		}
		if (unlink(path)) {
			diag_error("-o: '%s': %s", path, strerror(errno));
			return -errno;
		}
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		fd = -errno;
		diag_error("-o: '%s': %s", path, strerror(-fd));
	}
	return fd;
}

/* Single events have no place there: what is not a report goes nowhere. */
static int open_metrics(const struct cli *cli, struct writer *w)
{
	int err = replace_file(cli->output, "# EOF\n", 6);

	if (err) {
		diag_error("-o: '%s': %s", cli->output,
			   err == -EEXIST ? "is there and is not a regular file" : strerror(-err));
		return err;
	}
	w->path = cli->output;
	w->file = fopen("/dev/null", "we");
	return w->file ? 0 : -errno;
}

int cli__open_writer(const struct cli *cli, struct writer *w)
{
	int fd;

	*w = (struct writer){
		.file = stdout, .format = cli->format, .separator = cli->separator,
		.milliseconds = cli->milliseconds, .timestamps = cli->timestamps,
		.top = cli->metrics_top,
	};
	if (cli->output && cli->format == FORMAT_OPENMETRICS && !cli->explain)
		return open_metrics(cli, w);
	if (cli->output) {
		fd = open_output(cli->output);
		if (fd < 0)
			return fd;
		w->file = fdopen(fd, "w");
		if (!w->file) {
			close(fd);
			return -ENOMEM;
		}
	}
	setvbuf(w->file, NULL, _IOLBF, 0);
	return 0;
}
