// SPDX-License-Identifier: BSD-2-Clause
#include "profile/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "event/attach_copy.h"
#include "event/typed.h"
#include "report/diag.h"

#include "profile.skel.h"

static int refuse_more(void)
{
	diag_error("-e: %d events at most", PROFILE_EVENTS);
	return -EINVAL;
}

int profile_events__add(struct profile_events *e, const char *typed)
{
	if (e->ntyped == PROFILE_EVENTS)
		return refuse_more();
	e->typed[e->ntyped++] = typed;
	return 0;
}

/*
 * --- from -e to events -------------------------------------------------------------------------
 */

static bool is_clock(const struct event *event)
{
	return event->type == EVENT_SOFTWARE && (event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
						 event->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

static const char *shown(const struct profile_events *e, size_t i)
{
	return e->label[i] ?: e->text[i];
}

/*
 * Terms of an event override options. -F applies to clocks, and without -c also to counters; -c applies to all events
 * except clocks. Tracepoints have no frequency.
 */
static int add_one(struct profile_events *e, const struct event *event)
{
	struct sampling *s = &e->each[e->n];
	const char *name = event->label ?: event->name;
	size_t i;

	for (i = 0; i < e->n; i++)
		if (!strcmp(shown(e, i), name)) {
			diag_error("-e: %s is given twice", name);
			return -EINVAL;
		}
	if (e->n == PROFILE_EVENTS)
		return refuse_more();
	e->own[e->n] = event->sampling;
	e->text[e->n] = strdup(event->name);
	e->label[e->n] = event->label ? strdup(event->label) : NULL;
	if (!e->text[e->n++] || (event->label && !e->label[e->n - 1]))
		return -ENOMEM;
	s->typed = e->text[e->n - 1];
	s->hz = event->sampling.hz;
	s->every = event->sampling.every;
	if (s->hz || s->every)
		return 0;
	if (is_clock(event) || (!e->every && event->type != EVENT_TRACEPOINT))
		s->hz = e->hz;
	if (!is_clock(event))
		s->every = e->every;
	return 0;
}

static bool has_glob(const char *name)
{
	return strpbrk(name, "*?[");
}

static int refuse_matches(const char *glob, size_t n)
{
	diag_error("-e: '%s' matches %zu tracepoints; one run samples at most %d events", glob, n, PROFILE_EVENTS);
	diag_hint("`tally stat -e '%s'` counts them: sample only the important events", glob);
	return -EINVAL;
}

/* Adds each tracepoint that a glob matches. */
static int add_matches(struct profile_events *e, struct event *glob, const struct event_context *ctx)
{
	const struct events events = { .event = glob, .n = 1 };
	struct event_sites sites = {};
	struct complaint c = {};
	size_t which, i;
	int err = events__resolve(&sites, &events, ctx, &c, &which);

	if (err)
		diag_complaint("-e", glob->name, &c);
	else if (e->n + sites.n > PROFILE_EVENTS)
		err = refuse_matches(glob->name, sites.n);
	for (i = 0; i < sites.n && !err; i++) {
		struct event one = *glob;

		one.name = sites.site[i].name;
		err = add_one(e, &one);
	}
	event_sites__free(&sites);
	return err;
}

static int add_list(struct profile_events *e, const char *typed)
{
	const struct event_context ctx = { .samples = true };
	struct events events = {};
	const char **text = NULL;
	size_t i;
	int err = events__take(&events, &text, &ctx, typed);

	for (i = 0; i < events.n && !err; i++)
		err = has_glob(events.event[i].name) ? add_matches(e, &events.event[i], &ctx) :
						       add_one(e, &events.event[i]);
	events__free(&events);
	free(text);
	return err;
}

/* A list of events, or one event with terms, or a glob. */
static bool is_list(const char *typed)
{
	return strpbrk(typed, ",{/*?[");
}

int profile_events__check(struct profile_events *e)
{
	size_t i;
	int err = 0;

	/* A single event does not need the list, and errors in it are reported when it is resolved. */
	if (e->ntyped < 2 && !(e->ntyped && is_list(e->typed[0]))) {
		e->n = 1;
		e->each[0].typed = e->ntyped ? e->typed[0] : NULL;
	} else {
		for (i = 0; i < e->ntyped && !err; i++)
			err = add_list(e, e->typed[i]);
	}
	if (e->n == 1 && !e->own[0].hz && !e->own[0].every) {
		e->each[0].hz = e->hz;
		e->each[0].every = e->every;
	}
	for (i = 0; i < e->n && !err; i++) {
		e->each[i].slot = i;
		e->each[i].with_idle = e->with_idle;
		err = sampling__check(&e->each[i]);
	}
	return err;
}

/* "cpu-clock, 99 times a second ...; page-faults, every one, 2 frames at most" */
static void describe_sources(struct profile_events *e)
{
	size_t i, n = 0;

	for (i = 0; i < e->n && n < sizeof(e->source); i++) {
		char callers[32] = "";

		if (e->own[i].innermost)
			snprintf(callers, sizeof(callers), ", without callers");
		else if (e->own[i].max_stack)
			snprintf(callers, sizeof(callers), ", %u frames at most", e->own[i].max_stack);
		n += snprintf(e->source + n, sizeof(e->source) - n, "%s%s%s", i ? "; " : "", e->each[i].source,
			      callers);
	}
}

int profile_events__find(struct profile_events *e)
{
	size_t i;
	int err = 0;

	for (i = 0; i < e->n && !err; i++) {
		err = sampling__find(&e->each[i]);
		if (err)
			break;
		e->name[i] = e->label[i] ?: sampling__name(&e->each[i]);
		if (asprintf(&e->share_name[i], "%s%%", e->name[i]) < 0)
			err = -ENOMEM;
	}
	if (!err)
		describe_sources(e);
	return err;
}

/*
 * --- programs ----------------------------------------------------------------------------------
 */

static struct bpf_program *program_of(const struct sampling *s, const struct profile_bpf *bpf)
{
	if (s->event.is_tracepoint)
		return bpf->progs.on_tracepoint;
	return sampling__is_weighted(s) ? bpf->progs.on_event : bpf->progs.on_sample;
}

int profile_events__check_depth(const struct profile_events *e, u32 depth)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (e->own[i].max_stack > depth) {
			diag_error("-e: max-stack=%u is more than the %u frames kept per event (--max-depth)",
				   e->own[i].max_stack, depth);
			return -EINVAL;
		}
	return 0;
}

static u32 parts_of(const struct event_sampling *own, u32 take)
{
	return take | (own->innermost ? STACK_INNERMOST : 0) | own->max_stack << STACK_MOST_SHIFT;
}

void profile_events__configure(struct profile_events *e, struct profile_bpf *bpf, u32 take)
{
	size_t i;

	for (i = 0; i < e->n; i++) {
		bpf->rodata->every[i] = e->each[i].event.every;
		bpf->rodata->take[i] = parts_of(&e->own[i], take);
		bpf_program__set_autoload(program_of(&e->each[i], bpf), true);
	}
}

/*
 * The first event uses the loaded program, and each other event uses a copy with its own slot. The event owns the copy.
 */
static int start_one(struct profile_events *e, size_t i, struct measurement *m, struct profile_bpf *bpf)
{
	struct bpf_program *prog = program_of(&e->each[i], bpf);
	const struct attach_kind kind = { .type = bpf_program__type(prog) };
	int fd = bpf_program__fd(prog), err;

	if (i)
		fd = attach__copy(&e->copies, prog, &kind, i);
	if (fd < 0) {
		diag_error("this kernel cannot load the program for %s: %s", e->name[i], strerror(-fd));
		return fd == -EPERM ? fd : -EOPNOTSUPP;
	}
	err = sampling__start(&e->each[i], m, fd, bpf_map__fd(bpf->maps.samples));
	if (i)
		close(fd);
	return err;
}

int profile_events__begin(struct profile_events *e, struct measurement *m)
{
	struct epoll_event event = { .events = EPOLLIN };
	int err = hotplug__begin(&e->hotplug, &m->scope, "sampled"), fd = hotplug__fd(&e->hotplug);

	if (!err && fd >= 0 && epoll_ctl(m->watch_fd, EPOLL_CTL_ADD, fd, &event))
		err = -errno;
	return err;
}

int profile_events__start(struct profile_events *e, struct measurement *m, struct profile_bpf *bpf)
{
	size_t i;
	int err = 0;

	e->copies.object = bpf->obj;
	for (i = 0; i < e->n && !err; i++)
		err = start_one(e, i, m, bpf);
	return err;
}

/*
 * --- the run -----------------------------------------------------------------------------------
 */

int profile_events__arm(struct profile_events *e, const struct measurement *m)
{
	size_t i;
	int err = 0;

	hotplug__arm(&e->hotplug);
	for (i = 0; i < e->n && !err; i++)
		err = sampling__arm(&e->each[i], m);
	return err;
}

void profile_events__disarm(struct profile_events *e)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		sampling__disarm(&e->each[i]);
	hotplug__disarm(&e->hotplug);
}

