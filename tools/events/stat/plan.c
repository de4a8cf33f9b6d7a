// SPDX-License-Identifier: BSD-2-Clause
/* Turns options into a plan for counting. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/typed.h"
#include "expr/tracepoint_filter.h"
#include "host/features.h"
#include "report/diag.h"
#include "run/explain.h"
#include "events/stat/table.h"

static int add_default_events(struct stat_run *s, const struct event_context *ctx)
{
	static const char *const software =
		"task-clock,context-switches,cpu-migrations,page-faults";
	static const char *const faults = "minor-faults,major-faults";
	static const char *const hardware = "cycles,instructions,branches,branch-misses";
	static const char *const caches =
		"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses";
	int err = events__take(&s->events, &s->text, ctx, software);

	s->defaults = true;
	s->no_pmu = feature__probe("hardware counters") != FEATURE_OK;
	if (!err && s->detailed)
		err = events__take(&s->events, &s->text, ctx, faults);
	if (!err && !s->no_pmu)
		err = events__take(&s->events, &s->text, ctx, hardware);
	if (!err && !s->no_pmu && s->detailed)
		err = events__take(&s->events, &s->text, ctx, caches);
	return err;
}

bool stat_is_of_glob(const struct stat_run *s, size_t row)
{
	const struct event *e = &s->events.event[s->row[row].event];

	return e->type >= EVENT_TRACEPOINT && strpbrk(e->name, "*?[") && !s->row[row].site->is_named;
}

/* Sites with the same name share a row: several places of a line, or functions with the same name. */
static int make_rows(struct stat_run *s)
{
	size_t i, k;

	s->row_of = calloc(s->sites.n ?: 1, sizeof(*s->row_of));
	s->row = calloc(s->sites.n ?: 1, sizeof(*s->row));
	if (!s->row_of || !s->row)
		return -ENOMEM;
	for (i = 0; i < s->sites.n; i++) {
		const struct event_site *site = &s->sites.site[i];
		size_t event = site->event - s->events.event;

		/* The sites of an event are adjacent, and so are those with the same name. */
		for (k = s->nrows; k > 0; k--)
			if (s->row[k - 1].event != event || !strcmp(s->row[k - 1].name, site->name))
				break;
		if (k && s->row[k - 1].event == event) {
			s->row_of[i] = k - 1;
			continue;
		}
		s->row_of[i] = s->nrows;
		s->row[s->nrows++] = (struct stat_row){
			.name = site->name, .site = site, .event = event,
			.counter = site->event->type < EVENT_TRACEPOINT,
		};
	}
	return 0;
}

static struct kernel_types *kernel_types(void *arg)
{
	struct stat_run *s = arg;

	return kernel_types__on_first_use(&s->types);
}

/* A program counts the event, with the filter compiled into it. */
static int compile_filter(struct stat_run *s, size_t i, const struct expr *e,
			  const struct tracepoint_format *format, struct complaint *c)
{
	const struct place place = {
		.context = PLACE_RECORD, .event = s->sites.site[i].name, .format = format,
		.types = kernel_types, .types_arg = s,
	};
	int err = filter__compile(&s->code[i], e, &place, c);

	s->compiled[i].by_record = true;
	s->compiled[i].body[EVENT_FILTER] =
		(struct attach_body){s->code[i].insn, err ? 0 : s->code[i].n};
	return err;
}

/* The kernel counts the event. Its own filters are less expressive, but know all fields. */
static int tell_filter(struct stat_run *s, size_t i, const struct expr *e,
		       const struct tracepoint_format *format, struct complaint *c)
{
	struct event_site *site = &s->sites.site[i];

	site->attr.type = PERF_TYPE_TRACEPOINT;
	site->attr.config = site->tracepoint_id;
	return tracepoint_filter__make(&s->filter[i], e, format, site->name, c);
}

typedef int (*make_filter_fn)(struct stat_run *s, size_t i, const struct expr *e,
			      const struct tracepoint_format *format, struct complaint *c);

/*
 * A single --filter applies to all events. If there are several, each applies to the events since
 * the previous one.
 */
