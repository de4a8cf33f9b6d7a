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
#include "cli/tools.h"
#include "host/process.h"
#include "report/diag.h"

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

/* Lists processes as "1203, 1204". A long list ends in "...". */
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
		diag_hint("--comm '%s' selects tasks with that name, including later ones", name);
		return EINVAL;
	}
	say_pids(name, o->pids + before, found);
	return 0;
}

/* True if an item of the list is a name. */
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

static int add_pids(void *own, char *text)
{
	return parse_pids(&((struct cli *)own)->scope, text);
}

static int add_tids(void *own, char *text)
{
	struct scope_options *o = &((struct cli *)own)->scope;

	return parse_ids("-t", text, &o->tids, &o->ntids);
}

static int parse_follow(void *own, const struct option_row *row, char *text)
{
	struct cli *cli = own;

	(void)text;
	cli->scope.follow = row->tag;
	cli->scope.command_alone = !row->tag;
	cli->asked_follow = true;
	return 0;
}

static int parse_pidns(void *own, char *text)
{
	struct scope_options *o = &((struct cli *)own)->scope;
	u64 n = 0;

	if (text && parse_u64_between(text, 1, PID_LIMIT, &n))
		return bad_value("--pidns", text, "a process number");
	if (o->pidns && o->pidns_of != n) {
		diag_error("--pidns is given twice, the second time as '%s'", text ?: "");
		return EINVAL;
	}
	o->pidns = true;
	o->pidns_of = n;
	return 0;
}

static const struct option_row scope_rows[] = {
	HEADING("Scope (all conditions must hold for the task of the event):", HELP_SCOPE),
	{ "pid", 'p', "PID,..", ROW_OWN, "These processes, by number or by name", HELP_SCOPE, .parse = add_pids,
	  .adds = true, .complete = complete_processes, .separators = "," },
	{ "follow-forks", 0, NULL, ROW_OWN,
	  "With -p: also the children that these processes create during the run, and theirs (default in stat and "
	  "trace)",
	  HELP_SCOPE, .parse_row = parse_follow, .tag = true },
	{ "no-follow-forks", 0, NULL, ROW_OWN,
	  "Only the processes of -p, or the command, without their children", HELP_SCOPE,
	  .parse_row = parse_follow, .tag = false },
	{ "tid", 't', "TID,..", ROW_OWN, "These threads", HELP_SCOPE, .parse = add_tids, .adds = true },
	{ "uid", 'u', "USER", ROW_TEXT, "Tasks of this user (name or number)", HELP_SCOPE,
	  FIELD(struct cli, scope.user) },
	{ "cgroup", 'G', "CGROUP", ROW_TEXT, "Tasks in this cgroup or below it", HELP_SCOPE,
	  FIELD(struct cli, scope.cgroup), .complete = complete_cgroups },
	{ "cpu", 'C', "CPUS", ROW_TEXT, "Events on these CPUs, e.g. 0,2-5", HELP_SCOPE, FIELD(struct cli, scope.cpus) },
	{ "comm", 0, "GLOB", ROW_TEXT, "Tasks with this name, e.g. 'nginx*'", HELP_SCOPE,
	  FIELD(struct cli, scope.comm), .complete = complete_task_names },
	{ "pidns", 0, "PID", ROW_OWN, "Tasks in the pid namespace of PID (default: the tool's own)", HELP_SCOPE,
	  .parse = parse_pidns, .optional = true, .adds = true, .complete = complete_pids },
	{ "all", 'a', NULL, ROW_FLAG, "Everything (the default without a scope or a command)", HELP_SCOPE,
	  FIELD(struct cli, scope.all) },
	{},
};

static const struct option_row time_rows[] = {
	HEADING("Time:", HELP_TIME),
	{ "duration", 'd', "SECONDS", ROW_TIME, "Stop after this time", HELP_TIME,
	  FIELD(struct cli, duration_ns), .unit_ns = NSEC_PER_SEC, .least = 1, .most = LONGEST_NS,
	  .wanted = "a time in seconds, like 10 or 2.5 or 5m" },
	{ "interval", 'I', "MS", ROW_TIME, "Print a report every MS milliseconds", HELP_TIME,
	  FIELD(struct cli, interval_ns),
	  .least = NSEC_PER_MSEC, .most = LONGEST_NS, .wanted = "a time in milliseconds, at least 1" },
	{ "reports", 0, "N", ROW_COUNT, "Stop after N reports", HELP_TIME, FIELD(struct cli, count),
	  .least = 1, .most = UINT32_MAX, .wanted = "a count of reports" },
	{},
};

