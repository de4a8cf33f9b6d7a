// SPDX-License-Identifier: BSD-2-Clause
#include "machine/diff/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/merge.h"
#include "record/store.h"
#include "record/when.h"
#include "report/diag.h"

/*
 * Cuts the text after the file's name, and returns the rest, or NULL. Names and times may contain
 * '@'.
 */
static char *cut(char *text)
{
	char *at;
	bool there;

	for (at = strchr(text, '@'); at; at = strchr(at + 1, '@')) {
		*at = 0;
		there = !access(text, F_OK);
		if (there)
			return at + 1;
		*at = '@';
	}
	return NULL;
}

bool window_is_meant(const char *text)
{
	char *copy = access(text, F_OK) ? strdup(text) : NULL;
	bool meant = copy && cut(copy);

	free(copy);
	return meant;
}

/* Times contain dashes: the first dash with a valid time on both sides separates them. */
static int parse_window(char *text, u64 end_ns, struct store_window *window)
{
	char *dash;
	int err;

	for (dash = strchr(text, '-'); dash; dash = strchr(dash + 1, '-')) {
		*dash = 0;
		err = *text ? when__parse(text, end_ns, &window->from_ns) : -EINVAL;
		if (!err)
			err = when__parse(dash + 1, end_ns, &window->to_ns);
		*dash = '-';
		if (!err && window->from_ns < window->to_ns)
			return 0;
	}
	diag_error("'%s' is not a time window", text);
	diag_hint("as in: tally diff FILE@03:00-03:10 FILE@03:10-03:20 syscount");
	return -EINVAL;
}

/* The reports of a window as the text of a saved run: either the sum, or each interval. */
struct window {
	const char *text;       /* as typed */
	struct merge *merge;    /* NULL: keep each interval */
	struct writer writer;
	char *json;
	size_t size, n;
};

static int window__init(struct window *w, const char *text, bool apart)
{
	*w = (struct window){ .text = text, .writer.format = FORMAT_JSON };
	w->merge = apart ? NULL : merge__new();
	w->writer.file = open_memstream(&w->json, &w->size);
	return w->writer.file && (apart || w->merge) ? 0 : -ENOMEM;
}

static void window__free(struct window *w)
{
	if (w->writer.file)
		fclose(w->writer.file);
	merge__free(w->merge);
	free(w->json);
}

static int write_interval(struct window *w, const struct report *r)
{
	int err;

	if (r->standing) {
		diag_error("%s reports the state at one moment, which --test cannot compare", r->tool);
		return -EINVAL;
	}
	err = writer__write(&w->writer, r);
	if (err || w->size <= SAVED_MOST_BYTES)
		return err;
	diag_error("%s: more than %llu MiB of reports: compare shorter windows", w->text, SAVED_MOST_BYTES >> 20);
	return -EFBIG;
}

static int take_report(void *context, const struct report *r)
{
	struct window *w = context;

	w->n++;
	return w->merge ? merge__add(w->merge, r) : write_interval(w, r);
}

/* Reads the collected reports as if they had been saved. */
static int read_reports(struct saved *s, struct window *w)
{
	int err = 0;

	if (!w->n) {
		diag_error("%s: nothing was recorded in that window", w->text);
		return -EINVAL;
	}
	if (w->merge)
		err = writer__write(&w->writer, merge__report(w->merge));
	if (fclose(w->writer.file) && !err)
		err = -ENOMEM;
	w->writer.file = NULL;
	return err ?: saved__read_text(s, w->text, w->json, w->size);
}

static bool is_line(const struct store_measurement *m, const char *line)
{
	return !strcmp(line, m->command);
}

static bool is_of_tool(const struct store_measurement *m, const char *line)
{
	return !line || !strcmp(line, m->tool);
}

static size_t count_lines(const struct store_measurement *m, size_t n, const char *line,
			  bool (*is_wanted)(const struct store_measurement *m, const char *line), s64 *id)
{
	size_t i, found = 0;

	for (i = 0; i < n; i++)
		if (is_wanted(&m[i], line)) {
			*id = m[i].id;
			found++;
		}
	return found;
}

/*
 * Finds a measurement by a whole line, which may be the name of a tool alone, or by the name of a tool that has only
 * one line. NULL: the recording must have only one line.
 */
static int find_line(struct store *store, const char *line, s64 *id)
{
	struct store_measurement *m = NULL;
	size_t n = 0, found = 0;
	int err = store__measurements(store, &m, &n);

	if (!err && line)
		found = count_lines(m, n, line, is_line, id);
	if (!err && !found)
		found = count_lines(m, n, line, is_of_tool, id);
	free(m);
	if (err || found == 1)
		return err;
	if (!line)
		diag_error("several lines were recorded; name one of them");
	else
		diag_error(found ? "'%s' was recorded with several lines; name one of them" : "'%s' was not recorded",
			   line);
	diag_hint(
		"tally show FILE lists them; as in: tally diff FILE@03:00-03:10 FILE@03:10-03:20 'runqlat --by cgroup'");
	return -EINVAL;
}

static int read_window(struct saved *s, struct store *store, struct window *w, char *times, const char *line)
{
	const struct store_reader reader = { .context = w, .report = take_report };
	struct store_window window;
	u64 begin_ns, end_ns;
	s64 id = 0;
	int err = store__extent(store, &begin_ns, &end_ns);

	if (!err)
		err = parse_window(times, end_ns, &window);
	if (!err)
		err = find_line(store, line, &id);
	if (!err)
		err = store__read(store, &window, id, &reader);
	return err ?: read_reports(s, w);
}

static int read_as(struct saved *s, const char *text, const char *line, bool apart)
{
	struct window window;
	char *path = strdup(text), *times = path ? cut(path) : NULL;
	struct store *store = NULL;
	int err;

	*s = (struct saved){ .path = text };
	if (!times) {
		free(path);
		return -ENOMEM;
	}
	err = window__init(&window, text, apart);
	if (!err)
		err = store__open(&store, path);
	if (!err)
		err = read_window(s, store, &window, times, line);
	window__free(&window);
	store__close(store);
	free(path);
	return err;
}

int saved__read_window(struct saved *s, const char *text, const char *line)
{
	return read_as(s, text, line, false);
}

int saved__read_intervals(struct saved *s, const char *text, const char *line)
{
	return read_as(s, text, line, true);
}
