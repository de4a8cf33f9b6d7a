// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events by number: r003c is a CPU event, as in the CPU's manual; TYPE:CONFIG is a kernel event, as
 * in <linux/perf_event.h>.
 */
#include <ctype.h>
#include <errno.h>

#include "event/event.h"

/* Returns the length of TYPE:CONFIG, two numbers, optionally followed by a colon and modifiers; 0 for another word. */
static size_t numbers_len(const struct event_word *w, u64 *type, u64 *config)
{
	size_t colon = event_word__find(w, 0, ":"), end;

	if (colon == w->len || event_word__number(w, 0, colon, type))
		return 0;
	end = event_word__find(w, colon + 1, ":");
	return event_word__number(w, colon + 1, end, config) ? 0 : end;
}

/*
 * Claims an r followed by hexadecimal digits. With -x, words like "read" are functions, so at least
 * one digit must not be a letter.
 */
static bool raw__claims(const struct event_context *ctx, const struct event_word *w)
{
	bool number = false;
	size_t len, i;
	u64 type, config;

	if (numbers_len(w, &type, &config))
		return !ctx->binary;
	if (!event_word__base(w, &len) || len < 2 || w->text[0] != 'r')
		return false;
	for (i = 1; i < len; i++) {
		if (!isxdigit((unsigned char)w->text[i]))
			return false;
		number |= isdigit((unsigned char)w->text[i]);
	}
	return number || !ctx->binary;
}

/* Accepts the types of plain counters whose numbers are the same on all machines. */
static int parse_numbers(struct event *e, const struct event_word *w, size_t len, u64 type,
			 u64 config, struct complaint *c)
{
	switch (type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		e->type = EVENT_HARDWARE;
		break;
	case PERF_TYPE_SOFTWARE:
		e->type = EVENT_SOFTWARE;
		break;
	case PERF_TYPE_RAW:
		break;
	default:
		return complain_hint(c,
				     complain(c, -EINVAL, w->at, event_word__find(w, 0, ":"),
					      "numeric events have the types 0 (hardware), 1 (software), 3 (caches) "
					      "and 4 (raw)"),
				     "name PMUs, tracepoints and breakpoints: cpu/config=0x3c/, sched:sched_switch, "
				     "mem:ADDRESS");
	}
	e->attr.type = type;
	e->attr.config = config;
	return len < w->len ? event__parse_modifiers(e, w, len + 1, c) : 0;
}

static int raw__parse(struct event *e, const struct event_context *ctx,
		      const struct event_word *w, struct complaint *c)
{
	u64 config = 0, type;
	size_t len, i;
	char digit;

	(void)ctx;
	len = numbers_len(w, &type, &config);
	if (len)
		return parse_numbers(e, w, len, type, config, c);
	config = 0;
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
	bool is_software = e->attr.type == PERF_TYPE_SOFTWARE;
	int n = is_software ? 0 : event_sites__add_per_core_pmu(sites, e, ctx);
	struct event_site *s = n ? NULL : event_sites__add_counter(sites, e, e->name);

	if (!n && !s)
		n = -ENOMEM;
	if (s && is_software)
		s->is_time = e->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
			     e->attr.config == PERF_COUNT_SW_TASK_CLOCK;
	return n < 0 ? complain(c, n, 0, 0, "cannot read the CPU's PMUs from sysfs") : 0;
}

const struct event_source event_raw = {
	.type = EVENT_RAW,
	.name = "raw",
	.claims = raw__claims,
	.parse = raw__parse,
	.resolve = raw__resolve,
};
