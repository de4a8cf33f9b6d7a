// SPDX-License-Identifier: BSD-2-Clause
#include "cli/option_groups.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/numbers.h"
#include "cli/order.h"
#include "cli/task_key.h"
#include "host/process.h"
#include "report/diag.h"

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
	KEY_TABLE,
	KEY_HIST,
	KEY_LIVE,
	KEY_OVERHEAD,
	KEY_BUDGET,
	KEY_LISTEN,
	KEY_FOLLOW,
	KEY_NO_FOLLOW,
	KEY_REPORTS,
	KEY_DELAY,
	KEY_APPEND,
	KEY_ENV,
};

/* The kernel's limit on pids, PID_MAX_LIMIT on 64-bit machines. */
#define PID_LIMIT (4U << 20)

static int bad_value(const char *option, const char *value, const char *wanted)
{
	diag_error("%s: '%s' is not %s", option, value, wanted);
	return EINVAL;
}

static int parse_ids(const char *option, const char *value, u32 **ids, size_t *n)
{
	u32 *more = NULL;
	size_t nmore = 0;
	int err;

	if (parse_id_list(value, 1, PID_LIMIT, &more, &nmore))
		return bad_value(option, value, "a list of numbers like 12,345");
	err = array__grow(ids, *n, nmore, sizeof(*more));
	if (!err) {
		memcpy(*ids + *n, more, nmore * sizeof(*more));
		*n += nmore;
	}
	free(more);
	return -err;
}

