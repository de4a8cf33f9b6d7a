// SPDX-License-Identifier: BSD-2-Clause
#include "event/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/confined.h"

const char *event_type_name(enum event_type type)
{
	static const char *const names[EVENT_TYPES] = {
		[EVENT_HARDWARE] = "hardware",
		[EVENT_RAW] = "PMU",
		[EVENT_SOFTWARE] = "software",
		[EVENT_BREAKPOINT] = "breakpoint",
		[EVENT_TRACEPOINT] = "tracepoint",
		[EVENT_KERNEL_FUNCTION] = "kernel function",
		[EVENT_USER_FUNCTION] = "user function",
		[EVENT_USDT] = "USDT",
	};

	return names[type];
}

/* --- memory --------------------------------------------------------------------------------- */

static void event__free(struct event *e)
{
	free(e->name);
	free(e->label);
	free(e->binary);
	free(e->pmu);
	free(e->symbol);
	free(e->system);
	free(e->tracepoint);
	free(e->function.name);
	free(e->function.module);
	free(e->function.pattern);
	free(e->function.source);
}

void events__truncate(struct events *events, size_t n)
{
	while (events->n > n)
		event__free(&events->event[--events->n]);
}

void events__free(struct events *events)
{
	events__truncate(events, 0);
	free(events->event);
	*events = (struct events){};
}

static void free_site(struct event_site *s)
{
	free(s->name);
	free(s->unit);
	free(s->cpus);
	free(s->module);
	free(s->path);
	free(s->arguments);
	free(s->symbol);
}

static void event_sites__truncate(struct event_sites *sites, size_t n)
{
	while (sites->n > n)
		free_site(&sites->site[--sites->n]);
}

void event_sites__remove(struct event_sites *sites, size_t i)
{
	free_site(&sites->site[i]);
	sites->n--;
	memmove(&sites->site[i], &sites->site[i + 1], (sites->n - i) * sizeof(*sites->site));
}

void event_sites__free(struct event_sites *sites)
{
	event_sites__truncate(sites, 0);
	free(sites->several);
	free(sites->lacking);
	free(sites->site);
	*sites = (struct event_sites){};
}

struct event_site *event_sites__add(struct event_sites *sites, const struct event *e,
				    const char *name)
{
	struct event_site *s;

	if (ARRAY_ROOM(sites->site, sites->n))
		return NULL;
	s = &sites->site[sites->n];
	*s = (struct event_site){ .event = e, .scale = 1, .syscall = -1 };
	s->name = strdup(e->label ?: name);
	if (!s->name)
		return NULL;
	sites->n++;
	return s;
}

struct event_site *event_sites__add_counter(struct event_sites *sites, const struct event *e,
					    const char *name)
{
	struct event_site *s = event_sites__add(sites, e, name);

	if (s) {
		s->attr = e->attr;
		s->attr.size = sizeof(s->attr);
	}
	return s;
}

/* --- events on this machine ------------------------------------------------------------------ */

static int resolve(struct event_sites *sites, const struct event *e,
		   const struct event_context *ctx, struct complaint *c)
{
	u32 max = ctx->max_sites ?: EVENT_MAX_SITES;
	size_t before = sites->n, endless = sites->endless;
	int err;

	c->what[0] = 0;
	err = e->source->resolve(sites, e, ctx, c);
	if (err)
		return c->what[0] ? err : complain(c, err, e->at, e->len, "%s%s%s", e->binary ?: "",
						   e->binary ? ": " : "", confined__why(err));
	if (sites->n == before && sites->endless == endless)
		return complain(c, -ENOENT, e->at, e->len, "nothing matches this name");
	if (sites->n - before > max)
		return complain_hint(c, complain(c, -E2BIG, e->at, e->len,
			"this matches %zu places; at most %u are allowed", sites->n - before, max),
			"use a narrower pattern");
	return 0;
}

int events__resolve(struct event_sites *sites, const struct events *events,
		    const struct event_context *ctx, struct complaint *c, size_t *which)
{
	size_t before = sites->n, i;
	int err;

	for (i = 0; i < events->n; i++) {
		err = resolve(sites, &events->event[i], ctx, c);
		if (!err)
			continue;
		event_sites__truncate(sites, before);
		*which = i;
		return err;
	}
	return 0;
}
