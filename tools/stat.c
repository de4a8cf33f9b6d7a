// SPDX-License-Identifier: BSD-2-Clause
/* stat: counts of events. How they are counted is user/count; this is what is asked and shown. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/numbers.h"
#include "cli/task_key.h"
#include "count/counting.h"
#include "count/ratio.h"
#include "count/series.h"
#include "event/typed.h"
#include "expr/tracepoint_filter.h"
#include "host/features.h"
#include "jit/compile.h"
#include "out/diag.h"
#include "run/explain.h"
#include "run/run.h"
#include "tools.h"

/* Of our own options; those of user/cli are below. */
enum {
	KEY_DETAILED = 0x1000,
	KEY_PER_CORE,
	KEY_PER_SOCKET,
	KEY_PRE,
	KEY_POST,
	KEY_ZEROS,
};

/* One event as the report shows it. */
struct stat_row {
	const char *name;
	const struct event_site *site;  /* the first of that name */
	size_t event;                   /* index of the event that asked for it */
	bool counter;                   /* counted by perf_event_open(2) */
};

struct stat_run {
	bool detailed, per_cpu, per_core, per_socket, zeros;
	u64 repeat;
	const char *pre, *post;

	const char **text;              /* of each event, the -e it came from */
	struct events events;
	struct event_sites sites;
	u32 *row_of;                    /* of each site */
	struct stat_row *row;
	size_t nrows;
	struct code *code;              /* --filter, compiled for each site; NULL: none */
	struct attach_code *compiled;
	char **filter;                  /* or in the kernel's words */
	bool defaults;                  /* no -e was given */
	bool no_pmu; /* and there is no PMU to count what should have been there */

	struct counting_plan plan;
	struct counting counting;
	struct counts before;
	struct loss_counters losses_before;
	int *place; /* of each CPU, a core or a socket; NULL: CPUs as they are */

	struct series *series;          /* -r: of each row */
	struct series elapsed;
	u64 start_ns;                   /* of the first run */
	char source[1024], caveat[256];
};

