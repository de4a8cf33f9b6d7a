/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Begins of calls that will never end: their threads exited inside a function, or were ended by
 * exit_group() in one.
 */
#ifndef TALLY_PROBE_STARTS_H
#define TALLY_PROBE_STARTS_H

#include "base/types.h"

struct starts_plan {
	int fd;                 /* of the map */
	u32 key_size, value_size, max_entries;
	bool calls;     /* spans end in the thread, or goroutine, they began in: otherwise nothing is known */
};

/*
 * Deletes the begins of threads, and of goroutines' processes, that are gone; and, if more than half of
 * the map is full, those of calls whose frame a later call of the same thread or goroutine has
 * overwritten: they were left by an exception, a panic or a longjmp(). *deleted (may be NULL): how many,
 * except those already counted as lost. Returns 0 or a negative errno. In a pid namespace other than the
 * initial one, threads cannot be found, and nothing is done.
 */
int starts__sweep(const struct starts_plan *plan, size_t *deleted);

#endif /* TALLY_PROBE_STARTS_H */