static int parse_by(void *own, char *text)
{
	struct cli *cli = own;
	char bad[64];
	u32 by;

	if (cli->own_keys) {
		if (cli->by_text)
			diag_error("--by is given twice; name all keys in one, as in --by comm,cpu");
		return cli->by_text ? EINVAL : !(cli->by_text = text);
	}
	if (task_key__parse(text, cli->own_parts, &by, bad, sizeof(bad))) {
		diag_error("--by: unknown key '%s'; expected one of %s%s%s", bad, task_key_parts(),
			   cli->own_parts ? ", " : "", cli->own_parts ? cli->own_parts->text : "");
		return EINVAL;
	}
	cli->by |= by;
	return 0;
}

/* -P, -L */
static int add_key(void *own, const struct option_row *row, char *text)
{
	(void)text;
	((struct cli *)own)->by |= row->tag;
	return 0;
}

/* Adds each name of a list like "pid, comm, or any expression". Entries with blanks are not names. */
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

static char *describe_room(const void *own)
{
	const struct cli *cli = own;
	u32 keys = cli->usual_keys ?: CLI_DEFAULT_MAX_KEYS;
	char *text;
	int n = cli->usual_stacks ?
			asprintf(&text, "Make room for about N keys (default %u; %u stacks)", keys, cli->usual_stacks) :
			asprintf(&text, "Make room for about N keys (default %u)", keys);

	return n < 0 ? NULL : text;
}

static char *describe_keys(const void *own)
{
	const struct cli *cli = own;
	char *text;
	int n;

	if (cli->keys)
		n = asprintf(&text, "One result per %s", cli->keys);
	else
		n = asprintf(&text, "One result per %s%s%s", TASK_KEY_PARTS, cli->own_parts ? "; of this tool: " : "",
			     cli->own_parts ? cli->own_parts->text : "");
	return n < 0 ? NULL : text;
}

#define BY_ROW                                                                                                         \
	{ "by", 0, "KEY,..", ROW_OWN, "One result per " TASK_KEY_PARTS, HELP_GROUPING, .parse = parse_by,              \
	  .adds = true, .describe = describe_keys, .complete = complete_keys, .separators = "," }
#define ROOM_ROW                                                                                                       \
	{ "max-keys", 0, "N", ROW_COUNT, "Make room for about N keys", HELP_GROUPING, FIELD(struct cli, asked_keys),   \
	  .least = 1, .most = 100000000, .wanted = "a number of keys", .describe = describe_room }
