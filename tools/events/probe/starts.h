/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Begins of spans that will never end: of threads that exited inside of a function, or that were
 * ended by exit_group() while they were in one.
 */
#ifndef TALLY_PROBE_STARTS_H
#define TALLY_PROBE_STARTS_H

#include "base/types.h"

struct starts_plan {
	int fd;                 /* of the map */
	u32 key_size, value_size, max_entries;
	bool in_thread; /* spans end in the thread they began in: else nothing is known of them */
};

/*
 * Deletes the begins of threads that are gone; and, if more than half of the map is full, those of
 * calls whose frame a later one of the same thread has taken: they were left by an exception or a
 * longjmp(). *deleted (may be NULL): how many, but for those that have been counted as lost already.
 * Returns 0 or a negative errno. In another pid namespace than the initial one threads cannot be
 * looked for, and nothing is done.
 */
int starts__sweep(const struct starts_plan *plan, size_t *deleted);

#endif /* TALLY_PROBE_STARTS_H */
