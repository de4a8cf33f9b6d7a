/* SPDX-License-Identifier: BSD-2-Clause */
/* Times as people type them, of a recording. */
#ifndef TALLY_RECORD_WHEN_H
#define TALLY_RECORD_WHEN_H

#include "base/types.h"
#include "record/store.h"

/*
 * "03:14" or "03:14:05": the last such time of day that is not behind end_ns, in the local time zone.
 * "2026-11-23 03:14[:05]", also with a T: that time. "-10m": so long before end_ns. "end": end_ns. "@1763867640[.5]":
 * seconds since 1970. Returns 0 or -EINVAL.
 */
int when__parse(const char *text, u64 end_ns, u64 *out_ns);

/*
 * The window that options name: from and to, or at, which is the middle of width_ns; NULL: not given. Without any of
 * them, from begin_ns to behind end_ns. Says what is wrong. Returns 0 or -EINVAL.
 */
struct when {
	const char *from, *to, *at;
	u64 width_ns;
};
int when__window(const struct when *when, u64 begin_ns, u64 end_ns, struct store_window *out);

/* "Nov 23 03:14:05", of local time; text has WHEN_SPACE. */
#define WHEN_SPACE 32
const char *when__text(char *text, u64 ns);

#endif /* TALLY_RECORD_WHEN_H */
