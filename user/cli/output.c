// SPDX-License-Identifier: BSD-2-Clause
/* Where reports go: cli__open_writer() of cli/options.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "out/diag.h"
#include "out/replace.h"

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
	int err = cli->output ? replace_file(cli->output, "# EOF\n", 6) : 0;

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
	if (cli->format == FORMAT_OPENMETRICS && !cli->explain && (cli->output || cli->listen.n))
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
