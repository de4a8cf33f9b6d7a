// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/openmetrics.h"
#include "report/replace.h"
#include "report/report.h"

/*
 * A line-buffered file could fail in the middle of a report and lose errno. fwrite() may fail and
 * still return n, so check ferror().
 */
int writer__begin(struct writer *w, struct writing *writing)
{
	*writing = (struct writing){ .file = w->file };
	w->file = open_memstream(&writing->text, &writing->n);
	return w->file ? 0 : -ENOMEM;
}

/* Requests choose the format themselves (run/listen.h); this one is for files. */
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

int writer__emit(struct writer *w, const char *text, size_t n)
{
	int err = 0;

	errno = 0;
	if (fwrite(text, 1, n, w->file) != n || fflush(w->file) || ferror(w->file))
		err = errno ? -errno : -EIO;
	if (!err)
		err = replacement__commit(&w->replacement);
	if (err && !w->failed)
		w->failed = err;
	return err;
}