static bool is_filtered(const struct stat_run *s, const struct cli *cli, const struct cli_filter *f,
			size_t site)
{
	size_t typed = s->typed[s->sites.site[site].event - s->events.event];

	if (!s->sites.site[site].tracepoint_id)
		return false;
	return cli->nfilters == 1 || (typed < f->end && (f == cli->filters || typed >= f[-1].end));
}

static int for_tracepoints(struct stat_run *s, const struct cli *cli, const struct cli_filter *f,
			   const struct expr *e, make_filter_fn make, struct complaint *c)
{
	struct tracepoint_format format;
	int tracefs = tracefs__open(), err = 0;
	size_t i;

	for (i = 0; i < s->sites.n && !err; i++) {
		if (!is_filtered(s, cli, f, i))
			continue;
		/* The fields of each tracepoint define the names in the filter. */
		err = event_site__read_format(&format, &s->sites.site[i], tracefs);
		if (err) {
			diag_error("cannot read the fields of %s: %s", s->sites.site[i].name,
				   strerror(-err));
			break;
		}
		err = make(s, i, e, &format, c);
		tracepoint_format__free(&format);
	}
	if (tracefs >= 0)
		close(tracefs);
	return err;
}

static bool filters_any(const struct stat_run *s, const struct cli *cli, const struct cli_filter *f)
{
	size_t i;

	for (i = 0; i < s->sites.n; i++)
		if (is_filtered(s, cli, f, i))
			return true;
	return false;
}

static bool is_per_cpu(const struct stat_run *s)
{
	return s->per_cpu || s->per_core || s->per_socket;
}

/*
 * The subject of a wakeup is the woken task. Its record contains the task's pid and name, but programs that read
 * records cannot reach the task itself, and therefore neither its user nor its cgroup.
 */
static int check_subjects(const struct stat_run *s, const struct cli *cli)
{
	const struct scope_options *o = &cli->scope;
	size_t i;

	if (!(cli->by & ~BY_CPU) && !o->npids && !o->ntids && !o->command_pid && !o->user &&
	    !o->cgroup && !o->comm && !o->pidns)
		return 0;
	for (i = 0; i < s->sites.n; i++) {
		if (!tracepoint_has_task(s->sites.site[i].name))
			continue;
		diag_error("--filter: %s concerns a task other than the current one, and cannot be combined with a "
			   "scope or --by",
			   s->sites.site[i].name);
		diag_hint("filter on its fields (comm, pid) without a scope and without --by");
		return -EINVAL;
	}
	return 0;
}

/* quiet: reports no error, because the kernel's own filter is the alternative. */
static int make_filter(struct stat_run *s, const struct cli *cli, const struct cli_filter *f,
		       make_filter_fn make, bool quiet)
{
	struct complaint c = {};
	struct expr *e;
	int err;

	if (!filters_any(s, cli, f)) {
		diag_error("--filter needs a tracepoint among the events");
		return -EINVAL;
	}
	err = expr__parse(&e, f->text, &c);
	if (err) {
		diag_complaint("--filter", f->text, &c);
		return err;
	}
	err = for_tracepoints(s, cli, f, e, make, &c);
	if (err && c.what[0] && !(quiet && err == -EOPNOTSUPP))
		diag_complaint("--filter", f->text, &c);
	expr__free(e);
	return err;
}

static int make_all(struct stat_run *s, const struct cli *cli, make_filter_fn make, bool quiet)
{
	int err = 0;
	size_t i;

	for (i = 0; i < cli->nfilters && !err; i++)
		err = make_filter(s, cli, &cli->filters[i], make, quiet);
	return err;
}

/* native: the kernel could count the events itself. */
static int make_filters(struct stat_run *s, const struct cli *cli, bool native)
{
	int err;

	s->code = calloc(s->sites.n, sizeof(*s->code));
	s->compiled = calloc(s->sites.n, sizeof(*s->compiled));
	s->filter = calloc(s->sites.n, sizeof(*s->filter));
	if (!s->code || !s->compiled || !s->filter)
		return -ENOMEM;
	err = make_all(s, cli, compile_filter, native);
	kernel_types__close(&s->types);
	if (err != -EOPNOTSUPP || !native)
		return err;
	memset(s->compiled, 0, s->sites.n * sizeof(*s->compiled));
	return make_all(s, cli, tell_filter, false);
}

