/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts about a site and its way, shared by the attach files (event/attach.h). */
#ifndef TALLY_EVENT_ATTACH_WAY_H
#define TALLY_EVENT_ATTACH_WAY_H

#include <linux/perf_event.h>

#include "event/attach.h"

/* include/uapi/linux/bpf.h since 6.6; missing from older headers. */
#define TRACE_UPROBE_MULTI 48

/* True if the site is a place in code, where a program can run. All other sites are counters. */
static inline bool attach_is_place(const struct event_site *s)
{
	return s->event->type >= EVENT_TRACEPOINT && s->attr.type != PERF_TYPE_TRACEPOINT;
}

/* Returns the functions compiled for site i; NULL if no site has any. */
static inline const struct attach_code *attach_code_of(const struct attachments *a, size_t i)
{
	return a->code ? &a->code[i] : NULL;
}

/* True if fields come from the tracepoint's record, which raw tracepoints do not have. */
static inline bool attach_is_by_record(const struct attachments *a, size_t i)
{
	return a->code && a->code[i].by_record;
}

/* Writes the function name of a site, without %return and +OFFSET, to name[size]. Returns name. */
const char *attach_function_name(const struct event_site *s, char *name, size_t size);

#endif /* TALLY_EVENT_ATTACH_WAY_H */
