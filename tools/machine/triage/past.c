// SPDX-License-Identifier: BSD-2-Clause
#include "machine/triage/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "machine/triage/gather.h"
#include "machine/triage/rules.h"
#include "record/merge.h"
#include "record/store.h"
#include "report/diag.h"
#include "report/html.h"
#include "run/run.h"
#include "triage/page.h"
#include "triage/rule.h"

/* A finding, with its begin and end. */
struct episode {
	const struct triage_rule *rule;
	u64 from_ns, to_ns;
	enum triage_level level;
	double value;           /* the worst value */
	char *sentence;
};

struct past {
	struct gathered gathered;
	const struct store *store;
	char kernel[96];
	struct episode *episode;
	size_t n;
	bool each;              /* an episode per interval; otherwise one for the whole window */
};

/*
 * --- one interval ------------------------------------------------------------------------------
 */

/* Returns the newest episode of the rule if it lasts at least nearly until start_ns, otherwise NULL. */
static struct episode *going_on(struct past *p, const struct triage_rule *rule, u64 start_ns, u64 duration_ns)
{
	size_t i;

	for (i = p->n; i-- > 0; )
		if (p->episode[i].rule == rule)
			return start_ns <= p->episode[i].to_ns + duration_ns / 2 ? &p->episode[i] : NULL;
	return NULL;
}

static struct episode *new_episode(struct past *p, const struct triage_rule *rule, u64 start_ns)
{
	const struct episode new = { .rule = rule, .from_ns = start_ns };

	return ARRAY_APPEND(p->episode, p->n, new) ? NULL : &p->episode[p->n - 1];
}

static int add_finding(struct past *p, const struct triage_finding *f, u64 start_ns, u64 duration_ns)
{
	struct episode *e = going_on(p, f->rule, start_ns, duration_ns);
	char *sentence;

	if (!e)
		e = new_episode(p, f->rule, start_ns);
	if (!e)
		return -ENOMEM;
	e->to_ns = start_ns + duration_ns;
	if (e->sentence && (f->level < e->level || triage_finding__judged(f) <= e->value))
		return 0;
	sentence = triage_sentence(f);
	if (!sentence)
		return -ENOMEM;
	free(e->sentence);
	e->sentence = sentence;
	e->value = triage_finding__judged(f);
	if (f->level > e->level)
		e->level = f->level;
	return 0;
}

static int end_of_interval(void *context, u64 start_ns, u64 duration_ns)
{
	struct past *p = context;
	struct triage_finding *finding;
	size_t i;
	int err = 0;

	gathered__end(&p->gathered, start_ns, duration_ns);
	if (!p->each)
		return 0;
	finding = triage__findings(p->gathered.triage, p->gathered.cpus);
	if (!finding)
		return -ENOMEM;
	for (i = 0; i < triage_rule_count && finding[i].level != TRIAGE_FINE && !err; i++)
		err = add_finding(p, &finding[i], start_ns, duration_ns);
	free(finding);
	gathered__reset(&p->gathered);
	return err;
}

static int take_report(void *context, const struct report *r)
{
	struct past *p = context;

	if (r->kernel)
		snprintf(p->kernel, sizeof(p->kernel), "%s", r->kernel);
	gathered__leave_out(&p->gathered, store__recorder(p->store));
	return gathered__take(&p->gathered, r);
}

static int take_line(void *context, const char *tool, const struct stream_line *line)
{
	struct past *p = context;

	gathered__leave_out(&p->gathered, store__recorder(p->store));
	return triage__take_line(p->gathered.triage, tool, line);
}

/*
 * --- output ------------------------------------------------------------------------------------
 */

static int by_time(const void *a, const void *b)
{
	const struct episode *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (int)y->rule->weight - (int)x->rule->weight;
}

static int add_episode(struct report *r, const struct episode *e)
{
	char from[WHEN_SPACE], to[WHEN_SPACE];
	struct report_row row = {};
	int err = report_row__add_text(&row, "from", when__text(from, e->from_ns));

	if (!err)
		err = report_row__add_text(&row, "to", when__text(to, e->to_ns));
	if (!err)
		err = report_row__add_text(&row, "level", e->level == TRIAGE_PROBLEM ? "PROBLEM" : "notice");
	if (!err)
		err = report_row__add_text(&row, "rule", e->rule->name);
	if (!err)
		err = report_row__add_text(&row, "worst", e->sentence);
	return report__end_row(r, &row, err);
}

