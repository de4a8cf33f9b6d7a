// SPDX-License-Identifier: BSD-2-Clause
/* Turns counts into reports, of an interval or of the means of several runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/loss.h"
#include "events/stat/table.h"
#include "report/units.h"

/* Reads the change since the last call, by key, place and row. */
static int read_interval(struct stat_run *s, struct counts *c, struct loss_counters *losses)
{
	struct loss_counters now;
	struct counts left;
	int err;

	err = counting__read(&s->counting, c, &left, &now);
	if (err)
		return err;
	counts__subtract(c, &s->before);
	*losses = loss__difference(&now, &s->losses_before);
	counts__free(&s->before);
	s->before = left;
	s->losses_before = now;
	if (s->place)
		counts__fold(c, s->place, SCOPE_MAX_CPUS);
	return 0;
}

static void describe(struct stat_run *s, struct report *r)
{
	counting__describe(&s->counting, s->source, sizeof(s->source));
	s->caveat[0] = 0;
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

static void set_durations(const struct stat_run *s, const struct report *r, struct counts *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (s->row[c->count[i].row].site->is_duration)
			c->count[i].value = c->count[i].enabled_ns = c->count[i].running_ns = r->duration_ns;
}

static void count_events(const struct stat_run *s, struct report *r, const struct counts *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (!s->row[c->count[i].row].counter)
			r->events += c->count[i].value;
}

static int put_each_cgroup(struct stat_run *s, struct measurement *m, struct report *r, struct counts *c)
{
	u64 removed, all = r->events;
	size_t n;
	int err = each_cgroup__select(&s->each, m->cgroups, c, &removed);

	r->events = 0;
	count_events(s, r, c);
	r->counters.filtered += all - r->events;
	if (!err)
		err = each_cgroup__regroup(&s->each, m->cgroups, c, s->nrows);
	if (err || !removed)
		return err;
	n = strlen(s->caveat);
	snprintf(s->caveat + n, sizeof(s->caveat) - n,
		 "%scgroups that are gone have counts, and may have been below one of these", n ? "; " : "");
	r->caveat = s->caveat;
	return 0;
}

static size_t put_lost(char *text, size_t size, const struct event_site *site, u64 lost)
{
	char value[UNITS_SPACE];

	if (site->unit)
		snprintf(value, sizeof(value), "%.3f %s", lost * site->scale, site->unit);
	else
		format_value(value, lost, UNIT_NS, true);
	return snprintf(text, size, "%s", site->is_time || site->unit ? value : format_count(value, lost));
}

/* Says in the note how many counts of each event are lost because their keys found no room. */
static int describe_lost(struct stat_run *s, struct report *r)
{
	size_t size = sizeof(s->caveat) - 128, n = strlen(s->caveat), i;       /* room for another sentence */
	const char *before = n ? "; without room for their keys: " : "without room for their keys: ";
	u64 *now = calloc(s->nrows ?: 1, sizeof(*now)), lost;
	int err = now ? counting__read_lost(&s->counting, now) : -ENOMEM;

	for (i = 0; i < s->nrows && !err && n < size; i++) {
		lost = now[i] - (s->lost ? s->lost[i] : 0);
		if (!lost)
			continue;
		n += snprintf(s->caveat + n, size - n, "%s%s ", before, s->row[i].name);
		if (n < size)
			n += put_lost(s->caveat + n, size - n, s->row[i].site, lost);
		before = ", ";
	}
	free(err ? now : s->lost);
	if (!err)
		s->lost = now;
	r->caveat = s->caveat[0] ? s->caveat : NULL;
	return err;
}

int stat__report(struct measurement *m, struct report *r)
{
	struct stat_run *s = m->own;
	struct counts c = {};
	int err;

	describe(s, r);
	err = read_interval(s, &c, &r->counters);
	if (err)
		return err;
	if (s->plan.by)
		err = describe_lost(s, r);
	if (err) {
		counts__free(&c);
		return err;
	}
	count_events(s, r, &c);
	if (s->each.typed)
		err = put_each_cgroup(s, m, r, &c);
	if (err) {
		counts__free(&c);
		return err;
	}
	r->has_losses = s->counting.bpf;
	r->has_events = s->counting.bpf && has_places(s);
	set_durations(s, r, &c);
	if (s->repeat)
		keep_for_mean(s, r, &c);
	else
		err = table__put(s, m, r, &c);
	/*
	 * Only without --delay and similar options, because getrusage(2) covers the whole life of the command and its
	 * children.
	 */
	if (!err && !m->cli->delay_ns && !m->cli->scope.command_alone &&
	    !s->repeat && s->defaults && !s->plan.by && !s->plan.per_cpu &&
	    !m->cli->interval_ns && command__has_ended(&m->run->command))
		err = table__put_usage(m, r);
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
		.count = figures_value(site, s->series[i].mean + 0.5),
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
		f.count = (struct field){ .name = "count", .kind = FIELD_NONE, .role = ROLE_COUNTER };
	}
	f.count.role = ROLE_GAUGE;
	f.count.machine = s->metric_only;
	err = figures__put(&row, s->row[i].name, figures_unit(site), &f);
	return report__end_row(r, &row, err);
}

static int put_elapsed(const struct stat_run *s, struct report *r)
{
	double error = series__relative_error(&s->elapsed);
	struct figures f = {
		.count = { .name = "count", .kind = FIELD_TIME, .number = s->elapsed.mean + 0.5,
			   .role = ROLE_GAUGE },
		.running = 100, .error = &error,
	};
	struct report_row row = {};
	int err = figures__put(&row, "elapsed", "ns", &f);

	return report__end_row(r, &row, err);
}

/* Writes the means of all runs of -r, in one report. */
int stat__means(struct stat_run *s, struct measurement *m)
{
	struct report r = {
		.tool = m->tool,
		.command = m->cli->command_line,
		.kernel = m->run->host.uts.release,
		.cpus = m->run->host.cpus_online,
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
		if (s->zeros || s->series[i].mean > 0 || !stat_is_of_glob(s, i))
			err = put_mean(s, &r, counts, i);
	if (!err)
		err = put_elapsed(s, &r);
	if (!err)
		err = measurement__write(m, &r);
	report__free(&r);
	free(counts);
	return err;
}

void stat__forget(struct stat_run *s)
{
	counting__end(&s->counting);
	counts__free(&s->before);
	s->losses_before = (struct loss_counters){};
	free(s->lost);
	s->lost = NULL;
}

void stat__free(struct stat_run *s)
{
	free(s->metric);
	size_t i;

	stat__forget(s);
	each_cgroup__free(&s->each);
	for (i = 0; s->filter && i < s->sites.n; i++)
		free(s->filter[i]);
	for (i = 0; s->code && i < s->sites.n; i++)
		code__free(&s->code[i]);
	free(s->filter);
	free(s->typed);
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
