// SPDX-License-Identifier: BSD-2-Clause
/* Generic CPU events (event/hardware_names.h). */
#include <errno.h>

#include "event/event.h"
#include "event/hardware_names.h"

static bool hardware__claims(const struct event_context *ctx, const struct event_word *w)
{
	size_t len;

	(void)ctx;
	return event_word__base(w, &len) && hardware_name__is(w, len);
}

static int hardware__parse(struct event *e, const struct event_context *ctx,
			   const struct event_word *w, struct complaint *c)
{
	size_t len;
	int err;

	(void)ctx;
	event_word__base(w, &len);
	err = hardware_name__parse(&e->attr, w, len, c);
	if (!err && len < w->len)
		err = event__parse_modifiers(e, w, len + 1, c);
	return err;
}

static int hardware__resolve(struct event_sites *sites, const struct event *e,
			     const struct event_context *ctx, struct complaint *c)
{
	int n = event_sites__add_per_core_pmu(sites, e, ctx);

	if (!n && !event_sites__add_counter(sites, e, e->name))
		n = -ENOMEM;
	return n < 0 ? complain(c, n, 0, 0, "cannot read the CPU's PMUs from sysfs") : 0;
}

static int hardware__list(const struct event_context *ctx, event_visit visit, void *arg)
{
	(void)ctx;
	return hardware_names__list(visit, arg);
}

const struct event_source event_hardware = {
	.type = EVENT_HARDWARE,
	.name = "hardware",
	.claims = hardware__claims,
	.parse = hardware__parse,
	.resolve = hardware__resolve,
	.list = hardware__list,
};
