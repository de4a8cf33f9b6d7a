// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/openmetrics.h"
#include "report/replace.h"
#include "report/report.h"

/*
 * Collects the report in memory: a line-buffered file could fail in the middle of a report and lose errno. fwrite() may
 * fail and still return n, so check ferror().
 */
int writer__begin(struct writer *w, struct writing *writing)
{
	*writing = (struct writing){ .file = w->file };
	w->file = open_memstream(&writing->text, &writing->n);
	return w->file ? 0 : -ENOMEM;
}

/* Converts the text for files. Requests choose the format themselves (run/listen.h). */
static int make_prometheus(struct writing *writing, size_t *n)
{
	char *text = prometheus_text(writing->text);

	if (!text)
		return -ENOMEM;
	free(writing->text);
	writing->text = text;
	*n = strlen(text);
	return 0;
}

int writer__end(struct writer *w, struct writing *writing, int err)
{
	size_t n;

	if (w->file && fclose(w->file) && !err)
		err = -ENOMEM;
	w->file = writing->file;
	n = writing->n;
	if (!err && w->publish)
		err = w->publish(w->publisher, writing->text, n);
	if (!err && w->prometheus)
		err = make_prometheus(writing, &n);
	if (!err && w->path)
		err = w->failed = replace_file(w->path, writing->text, n);
	else if (!err && !w->publish)
		err = writer__emit(w, writing->text, n);
	free(writing->text);
	return err;
}

/*
 * How long a run that must end waits for a reader that takes nothing: on a busy machine, the reader may be waiting for
 * a CPU.
 */
#define GRACE_MS 1000

/*
 * Waits until the file accepts text. Returns -ECANCELED if the run must end and the file has accepted nothing for
 * GRACE_MS.
 */
static int await_reader(int fd, int stop_fd)
{
	struct pollfd waited[2] = { { .fd = fd, .events = POLLOUT }, { .fd = stop_fd, .events = POLLIN } };
	int n;

	do
		n = poll(waited, 2, -1);
	while (n < 0 && errno == EINTR);
	if (n > 0 && !waited[0].revents)
		n = poll(waited, 1, GRACE_MS);
	return n < 0 ? -errno : waited[0].revents ? 0 : -ECANCELED;
}

/*
 * Writes to pipes, sockets and terminals in pieces that fit at once after poll(2): a longer write(2) would wait for the
 * reader and ignore signals.
 */
static int write_heeding(int fd, int stop_fd, const char *text, size_t n)
{
	struct stat st;
	size_t most = !fstat(fd, &st) && S_ISREG(st.st_mode) ? SSIZE_MAX : PIPE_BUF;
	ssize_t written;
	int err;

	for (; n; text += written, n -= written) {
		err = await_reader(fd, stop_fd);
		if (err)
			return err;
		written = write(fd, text, n < most ? n : most);
		if (written < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (written < 0)
			written = 0;
	}
	return 0;
}

int writer__emit(struct writer *w, const char *text, size_t n)
{
	int err = 0, fd = w->stop_fd > 0 ? fileno(w->file) : -1;

	if (w->failed == -ECANCELED)
		return w->failed;
	errno = 0;
	if (fd >= 0 && fflush(w->file))
		err = errno ? -errno : -EIO;
	else if (fd >= 0)
		err = write_heeding(fd, w->stop_fd, text, n);
	else if (fwrite(text, 1, n, w->file) != n || fflush(w->file) || ferror(w->file))
		err = errno ? -errno : -EIO;
	if (!err)
		err = replacement__commit(&w->replacement);
	if (err && !w->failed)
		w->failed = err;
	return err;
}
