// SPDX-License-Identifier: BSD-2-Clause
#include "event/typed.h"

#include <errno.h>

#include "base/array.h"
#include "report/diag.h"

int events__take(struct events *events, const char ***text, const struct event_context *ctx, const char *typed)
{
	struct complaint c = {};
	size_t from = events->n, i;
	int err;

	err = events__parse(events, ctx, typed, &c);
	if (err) {
		diag_complaint("-e", typed, &c);
		return err;
	}
	/* Events added in another way have no text yet, so the capacity is unknown. */
	if (array__grow(text, 0, events->n, sizeof(**text)))
		return -ENOMEM;
	for (i = from; i < events->n; i++)
		(*text)[i] = typed;
	return 0;
}
