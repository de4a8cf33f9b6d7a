// SPDX-License-Identifier: BSD-2-Clause
#include "base/pattern.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the larger number in "{3,5}"; 1 if the braces have no number. */
static unsigned long repeated(const char *brace)
{
	char *end;
	unsigned long n = strtoul(brace + 1, &end, 10), most;

	if (end == brace + 1 && *end != ',')
		return 1;
	most = *end == ',' ? strtoul(end + 1, NULL, 10) : 0;
	n = most > n ? most : n;
	return n ?: 1;
}

/*
 * Checks the limits. May also count the contents of brackets, which is harmless: no real expression comes near the
 * limits.
 */
static const char *check(const char *text)
{
	unsigned long copies = 1, n;
	u32 depth = 0;

	if (strlen(text) > PATTERN_MAX)
		return "it is too long";
	for (; *text; text++) {
		if (*text == '\\' && text[1])
			text++;
		else if (*text == '(' && ++depth > PATTERN_DEPTH)
			return "parentheses nested too deeply";
		else if (*text == ')' && depth)
			depth--;
		else if (*text == '{') {
			n = repeated(text);
			if (n > PATTERN_COPIES || copies * n > PATTERN_COPIES)
				return "too many repetitions";
			copies *= n;
		}
	}
	return NULL;
}

int pattern__compile(regex_t *regex, const char *text, char *why, size_t size)
{
	const char *bad = check(text);
	int err;

	if (bad) {
		snprintf(why, size, "%s", bad);
		return -EINVAL;
	}
	err = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
	if (!err)
		return 0;
	regerror(err, regex, why, size);
	return -EINVAL;
}
