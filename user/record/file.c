// SPDX-License-Identifier: BSD-2-Clause
/* Statements of a store, its errors and its progress. */
#include "record/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "report/diag.h"
#include "report/escape.h"

#ifdef HAVE_SQLITE

static const char *const statements[STATEMENTS] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
	[ADD_INTERVAL] = "INSERT INTO interval (recording) VALUES (?)",
	[END_INTERVAL] = "UPDATE interval SET start_ns = ?, duration_ns = ? WHERE id = ?",
	[ADD_MEASUREMENT] = "INSERT INTO measurement (tool, line) VALUES (?, ?)",
	[FIND_MEASUREMENT] = "SELECT id FROM measurement WHERE line = ?",
	[ADD_HEAD] = "INSERT INTO head (text) VALUES (?)",
	[FIND_HEAD] = "SELECT id FROM head WHERE text = ?",
	[ADD_REPORT] =
		"INSERT INTO report (interval, measurement, head, start_ns, duration_ns, events, counters, figures) "
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	[ADD_SHAPE] = "INSERT INTO shape (measurement, kind, columns) VALUES (?, ?, ?)",
	[CHANGE_SHAPE] = "UPDATE shape SET columns = ?, name = ? WHERE id = ?",
	[ADD_FRAME] = "INSERT INTO frame (name, module, offset, kind, file, line) VALUES (?, ?, ?, ?, ?, ?)",
	[FIND_FRAME] =
		"SELECT id FROM frame WHERE name = ? AND module = ? AND offset = ? AND kind = ? AND file = ? AND "
		"line = ?",
	[ADD_STACK] = "INSERT INTO stack (frames) VALUES (?)",
	[FIND_STACK] = "SELECT id FROM stack WHERE frames = ?",
};

#define ROW_BYTES 64            /* approximate size of a row without its texts */

/*
 * --- statements --------------------------------------------------------------------------------
 */

int store__error(int result)
{
	switch (result & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CANTOPEN:
		return -EACCES;
	default:
		return -EIO;
	}
}

/* SQLite maps the index of its log in pieces of this size. */
#define WAL_INDEX_BYTES 32768

/* True if a file has no room for another page. SQLite forgets the cause when it undoes the change. */
static bool has_reached_limit(const struct store *s)
{
	static const char *const ends[] = { "", "-wal", "-journal" };
	struct rlimit limit;
	char path[PATH_MAX];
	struct stat st;
	size_t i;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return false;
	if (limit.rlim_cur < WAL_INDEX_BYTES)
		return true;
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		snprintf(path, sizeof(path), "%s%s", s->path, ends[i]);
		if (!stat(path, &st) && (u64)st.st_size + 2 * PAGE_BYTES > limit.rlim_cur)
			return true;
	}
	return false;
}

/* SQLite reports "disk I/O error", whatever error the system returned. */
static void complain_of_file(struct store *s)
{
	int why = s->sql->system_errno(s->db);

	if (why)
		diag_error("'%s': %s: %s", s->path, s->sql->errmsg(s->db), strerror(why));
	else
		diag_error("'%s': %s", s->path, s->sql->errmsg(s->db));
}

int store__complain(struct store *s, int err)
{
	if ((err == -EIO || err == -ENOSPC) && has_reached_limit(s)) {
		diag_error("'%s': file size limit reached (ulimit -f)", s->path);
		return err;
	}
	switch (-err) {
	case EBUSY:
		diag_error("'%s': another process is recording into it", s->path);
		break;
	case EUCLEAN:
		diag_error("'%s' is damaged: %s", s->path, s->sql->errmsg(s->db));
		diag_hint("to save the readable part: sqlite3 '%s' .recover | sqlite3 NEW.db", s->path);
		break;
	case EPROTO:
		break;          /* already reported */
	case EIO:
		complain_of_file(s);
		break;
	case EFBIG:
		diag_error("'%s': one interval does not fit into --size", s->path);
		break;
	case ETXTBSY:
		diag_error("'%s-wal' has reached --size: another program keeps the recording open for reading",
			   s->path);
		break;
	default:
		diag_error("'%s': %s", s->path, strerror(-err));
	}
	return err;
}

int store__prepare(struct store *s, sqlite3_stmt **statement, const char *text)
{
	return store__error(s->sql->prepare_v2(s->db, text, -1, statement, NULL));
}

sqlite3_stmt *store__statement(struct store *s, enum store_statement which, int *err)
{
	if (!s->statement[which])
		*err = store__prepare(s, &s->statement[which], statements[which]);
	return *err ? NULL : s->statement[which];
}

int store__run(struct store *s, sqlite3_stmt *statement)
{
	int result;

	do
		result = s->sql->step(statement);
	while (result == SQLITE_ROW);
	s->sql->reset(statement);
	s->unchecked += ROW_BYTES;
	return store__error(result);
}

int store__exec(struct store *s, const char *text)
{
	return store__error(s->sql->exec(s->db, text, NULL, NULL, NULL));
}

int store__number(struct store *s, const char *query, s64 *number)
{
	sqlite3_stmt *statement;
	int err = store__prepare(s, &statement, query), result;

	*number = 0;
	if (err)
		return err;
	result = s->sql->step(statement);
	if (result == SQLITE_ROW)
		*number = s->sql->column_int64(statement, 0);
	s->sql->finalize(statement);
	return store__error(result);
}

int store__bind_text(struct store *s, sqlite3_stmt *statement, int index, const char *raw)
{
	char *text;

	if (!raw)
		return store__error(s->sql->bind_null(statement, index));
	text = escape_string(raw);
	if (!text)
		return -ENOMEM;
	s->unchecked += strlen(text);
	return store__error(s->sql->bind_text(statement, index, text, -1, free));
}

char *store__column_text(struct store *s, sqlite3_stmt *statement, int index)
{
	const char *text = (const char *)s->sql->column_text(statement, index);
	char *raw = text ? strdup(text) : NULL;

	if (raw)
		escape_undo(raw);
	return raw;
}

struct store_progress store__progress(const struct store *s)
{
	return s->progress;
}

#endif /* HAVE_SQLITE */
