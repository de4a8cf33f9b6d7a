/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splits a report of several events by event, for writers of drawings and profiles that support only one value.
 *
 *   stack_events__one()     makes *one the report of one event; it borrows from r, so r must outlive it
 *   stack_events__free()
 */
#ifndef TALLY_OUT_STACK_EVENTS_H
#define TALLY_OUT_STACK_EVENTS_H

#include "report/report.h"

/*
 * event: an index below r->stacks->nevents. The value of the report is the event's name, and its keys have no field
 * "event". Returns 0 or -ENOMEM. Call stack_events__free() in either case.
 */
int stack_events__one(struct report *one, const struct report *r, size_t event);
void stack_events__free(struct report *one);

#endif /* TALLY_OUT_STACK_EVENTS_H */
