// SPDX-License-Identifier: BSD-2-Clause
/* Events by name, from all sources except functions, which are too many. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/event.h"
#include "events/list/list.h"
#include "events/list/names.h"
#include "report/diag.h"

static int add_name(void *arg, const char *name, const char *description)
{
	struct event_names *all = arg;
	struct event_name *more;

	if (ARRAY_ROOM(all->event, all->n))
		return -ENOMEM;
	more = &all->event[all->n];
	more->source = all->source;
	more->name = strdup(name);
	more->description = strdup(description ?: "");
	if (!more->name || !more->description) {
		free(more->name);
		free(more->description);
		return -ENOMEM;
	}
	all->n++;
	return 0;
}

static bool is_listed(const struct event_source *source)
{
	return source->list && source->type != EVENT_KERNEL_FUNCTION &&
	       source->type != EVENT_USER_FUNCTION && source->type != EVENT_USDT;
}

int event_names__read(struct event_names *out)
{
	const struct event_context here = {};
	struct event_names all = {};
	int err = 0, each;
	size_t i;

	for (i = 0; i < event_source_count && !err; i++) {
		if (!is_listed(event_sources[i]))
			continue;
		all.source = event_sources[i];
		each = all.source->list(&here, add_name, &all);
		if (each == -ENOMEM)
			err = each;
		else if (each)
			diag_warn("cannot list %s events: %s", all.source->name, strerror(-each));
	}
	if (err)
		event_names__free(&all);
	else
		*out = all;
	return err;
}

void event_names__free(struct event_names *all)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		free(all->event[i].name);
		free(all->event[i].description);
	}
	free(all->event);
	*all = (struct event_names){};
}

/* A pattern may also be the full name of an event type: "software". */
static bool is_wanted(const struct list_request *q, const struct event_name *e)
{
	size_t i;

	for (i = 0; i < q->npatterns; i++)
		if (!strcasecmp(q->pattern[i], e->source->name))
			return true;
	return list_matches(q, e->name);
}

int event_names__none(const struct event_names *all, const struct list_request *q)
{
	const char **names;
	size_t i, k;

	if (!q->npatterns) {
		diag_error("no events are available on this kernel");
		return -EOPNOTSUPP;
	}
	names = calloc(all->n ?: 1, 2 * sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (i = 0; i < all->n; i++) {
		const char *colon = strchr(all->event[i].name, ':');

		names[2 * i] = all->event[i].name;
		names[2 * i + 1] = colon ? colon + 1 : names[2 * i];
	}
	for (k = 0; k < q->npatterns; k++) {
		diag_error("no event matches '%s'", q->pattern[k]);
		if (!strcmp(q->pattern[k], "sdt") || !strcmp(q->pattern[k], "usdt"))
			diag_hint("USDT probes belong to a program or library: list -x FILE");
		else if (!list_hint(q->pattern[k], names, 2 * all->n))
			diag_hint("--functions lists functions");
	}
	free(names);
	return -ENOENT;
}

int list_events(struct report *r, const struct list_request *q)
{
	struct table t = { .report = r };
	struct event_names all;
	size_t i;
	int err = event_names__read(&all);

	if (err)
		return err;
	for (i = 0; i < all.n; i++) {
		const struct event_name *e = &all.event[i];

		if (!is_wanted(q, e))
			continue;
		table__text(&t, "event", e->name);
		table__text(&t, "type", e->source->name);
		table__text(&t, "description", e->description);
		table__end(&t);
	}
	err = t.err;
	if (!err && !r->nrows)
		err = event_names__none(&all, q);
	event_names__free(&all);
	return err;
}

/* The part before a tracepoint's colon or before the slash of a PMU event, else the event type. */
static char *subsystem_of(const struct event_name *e)
{
	size_t n = strcspn(e->name, ":/");

	if (e->source->type != EVENT_TRACEPOINT && e->name[n] != '/')
		return strdup(e->source->name);
	return strndup(e->name, n);
}

static int add_sum(struct table *t, const char *subsystem, const char *type, u64 n)
{
	if (!n)
		return 0;
	table__text(t, "subsystem", subsystem);
	table__text(t, "type", type);
	table__number(t, "events", n);
	table__end(t);
	return t->err;
}

/* Sources list the events of one subsystem consecutively. */
int list_summary(struct report *r, const struct list_request *q)
{
	struct table t = { .report = r };
	char *subsystem = NULL, *last = NULL;
	const char *type = NULL;
	struct event_names all;
	u64 n = 0;
	size_t i;
	int err = event_names__read(&all);

	if (err)
		return err;
	for (i = 0; i < all.n && !err; i++) {
		const struct event_name *e = &all.event[i];

		if (!is_wanted(q, e))
			continue;
		subsystem = subsystem_of(e);
		if (!subsystem) {
			err = -ENOMEM;
		} else if (!last || strcmp(subsystem, last) || strcmp(type, e->source->name)) {
			err = add_sum(&t, last, type, n);
			n = 0;
		}
		free(last);
		last = subsystem;
		type = e->source->name;
		n++;
	}
	if (!err)
		err = add_sum(&t, last, type, n);
	free(last);
	if (!err && !r->nrows)
		err = event_names__none(&all, q);
	event_names__free(&all);
	return err;
}
