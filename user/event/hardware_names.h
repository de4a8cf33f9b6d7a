/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generic CPU events by the kernel's names: PERF_TYPE_HARDWARE, and PERF_TYPE_HW_CACHE as CACHE[-OPERATION][-RESULT],
 * with OPERATION and RESULT in any order. All of perf's spellings are accepted, in any case.
 */
#ifndef TALLY_EVENT_HARDWARE_NAMES_H
#define TALLY_EVENT_HARDWARE_NAMES_H

#include "event/event.h"

/* True if the first len bytes of the word begin such a name. */
bool hardware_name__is(const struct event_word *w, size_t len);

/* Sets type and config. Returns 0, or -EINVAL with *c filled in. */
int hardware_name__parse(struct perf_event_attr *attr, const struct event_word *w, size_t len, struct complaint *c);

/* Sets type and config of a hardware or cache event by name. False if unknown. */
bool event_hardware_attr(const char *name, struct perf_event_attr *attr);

int hardware_names__list(event_visit visit, void *arg);

#endif /* TALLY_EVENT_HARDWARE_NAMES_H */
