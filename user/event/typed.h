/* SPDX-License-Identifier: BSD-2-Clause */
/* What tools do with their -e texts before anything else. */
#ifndef TALLY_EVENT_TYPED_H
#define TALLY_EVENT_TYPED_H

#include "event/event.h"

/*
 * Parses one more text and adds its events. (*text)[i] becomes the text that event i came from, for
 * messages about it later; the caller frees *text, not the texts. Says what is wrong (report/diag.h).
 * Returns 0 or a negative errno.
 */
int events__take(struct events *events, const char ***text, const struct event_context *ctx,
		 const char *typed);

#endif /* TALLY_EVENT_TYPED_H */