/* Formats "1203, 1204"; a long list ends in "...". */
static void say_pids(const char *name, const u32 *pids, size_t n)
{
	char text[128] = "";
	size_t i, len = 0;

	for (i = 0; i < n && len < sizeof(text) - sizeof(", 4194304, ..."); i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%u", i ? ", " : "", pids[i]);
	diag_hint("-p %s: process %s%s", name, text, i < n ? ", ..." : "");
}

static error_t add_named(const char *name, struct scope_options *o)
{
	size_t before = o->npids;
	int found = processes_named(name, &o->pids, &o->npids);

	if (found < 0)
		return -found;
	if (!found) {
		diag_error("-p: no process is called '%s'", name);
		diag_hint("--comm '%s' is about tasks of that name, those to come, too", name);
		return EINVAL;
	}
	say_pids(name, o->pids + before, found);
	return 0;
}

/* Whether an item of the list is a name. */
static bool has_names(const char *list)
{
	while (!begins_process_name(list)) {
		list = strchr(list, ',');
		if (!list++)
			return false;
	}
	return true;
}

/* Parses pids, process names, or a mix of both. */
static error_t parse_pids(struct scope_options *o, const char *value)
{
	char *list, *rest, *each;
	error_t err = 0;

	if (!has_names(value))
		return parse_ids("-p", value, &o->pids, &o->npids);
	list = rest = strdup(value);
	if (!list)
		return ENOMEM;
	while (!err && (each = strsep(&rest, ",")))
		err = begins_process_name(each)
			      ? add_named(each, o)
			      : parse_ids("-p", each, &o->pids, &o->npids);
	free(list);
	return err;
}

/*
 * Refuses a second, different time or number, which would silently replace the first. was: 0 before
 * the first.
 */
static error_t once(const char *option, const char *value, u64 was, u64 is)
{
	if (!was || was == is)
		return 0;
	diag_error("%s is given twice, now as '%s': it takes one", option, value);
	return EINVAL;
}

/* All conditions must hold, and no task matches two users or two names: refuse a second one. */
static int parse_once(const char *option, char *value, const char **where)
{
	if (*where) {
		diag_error("%s is given twice, '%s' and '%s': it takes one", option, *where, value);
		return EINVAL;
	}
	*where = value;
	return 0;
}

static error_t parse_scope(int key, char *arg, struct argp_state *state)
{
	struct scope_options *o = &((struct cli *)state->input)->scope;
	u64 n;

	switch (key) {
	case 'p':
		return parse_pids(o, arg);
	case 't':
		return parse_ids("-t", arg, &o->tids, &o->ntids);
	case 'u':
		return parse_once("-u", arg, &o->user);
	case 'G':
		return parse_once("-G", arg, &o->cgroup);
	case 'C':
		return parse_once("-C", arg, &o->cpus);
	case 'a':
		o->all = true;
		return 0;
	case KEY_COMM:
		return parse_once("--comm", arg, &o->comm);
	case KEY_FOLLOW:
	case KEY_NO_FOLLOW:
		o->follow = key == KEY_FOLLOW;
		o->command_alone = key == KEY_NO_FOLLOW;
		((struct cli *)state->input)->asked_follow = true;
		return 0;
	case KEY_PIDNS:
		o->pidns = true;
		if (arg && parse_u64_between(arg, 1, PID_LIMIT, &n))
			return bad_value("--pidns", arg, "a process number");
		if (once("--pidns", arg ?: "", o->pidns_of, arg ? n : 0))
			return EINVAL;
		o->pidns_of = arg ? n : 0;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option scope_options[] = {
	{NULL, 0, NULL, 0,
	 "Scope (all conditions must hold; about the task the event is about):", HELP_SCOPE},
	{"pid", 'p', "PID,..", 0, "These processes, by number or by name", HELP_SCOPE},
	{"follow-forks", KEY_FOLLOW, NULL, 0,
	 "With -p: the children these processes make during the run, too, and theirs (the default of "
	 "stat and trace)", HELP_SCOPE},
	{"no-follow-forks", KEY_NO_FOLLOW, NULL, 0,
	 "The processes of -p, or that of the command, without their children", HELP_SCOPE},
	{"tid", 't', "TID,..", 0, "These threads", HELP_SCOPE},
	{"uid", 'u', "USER", 0, "Tasks of this user (name or number)", HELP_SCOPE},
	{"cgroup", 'G', "CGROUP", 0, "Tasks in this cgroup or below it", HELP_SCOPE},
	{"cpu", 'C', "CPUS", 0, "Events on these CPUs, e.g. 0,2-5", HELP_SCOPE},
	{"comm", KEY_COMM, "GLOB", 0, "Tasks with such a name, e.g. 'nginx*'", HELP_SCOPE},
	{"pidns", KEY_PIDNS, "PID", OPTION_ARG_OPTIONAL,
	 "Tasks in the pid namespace of PID (default: the tool's own)", HELP_SCOPE},
	{"all", 'a', NULL, 0, "Everything (the default without a scope or a command)", HELP_SCOPE},
	{},
};

OPTION_VALUES(pid, .options = scope_options, .key = 'p', .add = complete_processes, .separators = ",");
OPTION_VALUES(cgroup, .options = scope_options, .key = 'G', .add = complete_cgroups);
OPTION_VALUES(comm, .options = scope_options, .key = KEY_COMM, .add = complete_task_names);
OPTION_VALUES(pidns, .options = scope_options, .key = KEY_PIDNS, .add = complete_pids);

static error_t parse_time(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;
	u64 n;

	switch (key) {
	case 'I':
		if (parse_duration(arg, NSEC_PER_MSEC, &n) || n < NSEC_PER_MSEC || n > LONGEST_NS)
			return bad_value("-I", arg, "a time in milliseconds, at least 1");
		if (once("-I", arg, cli->interval_ns, n))
			return EINVAL;
		cli->interval_ns = n;
		return 0;
	case 'd':
		if (parse_duration(arg, NSEC_PER_SEC, &n) || !n || n > LONGEST_NS)
			return bad_value("-d", arg, "a time in seconds, like 10 or 2.5 or 5m");
		if (once("-d", arg, cli->duration_ns, n))
			return EINVAL;
		cli->duration_ns = n;
		return 0;
	case KEY_REPORTS:
		if (parse_u64_between(arg, 1, UINT32_MAX, &n))
			return bad_value("--reports", arg, "a count of reports");
		if (once("--reports", arg, cli->count, n))
			return EINVAL;
		cli->count = n;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option time_options[] = {
	{ NULL, 0, NULL, 0, "Time:", HELP_TIME },
	{ "duration", 'd', "SECONDS", 0, "Stop after this time in all", HELP_TIME },
	{ "interval", 'I', "MS", 0, "A report each MS milliseconds", HELP_TIME },
	{ "reports", KEY_REPORTS, "N", 0, "Stop after N reports", HELP_TIME },
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
		cli->max_keys = cli->asked_keys = n;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option key_options[] = {
	{ NULL, 0, NULL, 0, "Grouping:", HELP_GROUPING },
	{ "by", KEY_BY, "KEY,..", 0, "One result per " TASK_KEY_PARTS, HELP_GROUPING },
	{ NULL, 'P', NULL, 0, "By process, like --by pid", HELP_GROUPING },
	{ NULL, 'L', NULL, 0, "By thread, like --by tid", HELP_GROUPING },
	{ "max-keys", KEY_MAX_KEYS, "N", 0, "Make room for about N keys (default 10240)", HELP_GROUPING },
	{},
};

/* For tools whose keys are not tasks: -P and -L are accepted only to report that. */
static const struct argp_option taskless_key_options[] = {
	{ NULL, 0, NULL, 0, "Grouping:", HELP_GROUPING },
	{ "by", KEY_BY, "KEY,..", 0, "One result per " TASK_KEY_PARTS, HELP_GROUPING },
	{ NULL, 'P', NULL, OPTION_HIDDEN, NULL, HELP_GROUPING },
	{ NULL, 'L', NULL, OPTION_HIDDEN, NULL, HELP_GROUPING },
	{ "max-keys", KEY_MAX_KEYS, "N", 0, "Make room for about N keys (default 10240)", HELP_GROUPING },
	{},
};

/* For tools that keep no keys in the kernel, and so need no room for them. */
static const struct argp_option roomless_key_options[] = {
	{ NULL, 0, NULL, 0, "Grouping:", HELP_GROUPING },
	{ "by", KEY_BY, "KEY,..", 0, "One result per " TASK_KEY_PARTS, HELP_GROUPING },
	{ NULL, 'P', NULL, 0, "By process, like --by pid", HELP_GROUPING },
	{ NULL, 'L', NULL, 0, "By thread, like --by tid", HELP_GROUPING },
	{},
};

/* Adds each name of a list like "pid, comm, or any expression"; entries with blanks are no names. */
static void add_names_of(struct completion *c, const char *text)
{
	char name[32];
	size_t len;

	for (;; text += len + 2) {
		len = strcspn(text, ",");
		snprintf(name, sizeof(name), "%.*s", (int)len, text);
		if (!strchr(name, ' '))
			completion__add(c, name, "");
		if (!text[len])
			return;
	}
}

static void complete_keys(struct completion *c)
{
	const struct own_parts *own = c->spec->own_parts;
	u32 i;

	add_names_of(c, c->spec->keys ?: task_key_parts());
	for (i = 0; own && !c->spec->keys && i < own->n; i++)
		completion__add(c, own->name[i], "");
}

OPTION_VALUES(by, .options = key_options, .key = KEY_BY, .add = complete_keys, .separators = ",");
OPTION_VALUES(taskless_by, .options = taskless_key_options, .key = KEY_BY, .add = complete_keys, .separators = ",");
OPTION_VALUES(roomless_by, .options = roomless_key_options, .key = KEY_BY, .add = complete_keys, .separators = ",");

static char *name_room(const struct cli *cli, const char *text)
{
	u32 keys = cli->usual_keys ?: CLI_DEFAULT_MAX_KEYS;
	char *more;
	int n = cli->usual_stacks ?
			asprintf(&more, "Make room for about N keys (default %u; %u stacks)", keys, cli->usual_stacks) :
			asprintf(&more, "Make room for about N keys (default %u)", keys);

	return n < 0 ? (char *)text : more;
}

/* argp help filter: a result other than text is freed by argp. */
static char *name_own_parts(int key, const char *text, void *input)
{
	const struct cli *cli = input;
	char *more;

	if (key == KEY_MAX_KEYS && cli)
		return name_room(cli, text);
	if (key != KEY_BY || !cli || !(cli->keys || cli->own_parts))
		return (char *)text;
	if ((cli->keys ? asprintf(&more, "One result per %s", cli->keys) :
			 asprintf(&more, "%s; of this tool: %s", text, cli->own_parts->text)) < 0)
		return (char *)text;
	return more;
}

static error_t parse_top(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;
	u64 before = cli->top;

	if (key != KEY_TOP)
		return ARGP_ERR_UNKNOWN;
	if (parse_u64_between(arg, 1, UINT32_MAX, &cli->top))
		return bad_value("--top", arg, "a number from 1 on");
	return once("--top", arg, before, cli->top);
}

static const struct argp_option top_options[] = {
	{ "top", KEY_TOP, "N", 0, "Show the first N results only", HELP_GROUPING },
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
	  "Order by key, count, sum (total), min, avg, max, p50, p90, p99 or p999", HELP_GROUPING },
	{},
};

static void complete_columns(struct completion *c)
{
	const char *name;
	size_t i;

	for (i = 0; (name = report_sort_column_name(i)); i++)
		completion__add(c, name, "");
}

OPTION_VALUES(sort, .options = sort_options, .key = KEY_SORT, .add = complete_columns);

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
	  "A heat map: values over time; an SVG file with -o NAME.svg or --format svg", HELP_GROUPING },
	{},
};

static error_t parse_form(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;
	enum cli_form form;

	(void)arg;
	if (key != KEY_TABLE && key != KEY_HIST)
		return ARGP_ERR_UNKNOWN;
	form = key == KEY_TABLE ? FORM_TABLE : FORM_HISTOGRAMS;
	if (cli->form && cli->form != form) {
		diag_error("--table and --hist are two ways to show the same; give one of them");
		return EINVAL;
	}
	cli->form = form;
	return 0;
}

static error_t parse_live(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	(void)arg;
	if (key != KEY_LIVE)
		return ARGP_ERR_UNKNOWN;
	cli->live = true;
	return 0;
}

static const struct argp_option live_options[] = {
	{ "live", KEY_LIVE, NULL, 0, "On the whole terminal, drawn anew each interval; h shows the keys", HELP_OUTPUT },
	{},
};

static const struct argp_option table_options[] = {
	{ "table", KEY_TABLE, NULL, 0, "Distributions as a table, a row for each key", HELP_GROUPING },
	{},
};

static const struct argp_option hist_options[] = {
	{ "hist", KEY_HIST, NULL, 0, "Distributions as histograms, one for each key", HELP_GROUPING },
	{},
};

static error_t add_event(struct cli *cli, const char *text)
{
	return -ARRAY_APPEND(cli->events, cli->nevents, text);
}

static error_t add_filter(struct cli *cli, char *text)
{
	size_t from;

	if (ARRAY_ROOM(cli->filters, cli->nfilters))
		return ENOMEM;
	if (!cli->filter_each || !cli->nfilters) {
		cli->filters[cli->nfilters++] = (struct cli_filter){ text, cli->nevents };
		return parse_once("--filter", text, &cli->filter);
	}
	from = cli->filters[cli->nfilters - 1].end;
	if (!from || cli->nevents == from) {
		diag_error("--filter '%s': there is no -e between it and the one before", text);
		diag_hint("with several, each is for the -e in front of it; && makes one of two");
		return EINVAL;
	}
	cli->filters[cli->nfilters++] = (struct cli_filter){ text, cli->nevents };
	return 0;
}

static error_t parse_events(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	switch (key) {
	case 'e':
		return add_event(cli, arg);
	case 'x':
		return parse_once("-x", arg, &cli->binary);
	case KEY_FILTER:
		return add_filter(cli, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp_option event_options[] = {
	{NULL, 0, NULL, 0, "Events (`list` shows them):", HELP_EVENTS},
	{"event", 'e', "EVENT,..", 0, "These events, as perf names them; may be given again", HELP_EVENTS},
	{"binary", 'x', "FILE", 0, "Functions and USDT probes are those of this program or library",
	 HELP_EVENTS},
	{"filter", KEY_FILTER, "EXPR", 0, "Only events whose fields are so, e.g. 'count < 10'", HELP_EVENTS},
	{},
};

void cli__set_format(struct cli *cli, enum report_format format)
{
	cli->has_format = true;
	cli->prometheus = format == FORMAT_PROMETHEUS;
	cli->format = cli->prometheus ? FORMAT_OPENMETRICS : format;
}

#define FORMATS_SPACE 96        /* for the names of all common formats */

/* Lists the formats that --format takes: "text, json"; svg is for heat maps, metrics are for measurements. */
static const char *list_formats(const char *formats, u32 groups, char room[FORMATS_SPACE])
{
	static const enum report_format common[] = {
		FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_HTML, FORMAT_OPENMETRICS, FORMAT_PROMETHEUS, FORMAT_SVG,
	};
	size_t i, len = 0;

	if (formats)
		return formats;
	for (i = 0; i < ARRAY_SIZE(common); i++) {
		if ((common[i] == FORMAT_SVG && !(groups & CLI_HEAT)) ||
		    (format_is_metrics(common[i]) && !(groups & CLI_METRICS)))
			continue;
		len += snprintf(room + len, FORMATS_SPACE - len, "%s%s", len ? ", " : "",
				report_format_name(common[i]));
	}
	return room;
}

static error_t bad_format(const struct cli *cli, const char *name)
{
	char room[FORMATS_SPACE];

	diag_error("--format: '%s' is not one of %s", name, list_formats(cli->formats, cli->groups, room));
	return EINVAL;
}

static error_t parse_output(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;
	int format;

	switch (key) {
	case KEY_JSON:
		cli__set_format(cli, FORMAT_JSON);
		return 0;
	case KEY_CSV:
		if (arg && (strlen(arg) != 1 || strchr("\"\r\n", *arg)))
			return bad_value("--csv", arg, "one character to stand between fields");
		cli__set_format(cli, FORMAT_CSV);
		cli->separator = arg ? *arg : ',';
		return 0;
	case KEY_FORMAT:
		format = report_format(arg);
		if (format < 0)
			return bad_format(cli, arg);
		cli__set_format(cli, format);
		return 0;
	case 'o':
		return parse_once("-o", arg, &cli->output);
	case KEY_APPEND:
		cli->append = true;
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
	{NULL, 0, NULL, 0, "Output:", HELP_OUTPUT},
	{"json", KEY_JSON, NULL, 0, "JSON, one object per line", HELP_OUTPUT},
	{"csv", KEY_CSV, "SEP", OPTION_ARG_OPTIONAL, "Comma-separated values, or SEP between them",
	 HELP_OUTPUT},
	{"format", KEY_FORMAT, "NAME", 0, "text, json or another", HELP_OUTPUT},
	{"output", 'o', "FILE", 0, "Write to FILE, made anew, mode 0600", HELP_OUTPUT},
	{"append", KEY_APPEND, NULL, 0, "Write to the end of the file of -o instead", HELP_OUTPUT},
	{"timestamps", 'T', NULL, 0, "Begin each report with its time", HELP_OUTPUT},
	{"verbose", 'v', NULL, 0, "Say more on standard error, libbpf's messages included", HELP_OUTPUT},
	{},
};

static void complete_formats(struct completion *c)
{
	char room[FORMATS_SPACE];

	add_names_of(c, list_formats(c->spec->formats, c->spec->groups, room));
}

/* argp help filter, like name_own_parts(). */
static char *name_formats(int key, const char *text, void *input)
{
	const struct cli *cli = input;
	char room[FORMATS_SPACE], *more;

	if (key != KEY_FORMAT || !cli)
		return (char *)text;
	more = strdup(list_formats(cli->formats, cli->groups, room));
	return more ?: (char *)text;
}

OPTION_VALUES(format, .options = output_options, .key = KEY_FORMAT, .add = complete_formats);

static error_t parse_lines(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	switch (key) {
	case KEY_TEMPLATE:
		cli->only_lines = true;
		return parse_once("--template", arg, &cli->template_text);
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
	  "How a line looks: '{time} {comm} {pid}', with names as in --json", HELP_OUTPUT },
	{ "ring-size", KEY_RING_SIZE, "SIZE", 0,
	  "Memory for lines on their way: 16M where some are lost (ring_full)", HELP_OUTPUT },
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
	{ "milliseconds", 'm', NULL, 0, "Show all times in milliseconds", HELP_OUTPUT },
	{},
};

/* Parses "0.5" or "1%": above 0, at most 100. */
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

static error_t parse_measure(int key, char *arg, struct argp_state *state)
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
			return bad_value("--budget", arg,
					 "a share of the machine in percent, like 0.5");
		cli->overhead = true;
		return 0;
	case KEY_DELAY:
		if (parse_duration(arg, NSEC_PER_MSEC, &n) || !n || n > LONGEST_NS)
			return bad_value("--delay", arg, "a time in milliseconds");
		if (once("--delay", arg, cli->delay_ns, n))
			return EINVAL;
		cli->delay_ns = n;
		return 0;
	case KEY_OVERHEAD:
		cli->overhead = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option measure_options[] = {
	{NULL, 0, NULL, 0, "Run:", HELP_RUN},
	{"explain", 'n', NULL, 0, "Say what would be done, and do nothing", HELP_RUN},
	{"strict", KEY_STRICT, NULL, 0, "Exit with 3 if anything was lost or inexact", HELP_RUN},
	{"ready-fd", KEY_READY_FD, "N", 0, "Write a line to descriptor N when measuring begins", HELP_RUN},
	{"delay", KEY_DELAY, "MS", 0,
	 "Begin to measure MS milliseconds after the command has begun, or from now", HELP_RUN},
	{"overhead", KEY_OVERHEAD, NULL, 0, "Say what the measurement itself cost, by program", HELP_RUN},
	{"budget", KEY_BUDGET, "PERCENT", 0,
	 "Stop measuring when the programs take more of the machine's CPU time than this", HELP_RUN},
	{},
};

static error_t parse_listen(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	if (key != KEY_LISTEN)
		return ARGP_ERR_UNKNOWN;
	if (listen_addresses__parse(&cli->listen, arg))
		return bad_value("--listen", arg, "a port, or ADDRESS:PORT in numbers, like 9435, "
				 "192.0.2.1:9435, [::]:9435");
	return 0;
}

static const struct argp_option listen_options[] = {
	{"listen", KEY_LISTEN, "[ADDRESS:]PORT", 0,
	 "Serve OpenMetrics text over HTTP, at /metrics; of this host alone without ADDRESS", HELP_RUN},
	{},
};

static error_t parse_command(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	if (key != KEY_ENV)
		return ARGP_ERR_UNKNOWN;
	if (!*arg || *arg == '=')
		return bad_value("--env", arg, "NAME=VALUE, or NAME");
	return -ARRAY_APPEND(cli->env, cli->nenv, arg);
}

static const struct argp_option command_options[] = {
	{"env", KEY_ENV, "NAME[=VALUE]", 0,
	 "In the environment of the command; NAME alone is removed from it", HELP_RUN},
	{},
};

static const struct {
	u32 group;
	struct argp argp;
} option_groups[OPTION_GROUPS] = {
	{ CLI_SCOPE, { .options = scope_options, .parser = parse_scope } },
	{ CLI_TIME, { .options = time_options, .parser = parse_time } },
	{ CLI_KEYS,
	  { .options = key_options, .parser = parse_keys, .help_filter = name_own_parts } },
	{ CLI_SORT, { .options = sort_options, .parser = parse_sort } },
	{ CLI_ORDER, { .options = order_options, .parser = order__parse_option, .help_filter = order__name_columns } },
	{ CLI_HEAT, { .options = heat_options, .parser = parse_heat } },
	{ CLI_TABLE, { .options = table_options, .parser = parse_form } },
	{ CLI_HIST, { .options = hist_options, .parser = parse_form } },
	{ CLI_LIVE, { .options = live_options, .parser = parse_live } },
	{ CLI_OUTPUT,
	  { .options = output_options, .parser = parse_output, .help_filter = name_formats } },
	{ CLI_TIMES, { .options = times_options, .parser = parse_times } },
	{ CLI_MEASURE, { .options = measure_options, .parser = parse_measure } },
	{ CLI_LISTEN, { .options = listen_options, .parser = parse_listen } },
	{ CLI_COMMAND, { .options = command_options, .parser = parse_command } },
	{ CLI_TOP, { .options = top_options, .parser = parse_top } },
	{ CLI_EVENTS, { .options = event_options, .parser = parse_events } },
	{ CLI_LINES, { .options = lines_options, .parser = parse_lines } },
};

void option_groups__put(const struct cli_spec *spec, struct argp_child child[OPTION_GROUPS])
{
	static const struct argp taskless_keys = {
		.options = taskless_key_options, .parser = parse_keys, .help_filter = name_own_parts,
	};
	static const struct argp roomless_keys = {
		.options = roomless_key_options, .parser = parse_keys, .help_filter = name_own_parts,
	};
	size_t i;

	for (i = 0; i < OPTION_GROUPS; i++) {
		if (!(spec->groups & option_groups[i].group))
			continue;
		child->argp = &option_groups[i].argp;
		if (spec->keys_of_no_task && option_groups[i].group == CLI_KEYS)
			child->argp = &taskless_keys;
		if (spec->keys_without_room && option_groups[i].group == CLI_KEYS)
			child->argp = &roomless_keys;
		child++;
	}
}
