// SPDX-License-Identifier: BSD-2-Clause
/* -P: calls that name a path, or use a descriptor of its file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "calls/syscall/text.h"
#include "calls/trace/trace.h"
#include "files/name.h"

static int add(struct trace_paths *p, char *path)
{
	if (!path || ARRAY_APPEND(p->path, p->n, path)) {
		free(path);
		return -ENOMEM;
	}
	return 0;
}

int trace_paths__add(struct trace_paths *p, const char *path)
{
	char *real = realpath(path, NULL);
	int err = add(p, strdup(path));

	if (err || !real || !strcmp(real, path)) {
		free(real);
		return err;
	}
	return add(p, real);
}

static bool has(const struct trace_paths *p, const char *path, size_t len)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (strlen(p->path[i]) == len && !memcmp(p->path[i], path, len))
			return true;
	return false;
}

static bool is_named(const struct trace_paths *p, const struct trace_chunk *c)
{
	return !(c->flags & (TRACE_CHUNK_FAULT | TRACE_CHUNK_CUT)) &&
	       has(p, (const char *)c->data, strnlen((const char *)c->data, c->bytes));
}

static bool is_of_file(const struct trace_paths *p, const struct trace_chunk *c)
{
	struct file_name n;
	bool found;
	char *path;

	if (c->bytes < offsetof(struct file_name, names) || c->bytes > sizeof(n))
		return false;
	memcpy(&n, c->data, c->bytes);
	n.flags &= ~FILE_NAME_DELETED;
	path = file_name__path(&n, c->bytes);
	found = path && has(p, path, strlen(path));
	free(path);
	return found;
}

bool trace_paths__touches(const struct trace_paths *p, const struct signature *s,
			  const struct trace_record *r, size_t size)
{
	const struct trace_chunk *c;
	u32 arg, part;
	size_t at = 0;

	while ((c = trace_chunk__next(r, size, &at))) {
		arg = c->id & 7;
		part = c->id >> 3;
		if (part == PART_TARGET && arg < TRACE_ARGUMENTS && s->arg[arg].kind == ARG_STRING) {
			if (is_named(p, c))
				return true;
		} else if ((part == PART_FD || part == PART_FD_SECOND) && is_of_file(p, c)) {
			return true;
		}
	}
	return false;
}

void trace_paths__free(struct trace_paths *p)
{
	while (p->n)
		free(p->path[--p->n]);
	free(p->path);
}