static int remember_typed(struct stat_run *s, size_t typed)
{
	size_t i = s->ntyped;

	if (array__grow(&s->typed, i, s->events.n - i, sizeof(*s->typed)))
		return -ENOMEM;
	for (; i < s->events.n; i++)
		s->typed[i] = typed;
	s->ntyped = i;
	return 0;
}

/* In perf, -x sets the separator of CSV; here, it names a file. Reports an error if no event uses the file. */
static int check_binary(const struct stat_run *s, const char *binary)
{
	size_t i;

	for (i = 0; i < s->events.n; i++)
		if (s->events.event[i].type >= EVENT_USER_FUNCTION || s->events.event[i].symbol)
			return 0;
	diag_error("-x needs a function of that program or library among the events");
	if (!isalnum((unsigned char)*binary) && !binary[1])
		diag_hint("perf's -x%s is --csv=%s here", binary, binary);
	else
		diag_hint("as in: -x %s -e FUNCTION; `list --functions -x %s` shows functions", binary, binary);
	return -EINVAL;
}

static int find_events(struct stat_run *s, const struct measurement *m, const struct cli *cli)
{
	const struct event_context ctx =
		event_context__of(cli->binary, cli->scope.pids, cli->scope.npids, cli->command);
	struct complaint c = {};
	size_t which = 0, i;
	int err = 0;

	for (i = 0; i < cli->nevents && !err; i++) {
		err = events__take(&s->events, &s->text, &ctx, cli->events[i]);
		err = err ?: remember_typed(s, i);
	}
	for (i = 0; i < s->nmetrics && !err; i++) {
		err = events__take(&s->events, &s->text, &ctx, s->metric[i]);
		err = err ?: remember_typed(s, cli->nevents + i);
	}
	if (!err && !cli->nevents && !s->nmetrics)
		err = add_default_events(s, &ctx) ?: remember_typed(s, 0);
	if (err)
		return err;
	for (i = 0; i < s->events.n && s->grouped; i++)
		s->events.event[i].group = 0;
	err = events__resolve(&s->sites, &s->events, &ctx, &c, &which);
	if (err) {
		diag_complaint("-e", s->text[which], &c);
		return err;
	}
	err = cli->binary ? check_binary(s, cli->binary) : 0;
	if (!err && cli->filter)
		err = check_subjects(s, cli);
	if (err)
		return err;
	err = cli->filter ? make_filters(s, cli, counting_is_native(m, cli->by, is_per_cpu(s))) : 0;
	return err ?: make_rows(s);
}

static int make_plan(struct stat_run *s, const struct cli *cli)
{
	s->plan = (struct counting_plan){
		.sites = &s->sites,
		.row = s->row_of,
		.nrows = s->nrows,
		.text = s->text,
		.events = &s->events,
		.filter = s->filter,
		.compiled = s->compiled,
		.by = cli->by,
		.per_cpu = is_per_cpu(s),
	};
	s->series = calloc(s->nrows ?: 1, sizeof(*s->series));
	return s->series ? 0 : -ENOMEM;
}

int stat__plan(struct stat_run *s, const struct measurement *m, const struct cli *cli)
{
	int err = find_events(s, m, cli);

	return err ?: make_plan(s, cli);
}

/* -n: shows the sites of each event on this machine, and how each would be counted. */
int stat__explain(struct stat_run *s, struct measurement *m)
{
	static const char *const names[] = { "event", "type", "how" };
	struct report r = { .tool = m->tool, .kernel = m->run->host.uts.release };
	int err = counting__explain(&s->counting, m, &s->plan);
	size_t i;

	for (i = 0; i < s->sites.n && !err; i++) {
		const struct event_site *site = &s->sites.site[i];
		const char *texts[] = { site->name, event_type_name(site->event->type),
					counting__how(&s->counting, i) };

		err = report__add_texts(&r, names, texts, ARRAY_SIZE(names));
	}
	if (!err)
		err = measurement__write(m, &r);
	report__free(&r);
	return err;
}
