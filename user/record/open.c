// SPDX-License-Identifier: BSD-2-Clause
/* Opens and closes stores. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/guard.h"
#include "record/pages.h"
#include "report/diag.h"

#ifdef HAVE_SQLITE

/*
 * Busy timeout: short at first, so that a second writer is refused quickly, and long later, because checkpoints block
 * readers.
 */
#define BUSY_MS_AT_FIRST 300

/* Described in docs/recordings.md. */
static const char schema[] =
	"CREATE TABLE recording (id INTEGER PRIMARY KEY, started_ns INTEGER, host TEXT, kernel TEXT, cpus INTEGER, "
	"every_ns INTEGER, pid INTEGER);"
	"CREATE TABLE interval (id INTEGER PRIMARY KEY, recording INTEGER, start_ns INTEGER, duration_ns INTEGER);"
	"CREATE INDEX interval_start ON interval (start_ns);"
	"CREATE TABLE measurement (id INTEGER PRIMARY KEY, tool TEXT, line TEXT UNIQUE);"
	"CREATE TABLE head (id INTEGER PRIMARY KEY, text TEXT UNIQUE);"
	"CREATE TABLE report (id INTEGER PRIMARY KEY, interval INTEGER, measurement INTEGER, head INTEGER, "
	"start_ns INTEGER, duration_ns INTEGER, events INTEGER, counters TEXT, figures TEXT);"
	"CREATE INDEX report_interval ON report (interval);"
	"CREATE TABLE shape (id INTEGER PRIMARY KEY, measurement INTEGER, kind TEXT, name TEXT UNIQUE, columns TEXT);"
	"CREATE TABLE frame (id INTEGER PRIMARY KEY, name TEXT, module TEXT, offset INTEGER, kind INTEGER, file TEXT, "
	"line INTEGER, UNIQUE (name, module, offset, kind, file, line));"
	"CREATE TABLE stack (id INTEGER PRIMARY KEY, frames TEXT UNIQUE);";

static int open_file(struct store *s, const char *path, int flags)
{
	const char *vfs = guard__vfs(s->sql);
	char *uri = guard__recording(path, s->writes, &s->writer_fd);
	int err;

	if (!uri)
		return -EPROTO;         /* already reported */
	s->path = strdup(path);
	err = vfs && s->path ? store__error(s->sql->open_v2(uri, &s->db, flags | SQLITE_OPEN_URI, vfs)) : -ENOMEM;
	free(uri);
	if (!err)
		s->sql->busy_timeout(s->db, BUSY_MS_AT_FIRST);
	if (!err)
		err = guard__connection(s);
	return err ? store__complain(s, err) : 0;
}

/* Checks that the file is a recording of this version. Sets *empty if it has no contents yet. */
static int check_version(struct store *s, bool *empty)
{
	s64 application, version, tables;
	int err = store__number(s, "PRAGMA application_id", &application);

	if (!err)
		err = store__number(s, "PRAGMA user_version", &version);
	if (!err)
		err = store__number(s, "SELECT count(*) FROM sqlite_master", &tables);
	if (err)
		return err;
	*empty = !tables;
	if (application != PAGES_APPLICATION && (application || tables || s->writes)) {
		diag_error("'%s' is a database, but it was not made by tally record", s->path);
		return -EPROTO;
	}
	if (*empty && !s->writes) {
		diag_error("'%s' is empty: nothing was recorded", s->path);
		return -EPROTO;
	}
	if (version != STORE_VERSION) {
		diag_error("'%s' is a recording of version %lld; expected version %d", s->path,
			   (long long)version, STORE_VERSION);
		return -EPROTO;
	}
	return guard__schema(s);
}

static struct store *new_store(void)
{
	const struct sqlite *sql = sqlite__load();
	struct store *s = sql ? calloc(1, sizeof(*s)) : NULL;

	if (s) {
		s->sql = sql;
		s->writer_fd = -1;
	}
	return s;
}

