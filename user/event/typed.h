/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the -e texts of tools. */
#ifndef TALLY_EVENT_TYPED_H
#define TALLY_EVENT_TYPED_H

#include "event/event.h"

/*
 * Parses one more text and appends its events. (*text)[i] is set to the text of event i, for later
 * messages; the caller frees *text, not the texts. Reports errors (report/diag.h). Returns 0 or a
 * negative errno.
 */
int events__take(struct events *events, const char ***text, const struct event_context *ctx,
		 const char *typed);

#endif /* TALLY_EVENT_TYPED_H */
