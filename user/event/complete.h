/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completes event names (cli/complete.h): the names that `list` shows without patterns. Functions are left out because
 * they are too many. Events that cannot be read are skipped.
 */
#ifndef TALLY_EVENT_COMPLETE_H
#define TALLY_EVENT_COMPLETE_H

#include "cli/complete.h"

/* Characters after which an event name in -e begins. */
#define EVENT_SEPARATORS ",{"

void complete_events(struct completion *c);
/* Events that the kernel or the CPU counts. */
void complete_counters(struct completion *c);

#endif /* TALLY_EVENT_COMPLETE_H */