static int add_recording(struct store *s, const struct store_origin *o)
{
	sqlite3_stmt *add;
	int err =
		store__prepare(s, &add,
			       "INSERT INTO recording (started_ns, host, kernel, cpus, every_ns, pid) VALUES "
			       "(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000, ?, ?, ?, ?, ?)");

	if (err)
		return err;
	err = store__bind_text(s, add, 1, o->host);
	if (!err)
		err = store__bind_text(s, add, 2, o->kernel);
	s->sql->bind_int64(add, 3, o->cpus);
	s->sql->bind_int64(add, 4, o->interval_ns);
	s->sql->bind_int64(add, 5, getpid());
	if (!err)
		err = store__run(s, add);
	s->recording = s->sql->last_insert_rowid(s->db);
	s->sql->finalize(add);
	return err;
}

/* Switches to a write-ahead log. Only the switch would need a rollback journal, which is kept in memory. */
static int use_log(struct store *s)
{
	sqlite3_stmt *ask;
	const char *mode;
	int err = store__prepare(s, &ask, "PRAGMA journal_mode");

	if (err)
		return err;
	err = store__error(s->sql->step(ask));
	mode = err ? NULL : (const char *)s->sql->column_text(ask, 0);
	if (mode && strcmp(mode, "wal"))
		err = store__exec(s, "PRAGMA journal_mode = MEMORY");
	s->sql->finalize(ask);
	return err ?: store__exec(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
}

/* Begins the transaction of the first interval, which locks out other writers until the store is closed. */
static int begin_writing(struct store *s, const struct store_origin *origin)
{
	bool empty = true;
	int err = check_version(s, &empty);

	if (!err)
		err = use_log(s);
	if (!err)
		err = room__begin(s);
	if (!err)
		err = store__exec(s, "BEGIN IMMEDIATE");
	if (!err && empty)
		err = store__exec(s, schema);
	if (!err)
		err = add_recording(s, origin);
	/* Makes the file a recording even if its first interval fails. */
	if (!err)
		err = store__exec(s, "COMMIT");
	if (!err)
		err = shapes__load(s);
	if (!err)
		err = room__make(s);
	if (!err)
		err = store__exec(s, "BEGIN IMMEDIATE");
	if (!err)
		s->sql->busy_timeout(s->db, STORE_BUSY_MS);
	return err;
}

int store__create(struct store **store, const char *path, const struct store_origin *origin,
		  const struct store_limits *limits)
{
	struct store *s = new_store();
	int err;

	if (!s)
		return -ENOSYS;
	s->writes = true;
	s->limits = *limits;
	err = open_file(s, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	if (!err) {
		err = begin_writing(s, origin);
		if (err)
			store__complain(s, err);
	}
	if (err)
		store__close(s);
	else
		*store = s;
	return err;
}

int store__open(struct store **store, const char *path)
{
	struct store *s = new_store();
	bool empty;
	int err;

	if (!s)
		return -ENOSYS;
	err = open_file(s, path, SQLITE_OPEN_READWRITE);
	if (!err) {
		s->sql->busy_timeout(s->db, STORE_BUSY_MS);
		err = check_version(s, &empty);
		if (!err)
			err = store__exec(s, "BEGIN");  /* tables and intervals of the same moment */
		if (!err)
			err = shapes__load(s);
		if (!err)
			err = store__number(s, "SELECT min(id) FROM interval", &s->first);
		if (!err)
			err = store__number(s, "SELECT max(id) FROM interval", &s->last);
		if (!err)
			err = store__exec(s, "END");
		if (err)
			store__complain(s, err);
	}
	if (err)
		store__close(s);
	else
		*store = s;
	return err;
}

void store__close(struct store *s)
{
	size_t i;

	if (!s)
		return;
	if (s->db && !s->sql->get_autocommit(s->db))
		store__exec(s, "ROLLBACK");
	for (i = 0; i < STATEMENTS; i++)
		s->sql->finalize(s->statement[i]);
	shapes__free(s);
	json_decref(s->columns);
	for (i = 0; i < s->nheads; i++) {
		json_decref(s->head[i].json);
		free(s->head[i].bound);
	}
	free(s->head);
	for (i = 0; i < s->nframes; i++) {
		free(s->frame[i].name);
		free(s->frame[i].module);
		free(s->frame[i].file);
	}
	free(s->frame);
	table__free(&s->frames);
	if (s->db)
		s->sql->close_v2(s->db);
	if (s->writer_fd >= 0)
		close(s->writer_fd);
	free(s->host);
	free(s->log);
	free(s->path);
	free(s);
}

#endif /* HAVE_SQLITE */
