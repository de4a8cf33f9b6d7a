/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Begins of calls that will never end: their threads exited inside a function, or exit_group()
 * ended them there.
 */
#ifndef TALLY_PROBE_STARTS_H
#define TALLY_PROBE_STARTS_H

#include "base/types.h"

struct starts_plan {
	int fd;                 /* file descriptor of the map */
	u32 key_size, value_size, max_entries;
	bool calls;             /* spans end in the thread or goroutine in which they began; if false, no sweep */
};

/*
 * Deletes the begins of threads, and of goroutines' processes, that have exited. If more than half of the map is full,
 * also deletes the begins of calls whose frame a later call of the same thread or goroutine has overwritten: an
 * exception, a panic or a longjmp() ended them. Sets *deleted, unless it is NULL, to the number of deleted begins,
 * except those already counted as lost. Returns 0 or a negative errno. Does nothing in a pid namespace other than the
 * initial one, where threads cannot be found.
 */
int starts__sweep(const struct starts_plan *plan, size_t *deleted);

#endif /* TALLY_PROBE_STARTS_H */
