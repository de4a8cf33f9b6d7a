// SPDX-License-Identifier: BSD-2-Clause
/* Where reports go: cli__open_writer() of cli/options.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "report/diag.h"
#include "report/replace.h"

static int open_output(struct replacement *r, const char *path)
{
	int fd = replacement__open(r, path, 0600);

	if (fd == -EEXIST)
		diag_error("-o: '%s' is there and is not a regular file", path);
	else if (fd < 0)
		diag_error("-o: '%s': %s", path, strerror(-fd));
	return fd;
}

/* Can the file be replaced? What there is stays until there is something to say. */
static int check_output(const char *path)
{
	struct replacement tried = {};
	int fd = open_output(&tried, path);

	if (fd >= 0)
		close(fd);
	replacement__release(&tried);
	return fd < 0 ? fd : 0;
}

/* Single events have no place there: what is not a report goes nowhere. */
static int open_metrics(const struct cli *cli, struct writer *w)
{
	int err = cli->output ? check_output(cli->output) : 0, fd;

	if (err)
		return err;
	w->path = cli->output;
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);   /* fopen() would make it */
	w->file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (w->file)
		return 0;
	err = -errno;
	diag_error("/dev/null: %s", strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

int cli__open_writer(const struct cli *cli, struct writer *w)
{
	int fd;

	*w = (struct writer){
		.file = stdout, .format = cli->format, .separator = cli->separator,
		.milliseconds = cli->milliseconds, .timestamps = cli->timestamps,
		.top = cli->metrics_top,
	};
	if (cli->format == FORMAT_OPENMETRICS && !cli->explain && (cli->output || cli->listen.n))
		return open_metrics(cli, w);
	if (cli->output) {
		fd = open_output(&w->replacement, cli->output);
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
	return 0;
}

int cli__close_writer(struct writer *w, int err)
{
	writer__close(w);
	if (w->failed && w->failed != -EPIPE)
		diag_error("cannot write the report: %s", strerror(-w->failed));
	if (w->failed)
		return w->failed == -EPIPE ? 0 : w->failed;
	return err;
}
