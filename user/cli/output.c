// SPDX-License-Identifier: BSD-2-Clause
/* Opens the destination of reports: cli__open_writer() of cli/options.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "report/diag.h"
#include "report/replace.h"

/* Opens a regular file for appending, and creates it if missing. Never follows a symbolic link and never blocks. */
static int open_end(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat st;
	int err = fd < 0 ? -errno : 0;

	if (!err && fstat(fd, &st))
		err = -errno;
	if (!err && !S_ISREG(st.st_mode))
		err = -EEXIST;
	if (err && fd >= 0)
		close(fd);
	return err ?: fd;
}

static int open_output(struct replacement *r, const char *path, bool append)
{
	int fd = append ? open_end(path) : replacement__open(r, path, 0600);

	if (fd == -EEXIST)
		diag_error("-o: '%s' exists and is not a regular file", path);
	else if (fd < 0)
		diag_error("-o: '%s': %s", path, strerror(-fd));
	return fd;
}

/* Checks that the file can be replaced. The old file remains until there is a report to write. */
static int check_output(const char *path)
{
	struct replacement tried = {};
	int fd = open_output(&tried, path, false);

	if (fd >= 0)
		close(fd);
	replacement__release(&tried);
	return fd < 0 ? fd : 0;
}

/* OpenMetrics has no single events, so output other than reports is discarded. */
static int open_metrics(const struct cli *cli, struct writer *w)
{
	int err = cli->output ? check_output(cli->output) : 0, fd;

	if (err)
		return err;
	w->path = cli->output;
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);   /* O_WRONLY: fopen() would create a missing file */
	w->file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (w->file)
		return 0;
	err = -errno;
	diag_error("/dev/null: %s", strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

/* The output of -n is text. */
static enum report_format format_of(const struct cli *cli)
{
	return cli->format == FORMAT_HTML && cli->explain ? FORMAT_TEXT : cli->format;
}

bool cli__output_ends_with(const struct cli *cli, const char *what)
{
	size_t n = cli->output ? strlen(cli->output) : 0, len = strlen(what);

	return n > len && !strcmp(cli->output + n - len, what);
}

/* A page must begin at the start of its file. */
static int check_page(const struct cli *cli, const struct writer *w)
{
	if (w->format != FORMAT_HTML || cli->output || (!cli->command && !isatty(STDOUT_FILENO)))
		return 0;
	diag_error(cli->command ?
			   "--format html: the page would contain the command's output; name a file: -o page.html" :
			   "--format html: a terminal cannot show a page; name a file: -o page.html");
	return -EINVAL;
}

/* Refuses a report without a picture if the name of -o requests a picture. */
static int check_picture(const struct cli *cli)
{
	if (cli->format != FORMAT_TEXT || cli->has_format || !cli__output_ends_with(cli, ".svg"))
		return 0;
	diag_error("-o %s: this report has text and tables, but no picture", cli->output);
	diag_hint("-o page.html writes a page; --format text writes text to that file anyway");
	return -EINVAL;
}

bool cli__is_piped(const struct cli *cli, const struct writer *w)
{
	return !cli->output && !w->terminal.columns;
}

int cli__open_writer(const struct cli *cli, struct writer *w)
{
	int fd;

	*w = (struct writer){
		.file = stdout, .format = format_of(cli), .separator = cli->separator,
		.milliseconds = cli->milliseconds, .timestamps = cli->timestamps, .prometheus = cli->prometheus,
		.only_lines = cli->only_lines && !cli->explain,
	};
	if (check_page(cli, w) || check_picture(cli))
		return -EINVAL;
	if (cli->format == FORMAT_OPENMETRICS && !cli->explain && (cli->output || cli->listen.n))
		return open_metrics(cli, w);
	/* -n writes no report: the file stays as it is, and standard output gets the explanation. */
	if (cli->output && cli->explain) {
		fd = check_output(cli->output);
		if (fd)
			return fd;
	} else if (cli->output) {
		fd = open_output(&w->replacement, cli->output, cli->append);
		if (fd < 0)
			return fd;
		w->file = fdopen(fd, "w");
		if (!w->file) {
			close(fd);
			replacement__release(&w->replacement);
			return -ENOMEM;
		}
	}
	setvbuf(w->file, NULL, _IOLBF, 0);
	w->terminal = terminal__of(w->file);
	w->brief = w->terminal.columns && !cli->verbose;
	if (cli->top)           /* show all rows of --top */
		w->terminal.rows = 0;
	return 0;
}

int cli__close_writer(struct writer *w, int err)
{
	writer__close(w);
	if (w->failed == -ECANCELED)
		diag_error("the rest of the output is lost: its reader had stopped reading when the run ended");
	else if (w->failed && w->failed != -EPIPE)
		diag_error("cannot write the report: %s", strerror(-w->failed));
	if (w->failed)
		return w->failed == -EPIPE ? 0 : w->failed;
	return err;
}
