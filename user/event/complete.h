/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Candidates for events (cli/complete.h): the ones that `list` shows, without patterns. Functions are left out: there
 * are too many. Events that cannot be read are skipped.
 */
#ifndef TALLY_EVENT_COMPLETE_H
#define TALLY_EVENT_COMPLETE_H

#include "cli/complete.h"

/* Names of events in -e begin after these. */
#define EVENT_SEPARATORS ",{"

void complete_events(struct completion *c);
/* Events that the kernel or the CPU counts. */
void complete_counters(struct completion *c);

#endif /* TALLY_EVENT_COMPLETE_H */
