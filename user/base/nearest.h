/* SPDX-License-Identifier: BSD-2-Clause */
/* "Did you mean": the name nearest to a mistyped one. */
#ifndef TALLY_BASE_NEAREST_H
#define TALLY_BASE_NEAREST_H

#include "base/types.h"

/*
 * Edits (insert, delete, replace, swap of neighbours; optimal string alignment distance) that
 * turn a into b. Letters beyond the 63rd are not looked at.
 */
u32 edit_distance(const char *a, const char *b);

/*
 * The one of n names nearest to text, the first of equals; NULL if none is near enough to be
 * meant (more than a third of its letters wrong, at least one edit allowed). A name that text
 * is the beginning of is always near.
 */
const char *nearest(const char *text, const char *const *names, size_t n);

#endif /* TALLY_BASE_NEAREST_H */
