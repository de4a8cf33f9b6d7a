// SPDX-License-Identifier: BSD-2-Clause
/* Keeps a recording and its log within the limits: removes the oldest intervals, then rows that only these used. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "record/file.h"

#ifdef HAVE_SQLITE

/* 1/PRUNE_PART of the intervals is pruned at once, so that pruning is rare. */
#define PRUNE_PART 20
/* Intervals between searches for unused stacks. A search scans all of them. */
#define PRUNE_UNUSED 64
/* The size is checked whenever 1/CHECK_PART of it may have been added. */
#define CHECK_PART 64
/* At least 1/LEAST_ROOM of the size, and at most half of it, is kept free for the next interval. */
#define LEAST_ROOM 8

/* SQLite empties the log at this size, in pages, if no reader needs it. */
#define LOG_PAGES 1000
#define CACHE_BYTES (2ULL << 20)

/* How long a checkpoint waits for readers. */
#define READER_MS 100

/*
 * --- the log -----------------------------------------------------------------------------------
 */

/* Returns the bytes of the log, or 0 if there is none. */
static u64 log_bytes(const struct store *s)
{
	struct stat st;

	return s->log && !stat(s->log, &st) ? st.st_size : 0;
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Sets a small cache, so that additions to an interval reach the log, and count there, before they are committed. */
int room__begin(struct store *s)
{
	u64 bytes = s->limits.bytes;
	char *text = NULL;
	int err;

	if (!bytes)
		return 0;
	if (asprintf(&s->log, "%s-wal", s->sql->db_filename(s->db, "main")) < 0) {
		s->log = NULL;
		return -ENOMEM;
	}
	if (asprintf(&text, "PRAGMA wal_autocheckpoint = %llu; PRAGMA cache_size = -%llu",
		     least(LOG_PAGES, bytes / 8 / PAGE_BYTES), least(CACHE_BYTES, bytes / 8) >> 10) < 0)
		return -ENOMEM;
	err = store__exec(s, text);
	free(text);
	return err;
}

/* Empties a log that SQLite's own checkpoints have not emptied, unless readers need it. */
static int empty_log(struct store *s)
{
	int err;

	if (log_bytes(s) <= s->limits.bytes / 4)
		return 0;
	s->sql->busy_timeout(s->db, READER_MS);
	err = store__exec(s, "PRAGMA wal_checkpoint(TRUNCATE)");
	s->sql->busy_timeout(s->db, STORE_BUSY_MS);
	return err == -EBUSY ? 0 : err;
}

/*
 * --- removal -----------------------------------------------------------------------------------
 */

/* Removes all intervals before the given one. */
static int drop_before(struct store *s, s64 interval)
{
	char *text = NULL;
	s64 report;
	size_t i;
	int err;

	if (asprintf(&text, "SELECT min(id) FROM report WHERE interval >= %lld", (long long)interval) < 0)
		return -ENOMEM;
	err = store__number(s, text, &report);
	free(text);
	for (i = 0; i < s->nshapes && !err && report; i++) {
		if (asprintf(&text, "DELETE FROM %s WHERE _report < %lld", s->shape[i].table, (long long)report) < 0)
			return -ENOMEM;
		err = store__exec(s, text);
		free(text);
	}
	if (err || asprintf(&text, "DELETE FROM report WHERE interval < %lld; DELETE FROM interval WHERE id < %lld",
			    (long long)interval, (long long)interval) < 0)
		return err ?: -ENOMEM;
	err = store__exec(s, text);
	free(text);
	return err;
}

/* Removes unreferenced stacks, then unreferenced frames. */
static int drop_unused(struct store *s)
{
	char *text = NULL;
	size_t size, i, n = 0;
	FILE *f = open_memstream(&text, &size);
	int err;

	if (!f)
		return -ENOMEM;
	fputs("DELETE FROM stack WHERE id NOT IN (", f);
	for (i = 0; i < s->nshapes; i++)
		if (s->shape[i].kind == SHAPE_STACKS)
			fprintf(f, "%sSELECT _stack FROM %s", n++ ? " UNION " : "", s->shape[i].table);
	fputs("); DELETE FROM frame WHERE id NOT IN (SELECT value FROM stack, json_each('[' || frames || ']')); "
	      "DELETE FROM head WHERE id NOT IN (SELECT head FROM report WHERE head IS NOT NULL)", f);
	err = fclose(f) ? -ENOMEM : store__exec(s, text);
	free(text);
	return err;
}

/* Finds the first interval to keep under keep_ns; 0 to keep all. */
static int first_by_time(struct store *s, s64 *interval)
{
	char *text;
	int err;

	*interval = 0;
	if (!s->limits.keep_ns)
		return 0;
	/*
	 * Keep the intervals after the newest one at which the total reaches the limit. Always keep
	 * the newest, even if it alone exceeds the limit.
	 */
	if (asprintf(&text, "SELECT min(max(id) + 1, (SELECT max(id) FROM interval)) FROM "
		     "(SELECT id, sum(duration_ns) OVER (ORDER BY id DESC) AS newer FROM interval) "
		     "WHERE newer > %lld", (long long)s->limits.keep_ns) < 0)
		return -ENOMEM;
	err = store__number(s, text, interval);
	free(text);
	return err;
}

/* Counts the bytes in use, because part of the file may be free. */
static int used_bytes(struct store *s, u64 *used)
{
	s64 pages, idle, size;
	int err = store__number(s, "PRAGMA page_count", &pages);

	if (!err)
		err = store__number(s, "PRAGMA freelist_count", &idle);
	if (!err)
		err = store__number(s, "PRAGMA page_size", &size);
	if (err)
		return err;
	*used = (pages - idle) * size;
	s->progress.bytes = pages * size;
	return 0;
}

static int first_by_size(struct store *s, s64 *interval)
{
	s64 first, last;
	int err;

	*interval = 0;
	err = store__number(s, "SELECT min(id) FROM interval", &first);
	if (!err)
		err = store__number(s, "SELECT max(id) FROM interval", &last);
	if (!err && last > first)
		*interval = first + 1 + (last - first) / PRUNE_PART;
	return err;
}

static int drop_by_time(struct store *s, u64 goal, bool *dropped)
{
	s64 first;
	int err = first_by_time(s, &first);

	(void)goal;
	if (!err && first)
		err = drop_before(s, first);
	*dropped = !err && first;
	return err;
}

/*
 * Drops the oldest intervals if more than goal is used. If that is not enough, also drops the rows that only these
 * intervals used.
 */
static int drop_by_size(struct store *s, u64 goal, bool *dropped)
{
	s64 first = 0;
	u64 used;
	int err = used_bytes(s, &used);

	*dropped = false;
	if (err || used <= goal)
		return err;
	err = first_by_size(s, &first);
	if (!err && first)
		err = drop_before(s, first);
	if (!err)
		err = used_bytes(s, &used);
	if (!err && used > goal)
		err = drop_unused(s);
	*dropped = !err && first;
	return err;
}

static int drop_unreferenced(struct store *s, u64 goal, bool *dropped)
{
	(void)goal;
	(void)dropped;
	return drop_unused(s);
}

/* Runs drop in one transaction. */
static int transact(struct store *s, int (*drop)(struct store *s, u64 goal, bool *dropped), u64 goal, bool *dropped)
{
	int err = store__exec(s, "BEGIN IMMEDIATE");

	if (!err)
		err = drop(s, goal, dropped);
	if (!err)
		err = store__exec(s, "COMMIT");
	if (err && !s->sql->get_autocommit(s->db))
		store__exec(s, "ROLLBACK");
	return err ?: empty_log(s);
}

/*
 * --- the limits --------------------------------------------------------------------------------
 */

/* Returns the room for an interval twice as large as any before, but at most half of the size. */
static u64 wanted_room(const struct store *s)
{
	u64 room = s->limits.bytes / LEAST_ROOM;

	return least(room > 2 * s->largest ? room : 2 * s->largest, s->limits.bytes / 2);
}

/*
 * Drops intervals in parts, because each part takes room in the log. Drops nothing while readers keep the log from
 * being emptied.
 */
static int drop_to_size(struct store *s, bool *any)
{
	u64 bytes = s->limits.bytes, goal = bytes - wanted_room(s), used;
	bool dropped = true;
	int err = used_bytes(s, &used);

	if (err || used <= goal)
		return err;
	goal -= bytes / 16;
	while (!err && dropped && log_bytes(s) <= bytes / 4) {
		err = transact(s, drop_by_size, goal, &dropped);
		*any |= dropped;
	}
	return err;
}

int room__make(struct store *s)
{
	bool dropped = false;
	int err = s->limits.bytes ? empty_log(s) : 0;

	if (!err && s->limits.keep_ns)
		err = transact(s, drop_by_time, 0, &dropped);
	if (!err && s->limits.bytes)
		err = drop_to_size(s, &dropped);
	if (!err && dropped && !(s->progress.intervals % PRUNE_UNUSED))
		err = transact(s, drop_unreferenced, 0, NULL);
	if (!err)
		err = used_bytes(s, &s->used_before);
	s->log_before = log_bytes(s);
	return err;
}

int room__check(struct store *s)
{
	u64 bytes = s->limits.bytes, used;
	int err;

	s->unchecked = 0;
	if (!bytes)
		return 0;
	err = used_bytes(s, &used);
	if (err)
		return err;
	if (used > s->used_before && s->largest < used - s->used_before)
		s->largest = used - s->used_before;
	if (used > bytes)
		return -EFBIG;
	if (log_bytes(s) <= bytes)
		return 0;
	return s->log_before > bytes / 4 ? -ETXTBSY : -EFBIG;
}

int room__added(struct store *s, size_t bytes)
{
	s->unchecked += bytes;
	return s->limits.bytes && s->unchecked > s->limits.bytes / CHECK_PART ? room__check(s) : 0;
}

#endif /* HAVE_SQLITE */
