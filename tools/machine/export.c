// SPDX-License-Identifier: BSD-2-Clause
/* export: many measurements in one process, for monitoring, on one port. See docs/export.md. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/several.h"
#include "tools.h"

/* Registered for eBPF in Prometheus's list of exporters; below the ephemeral ports. */
#define DEFAULT_PORT "9435"

/* Shorter than the interval of most scrapers, 15 s or more, so that each scrape sees new figures. */
#define DEFAULT_INTERVAL_NS (10 * NSEC_PER_SEC)

/* Default --top of each line. */
#define DEFAULT_TOP 100

#define LONGEST_FILE (1U << 16)

/*
 * The default lines show problems of a machine, by keys with few values: cgroups, disks, reasons,
 * but not tasks. No line keeps a program on each system call all the time, because busy servers
 * would notice.
 */
static const char *const usual_lines[] = {
	"runqlat --by cgroup",
	"cpudist --by cgroup",
	"syscount --failed --by syscall,errno --slices",
	"biolatency --by disk",
	"fsdist --waits",
	"exitsnoop",
	"connsnoop --failed --tcp",
	"reclaim --by cgroup",
	"tcpretrans --count --by remote",
	"netdrop --by reason",
	"softirqs --slices",
	"hardirqs --slices",
};

struct exporting {
	struct several_lines lines;
	const char *file;               /* may be NULL */
	char *text;                     /* its text; lines point into it */
	bool profiles;
	bool wrong;                     /* the command line has more than one file, or a file and lines */
};

/*
 * --- the file ----------------------------------------------------------------------------------
 */

/* Strips blanks at both ends. */
static char *trimmed(char *line)
{
	size_t n;

	line += strspn(line, " \t\r");
	n = strlen(line);
	while (n && strchr(" \t\r", line[n - 1]))
		line[--n] = 0;
	return line;
}

/* Splits the text into lines. Leaves out empty lines and those beginning with #. */
static int split(char *text, const char **line, size_t *n)
{
	char *next, *rest = text;

	*n = 0;
	while ((next = strsep(&rest, "\n"))) {
		next = trimmed(next);
		if (!*next || *next == '#')
			continue;
		if (*n == RUN_MOST)
			return -E2BIG;
		line[(*n)++] = next;
	}
	return 0;
}

static int read_text(const char *path, char **text)
{
	size_t room = LONGEST_FILE, n;
	FILE *f = fopen(path, "re");
	int err = 0;

	if (!f)
		return -errno;
	*text = malloc(room);
	n = *text ? fread(*text, 1, room, f) : 0;
	if (!*text)
		err = -ENOMEM;
	else if (ferror(f))
		err = -EIO;
	else if (n == room || memchr(*text, 0, n))
		err = -EFBIG;
	else
		(*text)[n] = 0;
	if (err)
		free(*text);
	fclose(f);
	return err;
}

static int read_file(void *context, const char **line, size_t *n)
{
	struct exporting *e = context;
	char *text = NULL;
	int err = read_text(e->file, &text);

	if (err) {
		diag_error("'%s': %s", e->file, err == -EFBIG ? "not a file of lines" : strerror(-err));
		return err;
	}
	err = split(text, line, n);
	if (!err && !*n)
		err = -ENODATA;
	if (err) {
		free(text);
		diag_error("'%s': %s", e->file,
			   err == -ENODATA ? "it has no lines" : "it has more than 64 lines");
		return err;
	}
	free(e->text);
	e->text = text;
	return 0;
}

/*
 * --- the command line --------------------------------------------------------------------------
 */

static bool is_line(const char *arg)
{
	char *name = strndup(arg, strcspn(arg, " \t"));
	bool found = name && find_tool_spec(name);

	free(name);
	return found || strpbrk(arg, " \t");
}

/* Before the interval begins, every word that is not a number is a line or the file. */
static bool takes(void *input, char *arg)
{
	bool is_number = begins_number(arg);
	struct exporting *e = input;

	if (is_line(arg) || is_number) {
		if (!several_lines__take(&e->lines, arg))
			return false;
	} else {
		e->wrong |= e->file != NULL;
		e->file = arg;
	}
	e->wrong |= e->file && e->lines.n;
	return true;
}

static int settle(struct exporting *e, struct cli *cli)
{
	size_t i;

	if (e->wrong) {
		diag_error("expected either lines or one file of lines: '%s' is not a measuring tool", e->file);
		return -EINVAL;
	}
	if (several_lines__check(&e->lines))
		return -EINVAL;
	if (cli->on_demand || !cli->interval_ns)
		cli->interval_ns = DEFAULT_INTERVAL_NS;
	cli->on_demand = false;
	cli->profiles = e->profiles;
	cli->overhead_sliced = !cli->overhead;
	cli->overhead = true;
	cli->top = cli->top ?: DEFAULT_TOP;
	cli->format = FORMAT_OPENMETRICS;
	if (!cli->listen.n && listen_addresses__parse(&cli->listen, DEFAULT_PORT))
		return -EINVAL;
	if (e->file)
		return read_file(e, e->lines.line, &e->lines.n) ? -EINVAL : 0;
	for (i = 0; !e->lines.n && i < ARRAY_SIZE(usual_lines); i++)
		e->lines.line[i] = usual_lines[i];
	e->lines.n = e->lines.n ?: ARRAY_SIZE(usual_lines);
	return 0;
}

static int export_lines(struct exporting *e, struct cli *cli)
{
	const struct several_plan plan = {
		.line = e->lines.line, .n = e->lines.n, .sink.context = e, .reload = e->file ? read_file : NULL,
	};

	return several__run(find_tool_spec, &plan, cli);
}

static void complete_arguments(struct completion *c)
{
	complete_tools(c);
	completion__leave(c, "files");
}

static const struct option_row rows[] = {
	{ "profiles", 0, NULL, ROW_FLAG,
	  "Answer /profile?seconds=N, up to 60, with stacks of the machine's CPU time (pprof)", 1,
	  FIELD(struct exporting, profiles) },
	{},
};

static int export(int argc, char **argv)
{
	struct exporting e = {};
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_TOP | CLI_RUN,
		.rows = rows,
		.args_doc = "[FILE] [INTERVAL [COUNT]]\n'TOOL [OPTION...]'... [INTERVAL [COUNT]]",
		.own_input = &e,
		.takes = takes,
		.arguments = complete_arguments,
		.doc = "For monitoring: measures the lines of FILE, the given lines, or default lines in one "
		       "process, interval by interval (10 s) until interrupted, and serves OpenMetrics text at "
		       "http://127.0.0.1:" DEFAULT_PORT
		       "/metrics. SIGHUP rereads FILE: unchanged lines keep counting. docs/export.md lists the "
		       "metrics, and has alerts and a dashboard.",
	};
	struct cli cli;
	int code = EXIT_USAGE;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (!settle(&e, &cli))
		code = export_lines(&e, &cli);
	free(e.text);
	cli__free(&cli);
	return code;
}

TOOL(export, AREA_MACHINE, "many measurements for monitoring, served as OpenMetrics over HTTP");
