/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses times in a recording. */
#ifndef TALLY_RECORD_WHEN_H
#define TALLY_RECORD_WHEN_H

#include "base/types.h"
#include "record/store.h"

/*
 * Parses a time. "03:14" or "03:14:05": the last time of day with this value that is not after
 * end_ns, in the local time zone. "2026-11-23 03:14[:05]", also with a T: this time. "-10m": ten
 * minutes before end_ns. "end": end_ns. "@1763867640[.5]": seconds since 1970. Returns 0 or -EINVAL.
 */
int when__parse(const char *text, u64 end_ns, u64 *out_ns);

/*
 * The options that select a window: from and to, or at, the middle of width_ns. NULL if not given.
 * Without any of them, when__window() stores the window from begin_ns to just after end_ns. It reports
 * errors, and returns 0 or -EINVAL.
 */
struct when {
	const char *from, *to, *at;
	u64 width_ns;
};
int when__window(const struct when *when, u64 begin_ns, u64 end_ns, struct store_window *out);

/* Formats local time, "Nov 23 03:14:05"; text has room for WHEN_SPACE. */
#define WHEN_SPACE 32
const char *when__text(char *text, u64 ns);

#endif /* TALLY_RECORD_WHEN_H */
