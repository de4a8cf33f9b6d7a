// SPDX-License-Identifier: BSD-2-Clause
/* The rows of an interval: by key, by place, or one per event. */
#include "events/stat/table.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/key_view.h"

/* Core numbers combine socket and core in an int: see put_place(). */
#define CORES_PER_SOCKET 65536

int stat__place(struct stat_run *s)
{
	const struct topology *t = &s->counting.topology;
	size_t i;

	if (!s->per_core && !s->per_socket)
		return 0;
	s->place = s->place ?: calloc(SCOPE_MAX_CPUS, sizeof(*s->place));
	if (!s->place)
		return -ENOMEM;
	for (i = 0; i < t->n; i++)
		s->place[t->cpu[i].cpu] = s->per_socket ? t->cpu[i].socket :
					  t->cpu[i].socket * CORES_PER_SOCKET + t->cpu[i].core;
	return 0;
}

/* The counts of one key at one place, by row. */
struct group {
	const struct count *first;
	u64 *value;
	double *running;
	bool *counted;                  /* false if the row cannot be counted, or ran for too short a time */
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

/* Fills in the n counts of a group, which are adjacent. */
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
			/* Other events are shown relative to durations, which therefore have no ratios of their own. */
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

static bool is_shown(const struct stat_run *s, const struct cli *cli, const struct group *g,
		     size_t i)
{
	if (s->zeros || s->each.typed || g->value[i])
		return true;
	/* Hundreds of zeroes are useless, but the zero of an event given by name is not. */
	return !stat_is_of_glob(s, i) && (!cli->by || s->row[i].counter);
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

	f.count = figures_value(site, g->value[i]);
	if (g->counted[i] && ratio__derive(&ratio, g->ratio, s->nrows, i, r->duration_ns))
		f.ratio = &ratio;
	if (!g->counted[i]) {
		refused = counting__refused(&s->counting, i, &site);
		f.count = (struct field){ .name = "count", .kind = FIELD_NONE, .role = ROLE_COUNTER };
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
	f.count.machine = s->metric_only;
	if (!err)
		err = figures__put(&row, s->row[i].name, figures_unit(site), &f);
	if (err) {
		report_row__free(&row);
		return err;
	}
	return report__add_row(r, &row);
}

/* Within a glob, largest first; otherwise in the order of the command line. */
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
	if (stat_is_of_glob(x->stat, x->row) && xv != yv)
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

/* Text output shows a key on one line, with a column for each event, if they fit on a screen. */
#define WIDE_MOST 8

static bool is_wide(const struct stat_run *s, const struct cli *cli)
{
	size_t i;

	for (i = 0; i < s->nrows; i++)
		if (stat_is_of_glob(s, i))
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
		f = figures_value(s->row[i].site, g->value[i]);
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

/* The counts of one key and place. Sorted by the first event, largest first. */
struct span {
	size_t from, n;
	u64 first;              /* the value of the first event, for sorting */
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

/* Finds the spans. Leaves out keys that did nothing in this interval, unless idle is set. */
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

int table__put(struct stat_run *s, struct measurement *m, struct report *r, struct counts *c)
{
	const struct count nothing = { .place = COUNT_EVERYWHERE };
	struct task_key_names names = { .cgroups = m->cgroups };
	const struct cli *cli = m->cli;
	const struct key_view view = { cli->by, &names, 0 };
	bool scaled = any_scaled(c);
	struct span *span;
	struct group g;
	size_t n, i;
	int err;

	err = group__make(&g, s);
	if (err)
		return err;
	if (key_view__merges(&view))
		counts__regroup(c, key_view__change, (void *)&view);
	span = find_spans(c, cli->by, s->zeros || s->each.typed, &n);
	if (!span)
		err = -ENOMEM;
	/* Without keys and places there is always one group, even if all counts are zero. */
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
	if (!err && !r->nrows && s->nrows) {
		group__fill(&g, s, &nothing, 0);
		err = report__keep_columns(r, put_row(s, r, cli, &g, 0, scaled, &names));
	}
	free(span);
	group__free(&g);
	task_key_names__free(&names);
	return err;
}

/*
 * CPU times of the command and its children since its execve(2), from getrusage(2), after it has
 * ended.
 */
int table__put_usage(struct measurement *m, struct report *r)
{
	const struct { const char *name; size_t at; } times[] = {
		{ "user-time", offsetof(struct rusage, ru_utime) },
		{ "system-time", offsetof(struct rusage, ru_stime) },
	};
	struct rusage usage = {};
	int status, err;
	size_t i;

	err = command__wait(&m->run->command, &usage, &status);
	for (i = 0; i < ARRAY_SIZE(times) && !err; i++) {
		const struct timeval *tv = (void *)((char *)&usage + times[i].at);
		u64 ns = tv->tv_sec * NSEC_PER_SEC + tv->tv_usec * 1000ULL;
		struct ratio ratio = {r->duration_ns ? (double)ns / r->duration_ns : 0,
				      "CPUs utilised"};
		struct figures f = {
			.count = { .name = "count", .kind = FIELD_TIME, .number = ns,
				   .role = ROLE_COUNTER },
			.ratio = &ratio, .running = 100,
		};
		struct report_row row = {};

		err = figures__put(&row, times[i].name, "ns", &f);
		if (err)
			report_row__free(&row);
		else
			err = report__add_row(r, &row);
	}
	return err;
}
