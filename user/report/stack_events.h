/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report of several events, one event at a time, for writers of drawings and profiles that have only one value.
 *
 *   stack_events__one()     the report of one event, in *one; borrows from r, so r must outlive it
 *   stack_events__free()
 */
#ifndef TALLY_OUT_STACK_EVENTS_H
#define TALLY_OUT_STACK_EVENTS_H

#include "report/report.h"

/*
 * event: an index below r->stacks->nevents. The value of the report is the event's name, and its keys have no field
 * "event". Returns 0 or -ENOMEM; release *one in both cases.
 */
int stack_events__one(struct report *one, const struct report *r, size_t event);
void stack_events__free(struct report *one);

#endif /* TALLY_OUT_STACK_EVENTS_H */
