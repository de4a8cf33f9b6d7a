/* SPDX-License-Identifier: BSD-2-Clause */
/* All events that sources list by name. */
#ifndef TALLY_LIST_NAMES_H
#define TALLY_LIST_NAMES_H

#include "event/event.h"
#include "events/list/list.h"

struct event_name {
	const struct event_source *source;
	char *name;
	char *description;      /* "" if there is none */
};

struct event_names {
	struct event_name *event;
	size_t n;
	const struct event_source *source;      /* the source being read */
};

/* Sources that fail are reported and skipped. Returns 0 or -ENOMEM. */
int event_names__read(struct event_names *all);
void event_names__free(struct event_names *all);

/* Reports that no event matches, with similar names. Returns the error for this. */
int event_names__none(const struct event_names *all, const struct list_request *q);

#endif /* TALLY_LIST_NAMES_H */