/*
 * --- what is asked -----------------------------------------------------------------------------
 */

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct stat_run *s = state->input;

	switch (key) {
	case KEY_DETAILED:
		s->detailed = true;
		return 0;
	case 'A':
		s->per_cpu = true;
		return 0;
	case KEY_PER_CORE:
		s->per_core = true;
		return 0;
	case KEY_PER_SOCKET:
		s->per_socket = true;
		return 0;
	case 'r':
		if (!parse_u64_between(arg, 1, 1000000, &s->repeat))
			return 0;
		diag_error("-r: '%s' is not a number of runs", arg);
		return EINVAL;
	case KEY_PRE:
		s->pre = arg;
		return 0;
	case KEY_POST:
		s->post = arg;
		return 0;
	case KEY_ZEROS:
		s->zeros = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int check_options(const struct stat_run *s, struct cli *cli)
{
	int places = s->per_cpu + s->per_core + s->per_socket;

	if (places > 1) {
		diag_error("give one of -A, --per-core and --per-socket");
		return -EINVAL;
	}
	if (places && cli->by) {
		diag_error("-A, --per-core and --per-socket do not go with --by; --by cpu,comm "
			   "says both");
		return -EINVAL;
	}
	if (s->repeat && !cli->command) {
		diag_error("-r runs a command several times; there is none behind --");
		return -EINVAL;
	}
	if (s->repeat && (places || cli->by || cli->interval_ns)) {
		diag_error("-r gives one mean for each event: not with -A, --per-core, "
			   "--per-socket, --by "
			   "or -I");
		return -EINVAL;
	}
	if ((s->pre || s->post) && !cli->command) {
		diag_error(
			"--pre and --post go before and after a command; there is none behind --");
		return -EINVAL;
	}
	return 0;
}

/*
 * --- events ------------------------------------------------------------------------------------
 */

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

static bool is_glob(const struct event *e)
{
	return e->type >= EVENT_TRACEPOINT && strpbrk(e->name, "*?[");
}

/* Sites of one name are one row: several places of a line, functions that share their name. */
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

		/* Sites of an event follow each other, and so do those of one name. */
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

/* A program counts the event, and the filter becomes a part of it. */
static int compile_filter(struct stat_run *s, size_t i, const struct expr *e,
			  const struct tracepoint_format *format, struct complaint *c)
{
	const struct place place = {
		.context = PLACE_RECORD, .event = s->sites.site[i].name, .format = format,
	};
	int err = filter__compile(&s->code[i], e, &place, c);

	s->compiled[i].by_record = true;
	s->compiled[i].body[EVENT_FILTER] =
		(struct attach_body){s->code[i].insn, err ? 0 : s->code[i].n};
	return err;
}

/* The kernel counts the event, and knows filters too: fewer, but all fields. */
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

static int for_tracepoints(struct stat_run *s, const struct expr *e, make_filter_fn make,
			   struct complaint *c)
{
	struct tracepoint_format format;
	int tracefs = tracefs__open(), err = 0;
	size_t i;

	for (i = 0; i < s->sites.n && !err; i++) {
		if (!s->sites.site[i].tracepoint_id)
			continue;
		/* The fields of each decide what the names in the filter mean. */
		err = event_site__read_format(&format, &s->sites.site[i], tracefs);
		if (err) {
			diag_error("the fields of %s cannot be read: %s", s->sites.site[i].name,
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

static bool has_tracepoint(const struct stat_run *s)
{
	size_t i;

	for (i = 0; i < s->sites.n; i++)
		if (s->sites.site[i].tracepoint_id)
			return true;
	return false;
}

static bool is_per_cpu(const struct stat_run *s)
{
	return s->per_cpu || s->per_core || s->per_socket;
}

/*
 * A wakeup is about the task that is woken. Its record has that task's number and name, but
 * programs that read records have no way to the task itself, to its user or cgroup.
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
		diag_error("--filter: %s is about another task than the one that runs, and with a "
			   "filter "
			   "its scope and keys cannot be told",
			   s->sites.site[i].name);
		diag_hint("filter on its fields (comm, pid) without a scope and without --by");
		return -EINVAL;
	}
	return 0;
}

/* native: the kernel could count them. */
static int make_filters(struct stat_run *s, const char *text, bool native)
{
	struct complaint c = {};
	struct expr *e;
	int err;

	if (!has_tracepoint(s)) {
		diag_error("--filter is about fields of tracepoints; none is among the events");
		return -EINVAL;
	}
	err = expr__parse(&e, text, &c);
	if (err) {
		diag_complaint("--filter", text, &c);
		return err;
	}
	s->code = calloc(s->sites.n, sizeof(*s->code));
	s->compiled = calloc(s->sites.n, sizeof(*s->compiled));
	s->filter = calloc(s->sites.n, sizeof(*s->filter));
	err = s->code && s->compiled && s->filter ? 0 : -ENOMEM;
	if (!err)
		err = for_tracepoints(s, e, compile_filter, &c);
	if (err == -EOPNOTSUPP && native) {
		memset(s->compiled, 0, s->sites.n * sizeof(*s->compiled));
		err = for_tracepoints(s, e, tell_filter, &c);
	}
	if (err && c.what[0])
		diag_complaint("--filter", text, &c);
	expr__free(e);
	return err;
}

static int find_events(struct stat_run *s, const struct run *run, const struct cli *cli)
{
	const struct event_context ctx = { .binary = cli->binary };
	struct complaint c = {};
	size_t which = 0, i;
	int err = 0;

	for (i = 0; i < cli->nevents && !err; i++)
		err = events__take(&s->events, &s->text, &ctx, cli->events[i]);
	if (!err && !cli->nevents)
		err = add_default_events(s, &ctx);
	if (err)
		return err;
	err = events__resolve(&s->sites, &s->events, &ctx, &c, &which);
	if (err) {
		diag_complaint("-e", s->text[which], &c);
		return err;
	}
	err = cli->filter ? check_subjects(s, cli) : 0;
	if (err)
		return err;
	err = cli->filter ? make_filters(s, cli->filter,
					 counting_is_native(run, cli->by, is_per_cpu(s)))
			  : 0;
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

/* Cores are numbered by socket and core, so that an int says both: see put_place(). */
#define CORES_PER_SOCKET 65536

static int find_places(struct stat_run *s)
{
	const struct topology *t = &s->counting.topology;
	size_t i;

	if ((!s->per_core && !s->per_socket) || s->place)
		return 0;
	s->place = calloc(SCOPE_MAX_CPUS, sizeof(*s->place));
	if (!s->place)
		return -ENOMEM;
	for (i = 0; i < t->n; i++)
		s->place[t->cpu[i].cpu] = s->per_socket ? t->cpu[i].socket :
					  t->cpu[i].socket * CORES_PER_SOCKET + t->cpu[i].core;
	return 0;
}

/*
 * --- what is shown -----------------------------------------------------------------------------
 */

/* The counts of one key in one place, by row. */
struct group {
	const struct count *first;
	u64 *value;
	double *running;
	bool *counted;                  /* not where it cannot be, or was too short a time */
	struct ratio_count *ratio;
};

static void group__free(struct group *g)
{
	free(g->value);
	free(g->running);
	free(g->counted);
	free(g->ratio);
}

static int group__make(struct group *g, const struct stat_run *s)
{
	size_t n = s->nrows ?: 1;

	*g = (struct group){
		.value = calloc(n, sizeof(*g->value)),
		.running = calloc(n, sizeof(*g->running)),
		.counted = calloc(n, sizeof(*g->counted)),
		.ratio = calloc(n, sizeof(*g->ratio)),
	};
	if (g->value && g->running && g->counted && g->ratio)
		return 0;
	group__free(g);
	return -ENOMEM;
}

static bool same_group(const struct count *a, const struct count *b)
{
	return a->place == b->place && !memcmp(&a->key, &b->key, sizeof(a->key));
}

/* Fills in the n counts of a group, which follow each other. */
static void group__fill(struct group *g, const struct stat_run *s, const struct count *c, size_t n)
{
	const struct event_site *site;
	size_t i;

	g->first = c;
	for (i = 0; i < s->nrows; i++) {
		g->value[i] = 0;
		g->running[i] = 100;
		g->counted[i] = !counting__refused(&s->counting, i, &site);
	}
	for (i = 0; i < n; i++)
		g->counted[c[i].row] &=
			count__scale(&c[i], &g->value[c[i].row], &g->running[c[i].row]);
	for (i = 0; i < s->nrows; i++)
		g->ratio[i] = (struct ratio_count){
			s->row[i].name, g->value[i] * s->row[i].site->scale,
			/* A duration is what others are compared with. */
			g->counted[i] && !s->row[i].site->is_duration, s->row[i].site->is_time,
		};
}

static int put_place(const struct stat_run *s, struct report_row *row, int place)
{
	struct field cpu = { .name = "cpu", .kind = FIELD_ID, .number = place };
	char text[48];

	if (s->per_cpu)
		return report_row__add_field(row, &cpu);
	if (s->per_core)
		snprintf(text, sizeof(text), "S%d-C%d", place / CORES_PER_SOCKET,
			 place % CORES_PER_SOCKET);
	else
		snprintf(text, sizeof(text), "S%d", place);
	return report_row__add_text(row, s->per_core ? "core" : "socket", text);
}

static const char *unit_of(const struct event_site *site)
{
	return site->is_time ? "ns" : site->unit ?: "count";
}

static struct field value_field(const struct event_site *site, u64 value)
{
	struct field f = { .name = "count", .number = value };

	if (site->is_time) {
		f.kind = FIELD_TIME;
	} else if (site->unit) {
		f.kind = FIELD_REAL;
		f.real = value * site->scale;
		f.decimals = 3;
	}
	return f;
}

static u8 decimals_of(double value)
{
	return value >= 1000 ? 0 : value >= 10 ? 1 : 3;
}

/* Everything of a row behind its key and place. */
struct figures {
	struct field count;
	const struct ratio *ratio;      /* NULL: none */
	double running;
	bool scaled;                    /* some row was counted for a part of the time */
	const double *error;            /* -r: relative standard error; NULL without */
	const char *why;                /* it was not counted; NULL */
};

static int put_figures(struct report_row *row, const char *name, const char *unit,
		       const struct figures *f)
{
	struct field ratio = { .name = "ratio", .kind = FIELD_NONE }, error;
	struct field running = { .name = "running_percent", .kind = FIELD_REAL, .real = f->running,
				 .decimals = 1, .machine = !f->scaled };
	struct field none = { .name = "why", .kind = FIELD_NONE, .machine = true };
	int err;

	if (f->ratio) {
		ratio.kind = FIELD_REAL;
		ratio.real = f->ratio->value;
		ratio.decimals = decimals_of(f->ratio->value);
	}
	err = report_row__add_field(row, &f->count);
	if (!err)
		err = report_row__add_text(row, "event", name);
	if (!err)
		err = report_row__add_field(row, &ratio);
	if (!err)
		err = report_row__add_text(row, "of", f->ratio ? f->ratio->of : f->why);
	if (!err && f->error) {
		error = (struct field){.name = "stderr_percent",
				       .kind = FIELD_REAL,
				       .real = *f->error,
				       .decimals = 2};
		err = report_row__add_field(row, &error);
	}
	if (!err)
		err = report_row__add_field(row, &running);
	if (!err)
		err = report_row__add_text(row, "unit", unit);
	if (!err)
		row->cell[row->ncells - 1].machine = true;
	if (!err && f->why)
		err = report_row__add_text(row, "why", f->why);
	else if (!err)
		err = report_row__add_field(row, &none);
	if (!err)
		row->cell[row->ncells - 1].machine = true;
	return err;
}

static bool is_shown(const struct stat_run *s, const struct cli *cli, const struct group *g,
		     size_t i)
{
	if (s->zeros || g->value[i])
		return true;
	/* Hundreds of zeroes say nothing; a zero that was asked for by name does. */
	return !is_glob(&s->events.event[s->row[i].event]) && (!cli->by || s->row[i].counter);
}

static int put_row(struct stat_run *s, struct report *r, const struct cli *cli,
		   const struct group *g, size_t i, bool scaled, struct task_key_names *names)
{
	const struct event_site *site = s->row[i].site;
	struct figures f = { .running = g->running[i], .scaled = scaled };
	struct counter_refusal refusal;
	struct report_row row = {};
	struct ratio ratio;
	int err = 0, refused;
	char why[160];

	f.count = value_field(site, g->value[i]);
	if (g->counted[i] && ratio__derive(&ratio, g->ratio, s->nrows, i, r->duration_ns))
		f.ratio = &ratio;
	if (!g->counted[i]) {
		refused = counting__refused(&s->counting, i, &site);
		f.count = (struct field){ .name = "count", .kind = FIELD_NONE };
		if (refused)
			counter__refusal(&refusal, site, refused);
		snprintf(why, sizeof(why), "%s", refused ? refusal.why :
			 "counted less than 1 % of the time: too little to scale");
		f.why = why;
	}
	if (cli->by)
		err = task_key__add_fields(&row, &g->first->key, g->first->name, cli->by, names);
	else if (s->plan.per_cpu)
		err = put_place(s, &row, g->first->place);
	if (!err)
		err = put_figures(&row, s->row[i].name, unit_of(site), &f);
	if (err) {
		report_row__free(&row);
		return err;
	}
	return report__add_row(r, &row);
}

/* Within a glob the largest first; else as they were asked for. */
struct order {
	const struct stat_run *stat;
	const struct group *group;
	size_t row;
};

static int by_event_then_value(const void *a, const void *b)
{
	const struct order *x = a, *y = b;
	const struct stat_row *xr = &x->stat->row[x->row], *yr = &y->stat->row[y->row];
	u64 xv = x->group->value[x->row], yv = y->group->value[y->row];

	if (xr->event != yr->event)
		return xr->event < yr->event ? -1 : 1;
	if (is_glob(&x->stat->events.event[xr->event]) && xv != yv)
		return xv > yv ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int put_group(struct stat_run *s, struct report *r, const struct cli *cli,
		     const struct group *g, bool scaled, struct task_key_names *names)
{
	struct order *order = calloc(s->nrows ?: 1, sizeof(*order));
	size_t i, shown = 0;
	int err = 0;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < s->nrows; i++)
		order[i] = (struct order){ s, g, i };
	qsort(order, s->nrows, sizeof(*order), by_event_then_value);
	for (i = 0; i < s->nrows && !err; i++) {
		if (!is_shown(s, cli, g, order[i].row))
			continue;
		if (!cli->by && cli->top && shown++ >= cli->top)
			r->hidden++;
		else
			err = put_row(s, r, cli, g, order[i].row, scaled, names);
	}
	free(order);
	return err;
}

/* For people a key is one line, with a column for each event, as long as that fits a screen. */
#define WIDE_MOST 8

static bool is_wide(const struct stat_run *s, const struct cli *cli)
{
	size_t i;

	for (i = 0; i < s->nrows; i++)
		if (is_glob(&s->events.event[s->row[i].event]))
			return false;
	return cli->by && cli->format == FORMAT_TEXT && s->nrows <= WIDE_MOST;
}

static int put_wide(struct stat_run *s, struct report *r, const struct cli *cli,
		    const struct group *g, struct task_key_names *names)
{
	struct report_row row = {};
	struct field f;
	size_t i;
	int err;

	err = task_key__add_fields(&row, &g->first->key, g->first->name, cli->by, names);
	for (i = 0; i < s->nrows && !err; i++) {
		f = value_field(s->row[i].site, g->value[i]);
		if (!g->counted[i])
			f.kind = FIELD_NONE;
		f.name = s->row[i].name;
		err = report_row__add_field(&row, &f);
	}
	if (err) {
		report_row__free(&row);
		return err;
	}
	return report__add_row(r, &row);
}

/* Where the counts of each key and place begin; the largest in the first event come first. */
struct span {
	size_t from, n;
	u64 first;              /* the value of the first event, to sort by */
};

static int by_first_value(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->first != y->first)
		return x->first > y->first ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static bool is_idle(const struct counts *c, const struct span *span)
{
	size_t i;

	for (i = 0; i < span->n; i++)
		if (c->count[span->from + i].value)
			return false;
	return true;
}

/* Keys that did nothing in this interval are left out, without idle. */
static struct span *find_spans(const struct counts *c, bool keyed, bool idle, size_t *n)
{
	struct span *span = calloc(c->n ?: 1, sizeof(*span));
	size_t from, to;

	*n = 0;
	for (from = 0; span && from < c->n; from = to) {
		for (to = from + 1; to < c->n && same_group(&c->count[from], &c->count[to]); to++)
			;
		span[*n] = (struct span){
			.from = from, .n = to - from,
			.first = c->count[from].row ? 0 : c->count[from].value,
		};
		*n += !keyed || idle || !is_idle(c, &span[*n]);
	}
	if (span && keyed)
		qsort(span, *n, sizeof(*span), by_first_value);
	return span;
}

static bool any_scaled(const struct counts *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->count[i].enabled_ns != c->count[i].running_ns)
			return true;
	return false;
}

static int put_groups(struct stat_run *s, struct run *run, struct report *r, const struct counts *c)
{
	const struct count nothing = { .place = COUNT_EVERYWHERE };
	struct task_key_names names = { .hierarchy = run->scope.hierarchy };
	const struct cli *cli = run->cli;
	bool scaled = any_scaled(c);
	struct span *span;
	struct group g;
	size_t n, i;
	int err;

	err = group__make(&g, s);
	if (err)
		return err;
	span = find_spans(c, cli->by, s->zeros, &n);
	if (!span)
		err = -ENOMEM;
	/* Without keys and places there is always one group, be it of zeroes. */
	if (!err && !n && !cli->by && !s->plan.per_cpu) {
		group__fill(&g, s, &nothing, 0);
		err = put_group(s, r, cli, &g, false, &names);
	}
	for (i = 0; i < n && !err; i++) {
		if (cli->by && cli->top && i >= cli->top) {
			r->hidden += n - i;
			break;
		}
		group__fill(&g, s, &c->count[span[i].from], span[i].n);
		err = is_wide(s, cli) ? put_wide(s, r, cli, &g, &names) :
					put_group(s, r, cli, &g, scaled, &names);
	}
	free(span);
	group__free(&g);
	task_key_names__free(&names);
	return err;
}

/* The command's own time, once it has ended: getrusage(2), its children included. */
static int put_usage(struct run *run, struct report *r)
{
	const struct { const char *name; size_t at; } times[] = {
		{ "user-time", offsetof(struct rusage, ru_utime) },
		{ "system-time", offsetof(struct rusage, ru_stime) },
	};
	struct rusage usage = {};
	int status, err;
	size_t i;

	err = command__wait(&run->command, &usage, &status);
	for (i = 0; i < ARRAY_SIZE(times) && !err; i++) {
		const struct timeval *tv = (void *)((char *)&usage + times[i].at);
		u64 ns = tv->tv_sec * NSEC_PER_SEC + tv->tv_usec * 1000ULL;
		struct ratio ratio = {r->duration_ns ? (double)ns / r->duration_ns : 0,
				      "CPUs utilised"};
		struct figures f = {
			.count = { .name = "count", .kind = FIELD_TIME, .number = ns },
			.ratio = &ratio, .running = 100,
		};
		struct report_row row = {};

		err = put_figures(&row, times[i].name, "ns", &f);
		if (err)
			report_row__free(&row);
		else
			err = report__add_row(r, &row);
	}
	return err;
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

/* What came since the last call, by key, place and row. */
static int read_interval(struct stat_run *s, struct counts *c, struct loss_counters *losses)
{
	struct loss_counters now;
	struct counts whole;
	int err;

	err = counting__read(&s->counting, &whole, &now);
	if (!err)
		err = counts__copy(c, &whole);
	if (err) {
		counts__free(&whole);
		return err;
	}
	counts__subtract(c, &s->before);
	*losses = loss__difference(&now, &s->losses_before);
	counts__free(&s->before);
	s->before = whole;
	s->losses_before = now;
	if (s->place)
		counts__fold(c, s->place, SCOPE_MAX_CPUS);
	return 0;
}

static void describe(struct stat_run *s, struct report *r)
{
	counting__describe(&s->counting, s->source, sizeof(s->source));
	if (s->defaults && s->no_pmu)
		snprintf(s->caveat, sizeof(s->caveat),
			 "no hardware counters on this machine: cycles, "
			 "instructions and cache misses are left out");
	r->value = "counts";
	r->table = true;
	r->source = s->source[0] ? s->source : NULL;
	r->caveat = s->caveat[0] ? s->caveat : NULL;
}

static void keep_for_mean(struct stat_run *s, const struct report *r, const struct counts *c)
{
	double running;
	size_t i, k;
	u64 value;

	for (i = 0; i < s->nrows; i++) {
		value = 0;
		for (k = 0; k < c->n; k++)
			if (c->count[k].row == i && !count__scale(&c->count[k], &value, &running))
				value = 0;
		series__add(&s->series[i], value);
	}
	if (!s->elapsed.n)
		s->start_ns = r->start_ns;
	series__add(&s->elapsed, r->duration_ns);
}

static bool has_places(const struct stat_run *s)
{
	size_t i;

	for (i = 0; i < s->nrows; i++)
		if (!s->row[i].counter)
			return true;
	return false;
}

static int report(struct run *run, struct report *r)
{
	struct stat_run *s = run->context;
	struct counts c = {};
	size_t i;
	int err;

	describe(s, r);
	err = read_interval(s, &c, &r->counters);
	if (err)
		return err;
	for (i = 0; i < c.n; i++)
		if (s->row[c.count[i].row].site->is_duration)
			c.count[i].value = c.count[i].enabled_ns = c.count[i].running_ns =
				r->duration_ns;
	r->has_losses = s->counting.bpf;
	r->has_events = s->counting.bpf && has_places(s);
	for (i = 0; i < c.n; i++)
		if (!s->row[c.count[i].row].counter)
			r->events += c.count[i].value;
	if (s->repeat)
		keep_for_mean(s, r, &c);
	else
		err = put_groups(s, run, r, &c);
	if (!err && !s->repeat && s->defaults && !s->plan.by && !s->plan.per_cpu &&
	    !run->cli->interval_ns && command__has_ended(&run->command))
		err = put_usage(run, r);
	counts__free(&c);
	return err;
}

static int put_mean(const struct stat_run *s, struct report *r, const struct ratio_count *counts,
		    size_t i)
{
	const struct event_site *site = s->row[i].site;
	double relative = series__relative_error(&s->series[i]);
	int refused = counting__refused(&s->counting, i, &site);
	struct figures f = {
		.count = value_field(site, s->series[i].mean + 0.5),
		.running = 100,
		.error = &relative,
	};
	struct counter_refusal refusal;
	struct report_row row = {};
	struct ratio ratio;
	int err;

	if (ratio__derive(&ratio, counts, s->nrows, i, r->duration_ns))
		f.ratio = &ratio;
	if (refused) {
		counter__refusal(&refusal, site, refused);
		f.why = refusal.why;
		f.count = (struct field){ .name = "count", .kind = FIELD_NONE };
	}
	err = put_figures(&row, s->row[i].name, unit_of(site), &f);
	if (!err)
		return report__add_row(r, &row);
	report_row__free(&row);
	return err;
}

static int put_elapsed(const struct stat_run *s, struct report *r)
{
	double error = series__relative_error(&s->elapsed);
	struct figures f = {
		.count = { .name = "count", .kind = FIELD_TIME, .number = s->elapsed.mean + 0.5 },
		.running = 100, .error = &error,
	};
	struct report_row row = {};
	int err = put_figures(&row, "elapsed", "ns", &f);

	if (!err)
		return report__add_row(r, &row);
	report_row__free(&row);
	return err;
}

/* The means of all runs of -r, in one report. */
static int report_means(struct stat_run *s, struct run *run)
{
	struct report r = {
		.tool = run->tool,
		.command = run->cli->command_line,
		.kernel = run->host.uts.release,
		.cpus = run->host.cpus_online,
		.start_ns = s->start_ns,
		.duration_ns = s->elapsed.mean + 0.5,
	};
	struct ratio_count *counts = calloc(s->nrows ?: 1, sizeof(*counts));
	const struct event_site *site;
	int err = counts ? 0 : -ENOMEM;
	char value[48];
	size_t i;

	describe(s, &r);
	snprintf(value, sizeof(value), "means of %llu runs", s->elapsed.n);
	r.value = value;
	for (i = 0; i < s->nrows && !err; i++)
		counts[i] = (struct ratio_count){
			s->row[i].name, s->series[i].mean * s->row[i].site->scale,
			!counting__refused(&s->counting, i, &site) && !s->row[i].site->is_duration,
			s->row[i].site->is_time,
		};
	for (i = 0; i < s->nrows && !err; i++)
		if (s->zeros || s->series[i].mean > 0 ||
		    !is_glob(&s->events.event[s->row[i].event]))
			err = put_mean(s, &r, counts, i);
	if (!err)
		err = put_elapsed(s, &r);
	if (!err)
		err = run__write(run, &r);
	report__free(&r);
	free(counts);
	return err;
}

/* What cannot be counted is said once, on its own line. */
static void say_refused(const struct stat_run *s)
{
	const struct event_site *site = NULL, *first = NULL;
	struct counter_refusal refusal;
	char names[512] = "";
	size_t i, n = 0;
	int err, reason = 0;

	for (i = 0; i < s->nrows && n < sizeof(names); i++) {
		err = counting__refused(&s->counting, i, &site);
		if (!err)
			continue;
		if (!first) {
			first = site;
			reason = err;
		}
		n += snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", s->row[i].name);
	}
	if (!first)
		return;
	counter__refusal(&refusal, first, reason);
	diag_warn("%s: not counted: %s", names, refusal.why);
	if (refusal.instead[0])
		diag_hint("%s works here", refusal.instead);
}

static bool all_refused(const struct stat_run *s)
{
	const struct event_site *site;
	size_t i;

	for (i = 0; i < s->nrows; i++)
		if (!counting__refused(&s->counting, i, &site))
			return false;
	return true;
}

static int measure_once(struct stat_run *s, struct run *run)
{
	int err;

	err = counting__begin(&s->counting, run, &s->plan);
	if (!err)
		err = find_places(s);
	if (!err && all_refused(s)) {
		say_refused(s);
		return -EOPNOTSUPP;
	}
	if (!err && !s->elapsed.n)
		say_refused(s);
	if (!err && s->pre)
		err = command__shell(s->pre, &run->signals);
	if (!err)
		err = counting__go(&s->counting);
	if (!err)
		err = run__loop(run);
	if (!err && s->post)
		err = command__shell(s->post, &run->signals);
	return err;
}

static void forget_run(struct stat_run *s)
{
	counting__end(&s->counting);
	counts__free(&s->before);
	s->losses_before = (struct loss_counters){};
}

static int measure_repeatedly(struct stat_run *s, struct run *run)
{
	int err = 0;

	run->hold = true;
	while (!err && s->elapsed.n < s->repeat) {
		if (s->elapsed.n) {
			forget_run(s);
			err = run__again(run);
		}
		if (!err)
			err = measure_once(s, run);
		if (!err && run->interrupted)
			break;
	}
	if (!err && s->elapsed.n)
		err = report_means(s, run);
	return err;
}

/* -n: what each event stands for here, and how it would be counted. */
static int explain(struct stat_run *s, struct run *run)
{
	static const char *const names[] = { "event", "type", "how" };
	struct report r = { .tool = run->tool, .kernel = run->host.uts.release };
	int err = counting__explain(&s->counting, run, &s->plan);
	size_t i;

	for (i = 0; i < s->sites.n && !err; i++) {
		const struct event_site *site = &s->sites.site[i];
		const char *texts[] = { site->name, event_type_name(site->event->type),
					counting__how(&s->counting, i) };

		err = report__add_texts(&r, names, texts, ARRAY_SIZE(names));
	}
	if (!err)
		err = run__write(run, &r);
	report__free(&r);
	return err;
}

static int stat_events(struct stat_run *s, struct run *run, const struct cli *cli)
{
	int err = find_events(s, run, cli);

	if (!err)
		err = make_plan(s, cli);
	if (err)
		return err;
	if (cli->explain)
		return explain(s, run);
	return s->repeat ? measure_repeatedly(s, run) : measure_once(s, run);
}

static void stat__free(struct stat_run *s)
{
	size_t i;

	forget_run(s);
	for (i = 0; s->filter && i < s->sites.n; i++)
		free(s->filter[i]);
	for (i = 0; s->code && i < s->sites.n; i++)
		code__free(&s->code[i]);
	free(s->filter);
	free(s->code);
	free(s->compiled);
	event_sites__free(&s->sites);
	events__free(&s->events);
	free(s->text);
	free(s->row_of);
	free(s->row);
	free(s->place);
	free(s->series);
}

static int stat_main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{NULL, 0, NULL, 0, "Counting:", 1},
		{"detailed", KEY_DETAILED, NULL, 0,
		 "More of the usual events: faults by kind, caches", 1},
		{NULL, 'A', NULL, 0, "One result per CPU", 1},
		{"per-core", KEY_PER_CORE, NULL, 0, "One result per core", 1},
		{"per-socket", KEY_PER_SOCKET, NULL, 0, "One result per socket", 1},
		{"repeat", 'r', "N", 0, "Run the command N times: means and their standard error",
		 1},
		{"pre", KEY_PRE, "CMD", 0, "Run this shell command before each run, not counted",
		 1},
		{"post", KEY_POST, "CMD", 0, "Run this one after each run", 1},
		{"zeros", KEY_ZEROS, NULL, 0, "Show the rows of globs that are zero, too", 1},
		{},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	struct stat_run s = {};
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_EVENTS | CLI_OUTPUT |
			  CLI_RUN | CLI_COMMAND,
		.doc = "Counts events: of a command, of processes, of the whole system.",
		.own = &own,
		.own_input = &s,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	/* By CPU alone needs no task: the counters of each CPU say it. */
	if (cli.by == BY_CPU) {
		cli.by = 0;
		s.per_cpu = true;
	}
	if (check_options(&s, &cli)) {
		cli__free(&cli);
		return EXIT_USAGE;
	}
	cli.scope.command_joins_at_exec = true;
	err = run__init(&run, "stat", &cli);
	run.report = report;
	run.context = &s;
	if (!err)
		err = stat_events(&s, &run, &cli);
	stat__free(&s);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL_NAMED(stat, stat_main, AREA_EVENTS, "how many events: of a command, of tasks, of the machine");
