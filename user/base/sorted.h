/* SPDX-License-Identifier: BSD-2-Clause */
/* Binary search in arrays sorted by a u64 member. */
#ifndef TALLY_BASE_SORTED_H
#define TALLY_BASE_SORTED_H

#include <stddef.h>
#include <string.h>

#include "base/types.h"

/* Number of elements whose u64 at offset is at most value. */
static inline size_t sorted_up_to(const void *array, size_t n, size_t size, size_t offset, u64 value)
{
	size_t from = 0, to = n, middle;
	u64 there;

	while (from < to) {
		middle = from + (to - from) / 2;
		memcpy(&there, (const char *)array + middle * size + offset, sizeof(there));
		if (there <= value)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

#define SORTED_UP_TO(array, n, member, value) \
	sorted_up_to(array, n, sizeof(*(array)), offsetof(typeof(*(array)), member), value)

#endif /* TALLY_BASE_SORTED_H */
