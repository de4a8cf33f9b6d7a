/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts about a site and its way that the files of attaching share (event/attach.h). */
#ifndef TALLY_EVENT_ATTACH_WAY_H
#define TALLY_EVENT_ATTACH_WAY_H

#include <linux/perf_event.h>

#include "event/attach.h"

/* Is it a place in code, where a program runs? The others are counters. */
static inline bool attach_is_place(const struct event_site *s)
{
	return s->event->type >= EVENT_TRACEPOINT && s->attr.type != PERF_TYPE_TRACEPOINT;
}

/* What is compiled for site i; NULL: nothing is, for any. */
static inline const struct attach_code *attach_code_of(const struct attachments *a, size_t i)
{
	return a->code ? &a->code[i] : NULL;
}

/* Fields are those of the record, which raw tracepoints do not make. */
static inline bool attach_is_by_record(const struct attachments *a, size_t i)
{
	return a->code && a->code[i].by_record;
}

/* The name of a function's site without %return and +OFFSET, in name[size], which is returned. */
const char *attach_function_name(const struct event_site *s, char *name, size_t size);

#endif /* TALLY_EVENT_ATTACH_WAY_H */
