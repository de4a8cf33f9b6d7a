// SPDX-License-Identifier: BSD-2-Clause
/* Names, patterns, and the path of a binary. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/nearest.h"
#include "event/user_binary.h"
#include "host/process.h"
#include "events/list/list.h"
#include "report/diag.h"

bool list_is_glob(const char *pattern)
{
	return strpbrk(pattern, "*?[");
}

/* A glob may omit the subsystem: "sched_*" matches all events named sched_..., "sched:*" all events of sched. */
static bool matches(const char *pattern, const char *name)
{
	const char *colon;

	if (!strcmp(pattern, name))
		return true;
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

char *list_locate(const struct list_request *q)
{
	const struct event_context ctx = { .pids = &q->pid, .npids = q->pid != 0 };
	struct event_binaries found;
	char *path;
	int err;

	if (q->pid && !process_exists(q->pid)) {
		diag_error("-p: no process %u", q->pid);
		errno = ESRCH;
		return NULL;
	}
	err = event_binaries__find(&found, q->binary, &ctx);
	if (err) {
		diag_error("-x: '%s': %s", q->binary, strerror(-err));
		errno = -err;
		return NULL;
	}
	path = found.path[0];
	found.path[0] = NULL;
	event_binaries__free(&found);
	return path;
}
