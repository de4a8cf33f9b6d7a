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
	diag_error("'%s' is no window", text);
	diag_hint("as in: tally diff FILE@03:00-03:10 FILE@03:10-03:20 syscount");
	return -EINVAL;
}

static int take_report(void *context, const struct report *r)
{
	return merge__add(context, r);
}

/* Reads the report as if it had been saved. */
static int read_report(struct saved *s, const char *text, const struct report *r)
{
	char *json = NULL;
	size_t size = 0;
	struct writer w = { .file = open_memstream(&json, &size), .format = FORMAT_JSON };
	int err = w.file ? writer__write(&w, r) : -ENOMEM;

	if (w.file && fclose(w.file) && !err)
		err = -ENOMEM;
	if (!err)
		err = saved__read_text(s, text, json, size);
	free(json);
	return err;
}

static int find_line(struct store *store, const char *line, s64 *id)
{
	struct store_measurement *m = NULL;
	size_t n = 0, i, found = 0;
	int err = store__measurements(store, &m, &n);

	for (i = 0; i < n && !err; i++)
		if (line ? !strcmp(line, m[i].tool) || !strcmp(line, m[i].command) : n == 1) {
			*id = m[i].id;
			found++;
		}
	free(m);
	if (err || found == 1)
		return err;
	if (!line)
		diag_error("several lines were recorded: which one?");
	else
		diag_error(found ? "'%s' was recorded with several lines: which one?" : "nothing of '%s' was recorded",
			   line);
	diag_hint(
		"tally show FILE lists them; as in: tally diff FILE@03:00-03:10 FILE@03:10-03:20 'runqlat --by cgroup'");
	return -EINVAL;
}

static int read_window(struct saved *s, struct store *store, const char *text, char *times, const char *line)
{
	struct merge *merge = merge__new();
	const struct store_reader reader = { .context = merge, .report = take_report };
	struct store_window window;
	u64 begin_ns, end_ns;
	s64 id = 0;
	int err = merge ? store__extent(store, &begin_ns, &end_ns) : -ENOMEM;

	if (!err)
		err = parse_window(times, end_ns, &window);
	if (!err)
		err = find_line(store, line, &id);
	if (!err)
		err = store__read(store, &window, id, &reader);
	if (!err && !merge__report(merge)) {
		diag_error("%s: nothing was recorded in that window", text);
		err = -EINVAL;
	}
	if (!err)
		err = read_report(s, text, merge__report(merge));
	merge__free(merge);
	return err;
}

int saved__read_window(struct saved *s, const char *text, const char *line)
{
	char *path = strdup(text), *times = path ? cut(path) : NULL;
	struct store *store = NULL;
	int err;

	*s = (struct saved){ .path = text };
	if (!times) {
		free(path);
		return -ENOMEM;
	}
	err = store__open(&store, path);
	if (!err)
		err = read_window(s, store, text, times, line);
	store__close(store);
	free(path);
	return err;
}