static int write_episodes(struct past *p, const char *path, struct writer *w)
{
	struct report r = {
		.tool = "triage", .value = "findings", .table = true, .standing = true, .command = path,
		.kernel = p->kernel, .cpus = p->gathered.cpus, .start_ns = p->gathered.start_ns,
		.duration_ns = p->gathered.duration_ns,
		.nothing = "no rule fired",
	};
	size_t i;
	int err = 0;

	if (p->n)
		qsort(p->episode, p->n, sizeof(*p->episode), by_time);
	for (i = 0; i < p->n && !err; i++)
		err = add_episode(&r, &p->episode[i]);
	if (!err)
		err = writer__write(w, &r);
	if (!err && p->n)
		diag_hint(
			"other findings of that time: tally triage %s --at TIME; the figures: tally show %s TOOL --at TIME",
			path, path);
	report__free(&r);
	return err;
}

static int write_page(struct past *p, const struct cli *cli, struct writer *w)
{
	struct triage_page page = {
		.kernel = p->kernel, .cpus = p->gathered.cpus, .start_ns = p->gathered.start_ns,
		.duration_ns = p->gathered.duration_ns, .measurements = p->gathered.ntools,
		.loss = p->gathered.loss, .nlosses = p->gathered.nlosses, .verbose = cli->verbose,
	};

	return gathered__write(&p->gathered, &page, p->gathered.cpus, w);
}

/*
 * --- figures of a page -------------------------------------------------------------------------
 */

struct adding {
	struct writer *w;
	struct merge *merge;
};

static int add_interval(void *context, const struct report *r)
{
	struct adding *a = context;

	return html__add_interval(a->w, r) ?: merge__add(a->merge, r);
}

static int add_line(void *context, const char *tool, const struct stream_line *line)
{
	struct adding *a = context;

	(void)tool;
	return html__add_line(a->w, line);
}

static int add_merged(struct adding *a)
{
	struct report *r = merge__report(a->merge);

	if (!r)
		return 0;
	if (merge__count(a->merge) > 1 && r->nrows)
		report__sort_rows(r, report__usual_column(r), 1, 0);
	if (merge__count(a->merge) > 1 && r->ngroups)
		report__sort_groups(r, report_sort_column("count"), 0);
	return html__add_report(a->w, r);
}

static int add_measurement(struct writer *w, struct store *store, const struct store_measurement *m,
			   const struct store_window *window)
{
	struct adding a = { w, merge__new() };
	const struct store_reader reader = { .context = &a, .report = add_interval, .line = add_line };
	int err;

	w->of_tool = m->tool;
	w->of_command = m->command;
	err = a.merge ? store__read(store, window, m->id, &reader) : -ENOMEM;
	if (!err)
		err = add_merged(&a);
	merge__free(a.merge);
	return err;
}

static int add_measurements(struct writer *w, struct store *store, const struct store_window *window)
{
	struct store_measurement *m = NULL;
	size_t n = 0, i;
	int err = store__measurements(store, &m, &n);

	for (i = 0; i < n && !err; i++)
		err = add_measurement(w, store, &m[i], window);
	free(m);
	return err;
}

static int look(struct past *p, struct store *store, const char *path, const struct when *when, const struct cli *cli,
		struct writer *w)
{
	const struct store_reader reader = { p, take_report, take_line, end_of_interval };
	struct store_window window;
	u64 begin_ns, end_ns;
	int err = store__extent(store, &begin_ns, &end_ns);

	p->store = store;
	if (!err)
		err = when__window(when, begin_ns, end_ns, &window);
	if (!err)
		err = store__read(store, &window, 0, &reader);
	if (!err && !p->gathered.duration_ns) {
		diag_error("nothing was recorded in that window");
		err = -EINVAL;
	}
	if (err)
		return err;
	if (p->each)
		return write_episodes(p, path, w);
	err = write_page(p, cli, w);
	if (!err && w->format == FORMAT_HTML)
		err = add_measurements(w, store, &window);
	return err;
}

int triage_past(const char *path, const struct when *when, const struct cli *cli)
{
	struct past p = {
		.each = !when->at && !when->from && !when->to,
	};
	struct store *store = NULL;
	struct writer w = {};
	size_t i;
	int err = gathered__begin(&p.gathered) ?: cli__open_writer(cli, &w);

	if (!err)
		err = store__open(&store, path);
	if (!err)
		w.host = store__host(store);
	if (!err)
		err = look(&p, store, path, when, cli, &w);
	err = cli__close_writer(&w, err);
	store__close(store);
	gathered__free(&p.gathered);
	for (i = 0; i < p.n; i++)
		free(p.episode[i].sentence);
	free(p.episode);
	return err == -EINVAL ? EXIT_USAGE : err == -ENOSYS ? EXIT_UNABLE : err ? EXIT_FAILED : EXIT_DONE;
}
