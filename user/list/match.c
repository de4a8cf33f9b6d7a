// SPDX-License-Identifier: BSD-2-Clause
/* Names and patterns. */
#include <fnmatch.h>
#include <string.h>

#include "base/nearest.h"
#include "list/list.h"
#include "out/diag.h"

bool list_is_glob(const char *pattern)
{
	return strpbrk(pattern, "*?[");
}

/* A glob may leave the subsystem out: "sched_*" is any sched_..., "sched:*" those of sched. */
static bool matches(const char *pattern, const char *name)
{
	const char *colon;

	if (!list_is_glob(pattern))
		return strstr(name, pattern);
	if (!fnmatch(pattern, name, 0))
		return true;
	colon = strchr(name, ':');
	return colon && !strchr(pattern, ':') && !fnmatch(pattern, colon + 1, 0);
}

bool list_matches(const struct list_request *q, const char *name)
{
	size_t i;

	for (i = 0; i < q->npatterns; i++)
		if (matches(q->pattern[i], name))
			return true;
	return !q->npatterns;
}

bool list_hint(const char *text, const char *const *names, size_t n)
{
	const char *near = nearest(text, names, n);

	if (near)
		diag_hint("did you mean '%s'?", near);
	return near;
}
