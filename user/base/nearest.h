/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the name nearest to a mistyped one, for "did you mean" hints. */
#ifndef TALLY_BASE_NEAREST_H
#define TALLY_BASE_NEAREST_H

#include "base/types.h"

/*
 * Number of edits (insert, delete, replace, swap of neighbours; optimal string alignment distance)
 * that turn a into b. Ignores letters beyond the 63rd.
 */
u32 edit_distance(const char *a, const char *b);

/*
 * Returns the name nearest to text, the first of equals, or NULL if none is close enough (more than a
 * third of its letters wrong, but one edit is always allowed). A name that text abbreviates is always
 * close enough.
 */
const char *nearest(const char *text, const char *const *names, size_t n);

#endif /* TALLY_BASE_NEAREST_H */