#define KEY_ROW(letter, text, part, ...)                                                                               \
	{ NULL, letter, NULL, ROW_OWN, text, HELP_GROUPING, .parse_row = add_key, .tag = part, ##__VA_ARGS__ }

static const struct option_row key_rows[] = {
	HEADING("Grouping:", HELP_GROUPING),
	BY_ROW,
	KEY_ROW('P', "By process, like --by pid", BY_PID),
	KEY_ROW('L', "By thread, like --by tid", BY_TID),
	ROOM_ROW,
	{},
};

/* For tools whose keys are not tasks: -P and -L are accepted only to report that they do not apply. */
static const struct option_row taskless_key_rows[] = {
	HEADING("Grouping:", HELP_GROUPING),
	BY_ROW,
	KEY_ROW('P', "By process", BY_PID, .hidden = true),
	KEY_ROW('L', "By thread", BY_TID, .hidden = true),
	ROOM_ROW,
	{},
};

/* For tools that keep no keys in the kernel and need no room for them. */
static const struct option_row roomless_key_rows[] = {
	HEADING("Grouping:", HELP_GROUPING),
	BY_ROW,
	KEY_ROW('P', "By process, like --by pid", BY_PID),
	KEY_ROW('L', "By thread, like --by tid", BY_TID),
	{},
};

static const struct option_row top_rows[] = {
	{ "top", 0, "N", ROW_COUNT, "Show only the first N results", HELP_GROUPING, FIELD(struct cli, top),
	  .least = 1, .most = UINT32_MAX, .wanted = "a number of at least 1" },
	{},
};

static int parse_sort(void *own, char *text)
{
	struct cli *cli = own;

	cli->sort = report_sort_column(text);
	if (cli->sort >= 0)
		return 0;
	diag_error("--sort: unknown column '%s'; expected one of %s", text, report_sort_columns());
	return EINVAL;
}

static void complete_columns(struct completion *c)
{
	const char *name;
	size_t i;

	for (i = 0; (name = report_sort_column_name(i)); i++)
		completion__add(c, name, "");
}

static const struct option_row sort_rows[] = {
	{ "sort", 0, "COL", ROW_OWN, "Order by key, count, sum (total), min, avg, max, p50, p90, p99 or p999",
	  HELP_GROUPING, .parse = parse_sort, .complete = complete_columns },
	{},
};

static const struct option_row heat_rows[] = {
	{ "heat", 0, NULL, ROW_FLAG, "A heat map: values over time; an SVG file with -o NAME.svg or --format svg",
	  HELP_GROUPING, FIELD(struct cli, heat) },
	{},
};

static int parse_form(void *own, const struct option_row *row, char *text)
{
	struct cli *cli = own;

	(void)text;
	if (cli->form && cli->form != row->tag) {
		diag_error("--table and --hist cannot be combined");
		return EINVAL;
	}
	cli->form = row->tag;
	return 0;
}

static const struct option_row form_table_rows[] = {
	{ "table", 0, NULL, ROW_OWN, "Distributions as a table, one row per key", HELP_GROUPING,
	  .parse_row = parse_form, .tag = FORM_TABLE },
	{},
};

static const struct option_row hist_rows[] = {
	{ "hist", 0, NULL, ROW_OWN, "Distributions as histograms, one per key", HELP_GROUPING,
	  .parse_row = parse_form, .tag = FORM_HISTOGRAMS },
	{},
};

static const struct option_row live_rows[] = {
	{ "live", 0, NULL, ROW_FLAG, "Use the whole terminal, redrawn each interval; h shows the keys", HELP_OUTPUT,
	  FIELD(struct cli, live) },
	{},
};

static int add_event(void *own, char *text)
{
	struct cli *cli = own;

	return -ARRAY_APPEND(cli->events, cli->nevents, text);
}

static int add_filter(void *own, char *text)
{
	struct cli *cli = own;
	size_t from;

	if (ARRAY_ROOM(cli->filters, cli->nfilters))
		return ENOMEM;
	from = cli->nfilters ? cli->filters[cli->nfilters - 1].end : 0;
	if (cli->nfilters && !cli->filter_each) {
		diag_error("--filter is given twice: '%s' and '%s'", cli->filter, text);
		return EINVAL;
	}
	if (cli->nfilters && (!from || cli->nevents == from)) {
		diag_error("--filter '%s' needs an -e after the previous --filter", text);
		diag_hint("each --filter applies to the -e before it; && joins two conditions");
		return EINVAL;
	}
	cli->filter = cli->filter ?: text;
	cli->filters[cli->nfilters++] = (struct cli_filter){ text, cli->nevents };
	return 0;
}

static void complete_events(struct completion *c)
{
	if (cli_tools.complete_events)
		cli_tools.complete_events(c);
}

static const struct option_row event_rows[] = {
	HEADING("Events (`list` shows them):", HELP_EVENTS),
	{ "event", 'e', "EVENT,..", ROW_OWN, "These events, named as in perf; repeatable", HELP_EVENTS,
	  .parse = add_event, .adds = true, .complete = complete_events, .separators = ",{" },
	{ "binary", 'x', "FILE", ROW_TEXT, "Functions and USDT probes of this program or library",
	  HELP_EVENTS, FIELD(struct cli, binary) },
	{ "filter", 0, "EXPR", ROW_OWN, "Only events whose fields match, e.g. 'count < 10'", HELP_EVENTS,
	  .parse = add_filter, .adds = true },
	{},
};

void cli__set_format(struct cli *cli, enum report_format format)
{
	cli->has_format = true;
	cli->prometheus = format == FORMAT_PROMETHEUS;
	cli->format = cli->prometheus ? FORMAT_OPENMETRICS : format;
}

#define FORMATS_SPACE 96        /* room for the names of all common formats */

/* Lists the formats that --format takes, such as "text, json". svg is for heat maps, metrics are for measurements. */
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

static int parse_csv(void *own, char *text)
{
	struct cli *cli = own;

	if (text && (strlen(text) != 1 || strchr("\"\r\n", *text)))
		return bad_value("--csv", text, "a one-character field separator");
	cli__set_format(cli, FORMAT_CSV);
	cli->separator = text ? *text : ',';
	return 0;
}

static int parse_json(void *own, char *text)
{
	(void)text;
	cli__set_format(own, FORMAT_JSON);
	return 0;
}

static int parse_format(void *own, char *text)
{
	const struct cli *cli = own;
	int format = report_format(text);
	char room[FORMATS_SPACE];

	if (format < 0) {
		diag_error("--format: '%s' is not one of %s", text, list_formats(cli->formats, cli->groups, room));
		return EINVAL;
	}
	cli__set_format(own, format);
	return 0;
}

static void complete_formats(struct completion *c)
{
	char room[FORMATS_SPACE];

	add_names_of(c, list_formats(c->spec->formats, c->spec->groups, room));
}

static char *describe_formats(const void *own)
{
	const struct cli *cli = own;
	char room[FORMATS_SPACE];

	return strdup(list_formats(cli->formats, cli->groups, room));
}

static const struct option_row output_rows[] = {
	HEADING("Output:", HELP_OUTPUT),
	{ "json", 0, NULL, ROW_OWN, "JSON, one object per line", HELP_OUTPUT, .parse = parse_json },
	{ "csv", 0, "SEP", ROW_OWN, "Comma-separated values, or separated by SEP", HELP_OUTPUT, .parse = parse_csv,
	  .optional = true },
	{ "format", 0, "NAME", ROW_OWN, "text, json or another", HELP_OUTPUT, .parse = parse_format,
	  .describe = describe_formats, .complete = complete_formats },
	{ "output", 'o', "FILE", ROW_TEXT, "Write to FILE, replacing it, mode 0600", HELP_OUTPUT,
	  FIELD(struct cli, output) },
	{ "append", 0, NULL, ROW_FLAG, "Append to the file of -o instead", HELP_OUTPUT,
	  FIELD(struct cli, append) },
	{ "timestamps", 'T', NULL, ROW_FLAG, "Begin each report with its time", HELP_OUTPUT,
	  FIELD(struct cli, timestamps) },
	{ "verbose", 'v', NULL, ROW_FLAG, "Print more on standard error, including libbpf's messages", HELP_OUTPUT,
	  FIELD(struct cli, verbose) },
	{},
};

static const struct option_row lines_rows[] = {
	{ "template", 0, "TEXT", ROW_TEXT, "The format of a line: '{time} {comm} {pid}', with names as in --json",
	  HELP_OUTPUT, FIELD(struct cli, template_text), ALSO(struct cli, only_lines) },
	{ "ring-size", 0, "SIZE", ROW_SIZE, "Size of the buffer for lines; 16M if some are lost (ring_full)",
	  HELP_OUTPUT, FIELD(struct cli, ring_bytes), .least = 4096, .most = 1U << 30,
	  .wanted = "a size from 4K to 1G" },
	{},
};

static const struct option_row times_rows[] = {
	{ "milliseconds", 'm', NULL, ROW_FLAG, "Show all times in milliseconds", HELP_OUTPUT,
	  FIELD(struct cli, milliseconds) },
	{},
};

/* Parses a percentage above 0 and up to 100: "0.5" or "1%". */
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

static int parse_ready_fd(void *own, char *text)
{
	u64 n;

	if (parse_u64_between(text, 1, 1 << 20, &n) || fcntl(n, F_GETFD) < 0)
		return bad_value("--ready-fd", text, "an open file descriptor");
	((struct cli *)own)->ready_fd = n;
	return 0;
}

static int parse_budget(void *own, char *text)
{
	struct cli *cli = own;

	if (parse_percent(text, &cli->budget))
		return bad_value("--budget", text, "a share of the machine in percent, like 0.5");
	return 0;
}

static const struct option_row measure_rows[] = {
	HEADING("Run:", HELP_RUN),
	{ "explain", 'n', NULL, ROW_FLAG, "Show what would be done, and do nothing", HELP_RUN,
	  FIELD(struct cli, explain) },
	{ "strict", 0, NULL, ROW_FLAG, "Exit with 3 if anything was lost or inexact", HELP_RUN,
	  FIELD(struct cli, strict) },
	{ "ready-fd", 0, "N", ROW_OWN, "Write a line to descriptor N when measuring begins", HELP_RUN,
	  .parse = parse_ready_fd },
	{ "delay", 0, "MS", ROW_TIME, "Start measuring MS milliseconds after the command has started, or from now",
	  HELP_RUN, FIELD(struct cli, delay_ns), .least = 1, .most = LONGEST_NS, .wanted = "a time in milliseconds" },
	{ "overhead", 0, NULL, ROW_FLAG, "Report the cost of the measurement itself, by program", HELP_RUN,
	  FIELD(struct cli, overhead) },
	{ "budget", 0, "PERCENT", ROW_OWN,
	  "Stop measuring when the programs take more of the machine's CPU time than this", HELP_RUN,
	  .parse = parse_budget, ALSO(struct cli, overhead) },
	{},
};

static int add_address(void *own, char *text)
{
	if (listen_addresses__parse(&((struct cli *)own)->listen, text))
		return bad_value("--listen", text, "a port or a numeric ADDRESS:PORT, like 9435, 192.0.2.1:9435, "
						   "[::]:9435");
	return 0;
}

static const struct option_row listen_rows[] = {
	{ "listen", 0, "[ADDRESS:]PORT", ROW_OWN,
	  "Serve OpenMetrics text over HTTP at /metrics; without ADDRESS, to this host only", HELP_RUN,
	  .parse = add_address, .adds = true },
	{},
};

static int add_variable(void *own, char *text)
{
	struct cli *cli = own;

	if (!*text || *text == '=')
		return bad_value("--env", text, "NAME=VALUE, or NAME");
	return -ARRAY_APPEND(cli->env, cli->nenv, text);
}

static const struct option_row command_rows[] = {
	{ "env", 0, "NAME[=VALUE]", ROW_OWN, "Set a variable in the command's environment; NAME alone removes it",
	  HELP_RUN, .parse = add_variable, .adds = true },
	{},
};

static const struct {
	u32 group;
	const struct option_row *rows;
} option_groups[] = {
	{ CLI_SCOPE, scope_rows }, { CLI_TIME, time_rows }, { CLI_KEYS, key_rows }, { CLI_SORT, sort_rows },
	{ CLI_ORDER, order_rows }, { CLI_HEAT, heat_rows }, { CLI_TABLE, form_table_rows }, { CLI_HIST, hist_rows },
	{ CLI_LIVE, live_rows }, { CLI_OUTPUT, output_rows }, { CLI_TIMES, times_rows },
	{ CLI_MEASURE, measure_rows }, { CLI_LISTEN, listen_rows }, { CLI_COMMAND, command_rows },
	{ CLI_TOP, top_rows }, { CLI_EVENTS, event_rows }, { CLI_LINES, lines_rows },
};

static const struct option_row *rows_of(const struct cli_spec *spec, size_t i)
{
	if (option_groups[i].group != CLI_KEYS)
		return option_groups[i].rows;
	return spec->keys_of_no_task ? taskless_key_rows : spec->keys_without_room ? roomless_key_rows : key_rows;
}

void option_groups__fill(struct option_rows *rows, const struct cli_spec *spec, const struct option_rows *own,
			 struct cli *cli)
{
	size_t i;

	option_rows__fill(rows, NULL, cli);
	for (i = 0; i < ARRAY_SIZE(option_groups); i++)
		if (spec->groups & option_groups[i].group)
			option_rows__add(rows, rows_of(spec, i), own);
}
