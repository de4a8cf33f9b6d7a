// SPDX-License-Identifier: BSD-2-Clause
#include "record/when.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/numbers.h"
#include "report/diag.h"

#define DAY (24 * 3600)

/* strptime() accepts a prefix of text; require all of it. */
static bool reads(const char *text, const char *format, struct tm *tm)
{
	const char *end = strptime(text, format, tm);

	return end && !*end;
}

static int time_of_day(const char *text, u64 end_ns, u64 *out)
{
	time_t end = end_ns / NSEC_PER_SEC, then;
	struct tm tm;

	if (!localtime_r(&end, &tm))
		return -EINVAL;
	tm.tm_sec = 0;
	if (!reads(text, "%H:%M:%S", &tm) && !reads(text, "%H:%M", &tm))
		return -EINVAL;
	tm.tm_isdst = -1;
	then = mktime(&tm);
	if (then > end) {
		tm.tm_mday--;
		tm.tm_isdst = -1;
		then = mktime(&tm);
	}
	*out = (u64)then * NSEC_PER_SEC;
	return then < 0 ? -EINVAL : 0;
}

static int date_and_time(const char *text, u64 *out)
{
	static const char *const formats[] = {
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d",
	};
	time_t then;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		struct tm tm = { .tm_isdst = -1 };

		if (!reads(text, formats[i], &tm))
			continue;
		then = mktime(&tm);
		*out = (u64)then * NSEC_PER_SEC;
		return then < 0 ? -EINVAL : 0;
	}
	return -EINVAL;
}

int when__parse(const char *text, u64 end_ns, u64 *out_ns)
{
	u64 ns;

	if (!strcmp(text, "end")) {
		*out_ns = end_ns;
		return 0;
	}
	if (*text == '-' || *text == '@') {
		if (parse_duration(text + 1, NSEC_PER_SEC, &ns))
			return -EINVAL;
		if (*text == '-' && ns > end_ns)
			return -EINVAL;
		*out_ns = *text == '-' ? end_ns - ns : ns;
		return 0;
	}
	return date_and_time(text, out_ns) ? time_of_day(text, end_ns, out_ns) : 0;
}

static int parse(const char *option, const char *text, u64 end_ns, u64 *out)
{
	if (!when__parse(text, end_ns, out))
		return 0;
	diag_error("%s: '%s' is not a time", option, text);
	diag_hint("as in: %s 03:14, %s '2026-11-23 03:14:05', %s -10m (before the end)", option, option, option);
	return -EINVAL;
}

int when__window(const struct when *when, u64 begin_ns, u64 end_ns, struct store_window *out)
{
	u64 at;
	int err = 0;

	*out = (struct store_window){ begin_ns, end_ns + 1 };
	if (when->at && (when->from || when->to)) {
		diag_error("--at cannot be combined with --from and --to");
		return -EINVAL;
	}
	if (when->at) {
		err = parse("--at", when->at, end_ns, &at);
		if (err)
			return err;
		out->from_ns = at > when->width_ns / 2 ? at - when->width_ns / 2 : 0;
		out->to_ns = at + when->width_ns / 2;
	}
	if (when->from)
		err = parse("--from", when->from, end_ns, &out->from_ns);
	if (!err && when->to)
		err = parse("--to", when->to, end_ns, &out->to_ns);
	if (!err && out->to_ns <= out->from_ns) {
		diag_error("the window ends before it begins");
		return -EINVAL;
	}
	return err;
}

const char *when__text(char *text, u64 ns)
{
	time_t seconds = ns / NSEC_PER_SEC;
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(text, WHEN_SPACE, "%b %e %H:%M:%S", &tm))
		snprintf(text, WHEN_SPACE, "?");
	return text;
}
