// SPDX-License-Identifier: BSD-2-Clause
#include "base/nearest.h"

#include <string.h>

#define LETTERS 63

static u32 min3(u32 a, u32 b, u32 c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

u32 edit_distance(const char *a, const char *b)
{
	u32 rows[3][LETTERS + 1], *before = rows[0], *last = rows[1], *row = rows[2], *spare;
	size_t n = strnlen(a, LETTERS), m = strnlen(b, LETTERS), i, j;

	for (j = 0; j <= m; j++)
		row[j] = j;
	for (i = 1; i <= n; i++) {
		spare = before;
		before = last;
		last = row;
		row = spare;
		row[0] = i;
		for (j = 1; j <= m; j++) {
			row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
	}
	return row[m];
}

const char *nearest(const char *text, const char *const *names, size_t n)
{
	u32 best = UINT32_MAX, d, limit;
	const char *found = NULL;
	size_t i, len = strlen(text);

	for (i = 0; i < n; i++) {
		d = edit_distance(text, names[i]);
		limit = strlen(names[i]) / 3 ?: 1;
		if (len && !strncmp(text, names[i], len))
			limit = UINT32_MAX;
		if (d <= limit && d < best) {
			best = d;
			found = names[i];
		}
	}
	return found;
}
