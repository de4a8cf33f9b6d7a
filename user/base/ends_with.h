/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_BASE_ENDS_WITH_H
#define TALLY_BASE_ENDS_WITH_H

#include <string.h>

#include "base/types.h"

/* Whether text ends with end. */
static inline bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

#endif /* TALLY_BASE_ENDS_WITH_H */
