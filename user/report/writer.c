// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>

#include "report/html.h"
#include "report/openmetrics.h"
#include "report/replace.h"
#include "report/report.h"
#include "report/stream_columns.h"

void writer__close(struct writer *w)
{
	int err = html__end(w);

	if (err && !w->failed)
		w->failed = err;
	errno = 0;
	err = 0;
	if (w->file && (w->file == stdout ? fflush(stdout) : fclose(w->file)))
		err = errno ? -errno : -EIO;
	if (!w->failed)
		w->failed = err;
	w->file = NULL;
	stream_columns__free(w->columns);
	w->columns = NULL;
	replacement__release(&w->replacement);
}

/* Writes a report to stderr, so that it does not end up among the lines that programs read. */
static int write_aside(const struct writer *w, const struct report *r)
{
	struct writer aside = {
		.file = stderr, .format = FORMAT_TEXT, .milliseconds = w->milliseconds, .timestamps = w->timestamps,
		.terminal = terminal__of(stderr), .brief = w->brief,
	};
	struct writing writing;
	int err = writer__begin(&aside, &writing);

	if (!err)
		err = write_text(&aside, r);
	err = writer__end(&aside, &writing, err);
	return err == -ENOMEM ? err : 0;        /* the lines matter more than this report */
}

static int write_noted(struct writer *w, const struct report *r)
{
	static int (*const writers[FORMATS])(struct writer *, const struct report *) = {
		[FORMAT_TEXT] = write_text, [FORMAT_JSON] = write_json, [FORMAT_CSV] = write_csv,
		[FORMAT_FOLDED] = write_folded, [FORMAT_FLAME] = write_flame,
		[FORMAT_PPROF] = write_pprof, [FORMAT_SPEEDSCOPE] = write_speedscope,
	};
	/*
	 * Reports that the format cannot show become text: reports without stacks (-n) in a format for stacks, reports
	 * without figures in a format for metrics.
	 */
	bool fits = !format_is_metrics(w->format) && (w->format < FORMAT_FOLDED || r->stacks);
	enum report_format format = fits ? w->format : FORMAT_TEXT;
	struct writing writing;
	int err;

	if (w->format == FORMAT_HTML)
		return html__add_report(w, r);
	if (w->format == FORMAT_TEXT && w->only_lines)
		return write_aside(w, r);
	err = writer__begin(w, &writing);
	if (!err)
		err = writers[format](w, r);
	stream_columns__interrupt(w->columns);
	return writer__end(w, &writing, err);
}

int writer__write(struct writer *w, const struct report *r)
{
	char room[REPORT_NOTE_SPACE];
	struct report noted = *r;

	if (w->sink)
		return w->sink->report(w->sink->context, r);
	if (w->metrics)
		return openmetrics__add(w->metrics, r, 0);
	noted.caveat = report__note(r, room);
	return write_noted(w, &noted);
}
