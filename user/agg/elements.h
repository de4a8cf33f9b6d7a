/* SPDX-License-Identifier: BSD-2-Clause */
/* All elements of a hash map, as they are while it is read: many with each system call. */
#ifndef TALLY_AGG_ELEMENTS_H
#define TALLY_AGG_ELEMENTS_H

#include "base/types.h"

/* key_size and value_size are the map's, set by the caller; all else zeroed. */
struct elements {
	size_t n, room, key_size, value_size;
	char *keys, *values;
};

/*
 * What is made or deleted meanwhile may be in it or not. Returns 0 or a negative errno; to be freed
 * by elements__free() in any case.
 */
int elements__read(struct elements *e, int map_fd);
void elements__free(struct elements *e);

/* Element i, i < n. */
const void *elements__key(const struct elements *e, size_t i);
const void *elements__value(const struct elements *e, size_t i);

#endif /* TALLY_AGG_ELEMENTS_H */
