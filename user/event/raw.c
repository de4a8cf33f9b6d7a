// SPDX-License-Identifier: BSD-2-Clause
/* Events of the CPU by number, as its manual has them: r003c. */
#include <ctype.h>
#include <errno.h>

#include "event/event.h"

/*
 * An r and hexadecimal digits. With -x, "read" and the like are functions: one of the digits must
 * be none of the letters then.
 */
static bool raw__claims(const struct event_context *ctx, const struct event_word *w)
{
	bool number = false;
	size_t len, i;

	if (!event_word__base(w, &len) || len < 2 || w->text[0] != 'r')
		return false;
	for (i = 1; i < len; i++) {
		if (!isxdigit((unsigned char)w->text[i]))
			return false;
		number |= isdigit((unsigned char)w->text[i]);
	}
	return number || !ctx->binary;
}

static int raw__parse(struct event *e, const struct event_context *ctx,
		      const struct event_word *w, struct complaint *c)
{
	u64 config = 0;
	size_t len, i;
	char digit;

	(void)ctx;
	event_word__base(w, &len);
	if (len > 17)
		return complain(c, -EINVAL, w->at + 1, len - 1,
				"a raw event has at most 16 hexadecimal digits");
	for (i = 1; i < len; i++) {
		digit = w->text[i];
		config = config << 4 |
			 (isdigit((unsigned char)digit) ? digit - '0' : (digit | 0x20) - 'a' + 10);
	}
	e->attr.type = PERF_TYPE_RAW;
	e->attr.config = config;
	return len < w->len ? event__parse_modifiers(e, w, len + 1, c) : 0;
}

static int raw__resolve(struct event_sites *sites, const struct event *e,
			const struct event_context *ctx, struct complaint *c)
{
	int n = event_sites__add_per_core_pmu(sites, e, ctx);

	if (!n && !event_sites__add_counter(sites, e, e->name))
		n = -ENOMEM;
	return n < 0 ? complain(c, n, 0, 0, "the CPU's PMUs cannot be read from sysfs") : 0;
}

const struct event_source event_raw = {
	.type = EVENT_RAW,
	.name = "raw",
	.claims = raw__claims,
	.parse = raw__parse,
	.resolve = raw__resolve,
};
