// SPDX-License-Identifier: BSD-2-Clause
/* Stubs for builds without SQLite, which have no recordings. */
#include "record/store.h"

#include <errno.h>

#include "report/diag.h"

#ifndef HAVE_SQLITE

static int say_so(void)
{
	diag_error("built without SQLite: recordings are not available");
	return -ENOSYS;
}

int store__create(struct store **store, const char *path, const struct store_origin *origin,
		  const struct store_limits *limits)
{
	(void)store, (void)path, (void)origin, (void)limits;
	return say_so();
}

int store__open(struct store **store, const char *path)
{
	(void)store, (void)path;
	return say_so();
}

void store__close(struct store *s)
{
	(void)s;
}

int store__add_report(struct store *s, const struct report *r)
{
	(void)s, (void)r;
	return -ENOSYS;
}

int store__add_line(struct store *s, const char *tool, const char *command, const struct stream_line *line)
{
	(void)s, (void)tool, (void)command, (void)line;
	return -ENOSYS;
}

int store__add_columns(struct store *s, const char *tool, const char *command, const struct stream_line *like)
{
	(void)s, (void)tool, (void)command, (void)like;
	return -ENOSYS;
}

int store__end_interval(struct store *s)
{
	(void)s;
	return -ENOSYS;
}

struct store_progress store__progress(const struct store *s)
{
	(void)s;
	return (struct store_progress){};
}

u32 store__recorder(const struct store *s)
{
	(void)s;
	return 0;
}

const char *store__host(struct store *s)
{
	(void)s;
	return NULL;
}

int store__measurements(struct store *s, struct store_measurement **list, size_t *n)
{
	(void)s, (void)list, (void)n;
	return -ENOSYS;
}

int store__extent(struct store *s, u64 *begin_ns, u64 *end_ns)
{
	(void)s, (void)begin_ns, (void)end_ns;
	return -ENOSYS;
}

int store__read(struct store *s, const struct store_window *window, s64 measurement, const struct store_reader *reader)
{
	(void)s, (void)window, (void)measurement, (void)reader;
	return -ENOSYS;
}

#endif
