// SPDX-License-Identifier: BSD-2-Clause
#include "event/typed.h"

#include <errno.h>
#include <stdlib.h>

#include "report/diag.h"

int events__take(struct events *events, const char ***text, const struct event_context *ctx, const char *typed)
{
	struct complaint c = {};
	size_t from = events->n, i;
	const char **larger;
	int err;

	err = events__parse(events, ctx, typed, &c);
	if (err) {
		diag_complaint("-e", typed, &c);
		return err;
	}
	larger = realloc(*text, events->n * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	*text = larger;
	for (i = from; i < events->n; i++)
		larger[i] = typed;
	return 0;
}