struct change {
	struct profile_events *events;
	const struct measurement *m;
};

static int change_cpu(void *context, int cpu, bool online)
{
	const struct change *c = context;
	int err = 0, other;
	size_t i;

	for (i = 0; i < c->events->n; i++) {
		other = sampling__change_cpu(&c->events->each[i], c->m, cpu, online);
		err = err ?: other;
	}
	return err;
}

int profile_events__follow(struct profile_events *e, struct measurement *m)
{
	struct change change = { e, m };
	size_t i;

	for (i = 0; i < e->n; i++)
		throttled__read(&e->each[i].throttled);
	return hotplug__follow(&e->hotplug, change_cpu, &change);
}

const char *profile_events__source(struct profile_events *e, const char *source)
{
	int n = snprintf(e->told, sizeof(e->told), "%s", source);

	hotplug__describe(&e->hotplug, e->told + n, sizeof(e->told) - n);
	return e->told;
}

int profile_events__settle(struct profile_events *e, const struct measurement *m)
{
	size_t i;
	int err = 0;

	for (i = 0; i < e->n && !err; i++)
		err = sampling__settle(&e->each[i], m);
	return err;
}

int profile_events__count(struct profile_events *e, const struct measurement *m, struct report *r)
{
	size_t i;
	int err = 0;

	/* The number of filtered samples is replaced by numbers in the units of the values. */
	if (e->n > 1 || sampling__is_weighted(&e->each[0]))
		r->counters.filtered = 0;
	for (i = 0; i < e->n && !err; i++)
		err = sampling__count(&e->each[i], m, r, e->n == 1);
	return err;
}

void profile_events__describe(struct profile_events *e, struct report *r)
{
	size_t i;

	if (e->n == 1) {
		bool weighted = sampling__is_weighted(&e->each[0]);

		r->stacks->unit = weighted ? "events" : "samples";
		r->stacks->type = weighted ? r->value : NULL;
		r->stacks->period = sampling__period(&e->each[0]);
		return;
	}
	r->stacks->unit = "value";
	for (i = 0; i < e->n; i++) {
		bool weighted = sampling__is_weighted(&e->each[i]);

		e->report[i].name = e->name[i];
		e->report[i].share_name = e->share_name[i];
		e->report[i].unit = weighted ? "events" : "samples";
		e->report[i].period = sampling__period(&e->each[i]);
		e->report[i].missed = e->each[i].lost;
	}
}

void profile_events__end(struct profile_events *e)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		sampling__free(&e->each[i]);
	hotplug__end(&e->hotplug);
	attach__release(&e->copies);
}

void profile_events__free(struct profile_events *e)
{
	size_t i;

	for (i = 0; i < e->n; i++) {
		free(e->text[i]);
		free(e->label[i]);
		free(e->share_name[i]);
	}
}
