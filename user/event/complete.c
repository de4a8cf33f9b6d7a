// SPDX-License-Identifier: BSD-2-Clause
#include "event/complete.h"

#include "cli/option_groups.h"
#include "event/event.h"

static int add_event(void *context, const char *name, const char *description)
{
	completion__add(context, name, description ?: "");
	return 0;
}

static bool is_counter(enum event_type type)
{
	return type == EVENT_HARDWARE || type == EVENT_RAW || type == EVENT_SOFTWARE;
}

static void add_events(struct completion *c, bool tracepoints)
{
	const struct event_context here = {};
	size_t i;

	for (i = 0; i < event_source_count; i++) {
		const struct event_source *source = event_sources[i];

		if (source->list && (is_counter(source->type) ||
				     (tracepoints && source->type == EVENT_TRACEPOINT)))
			(void)source->list(&here, add_event, c);
	}
}

void complete_events(struct completion *c)
{
	add_events(c, true);
}

void complete_counters(struct completion *c)
{
	add_events(c, false);
}
