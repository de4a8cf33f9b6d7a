/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of a store (record/store.h): the file, its statements, and the tables of rows. */
#ifndef TALLY_RECORD_FILE_H
#define TALLY_RECORD_FILE_H

#ifdef HAVE_SQLITE

#include <jansson.h>

#include "base/table.h"
#include "record/pages.h"
#include "record/sqlite.h"
#include "record/store.h"

/* Prepared statements. */
enum store_statement {
	BEGIN, COMMIT, ROLLBACK,
	ADD_INTERVAL, END_INTERVAL, ADD_MEASUREMENT, FIND_MEASUREMENT, ADD_HEAD, FIND_HEAD, ADD_REPORT,
	ADD_SHAPE, CHANGE_SHAPE, ADD_FRAME, FIND_FRAME, ADD_STACK, FIND_STACK,
	STATEMENTS,
};

/* SHAPE_TABLES: rows whose figures come from histograms. */
enum shape_kind { SHAPE_ROWS, SHAPE_TABLES, SHAPE_HISTOGRAMS, SHAPE_STACKS, SHAPE_LINES, SHAPE_KINDS };

/* A column of a table: a cell without its value. */
struct shape_column {
	char *name;
	enum field_kind kind;   /* of its numbers; FIELD_NONE if none has been seen yet */
	u8 decimals;
	bool machine, word;
	enum field_role role;
	char *of, *per;         /* other columns, or NULL */
	bool escaped, seconds;  /* single events only */
};

/* Rows with the same cells share a table. */
struct shape {
	s64 id, measurement;
	enum shape_kind kind;
	char *table;            /* quoted for SQL */
	struct shape_column *column;
	size_t n;
	sqlite3_stmt *add;      /* prepared on first use, before that NULL */
};

/* Cached dictionary entries: heads and frames. */
struct store_head {
	s64 id;
	json_t *json;
	s64 *bound;             /* of histograms with their own bounds */
	size_t nbounds;
};

struct store_frame {
	s64 id;
	char *name, *module, *file;
	struct report_frame frame;
};

struct store {
	const struct sqlite *sql;
	sqlite3 *db;
	char *path;
	char *host;             /* returned by store__host(); may be NULL */
	bool writes;
	int writer_fd;          /* lock against other recorders; -1 if none */
	sqlite3_stmt *statement[STATEMENTS];
	struct shape *shape;
	size_t nshapes;
	struct store_head *head;
	size_t nheads;
	struct store_frame *frame;
	size_t nframes;
	struct table frames;    /* by id */
	s64 first, last;        /* first and last interval when it was opened for reading */
	/* For writing. */
	struct store_limits limits;
	s64 recording;
	u32 recorder;           /* reading: the process that recorded the current interval */
	s64 interval;           /* current interval; 0 if none */
	u64 start_ns, end_ns;   /* of the current interval, as far as known */
	s64 lines_report;       /* report of the single events of a measurement, and the measurement */
	s64 lines_measurement;
	json_t *columns;        /* of single events, for the measurement whose report is next; or NULL */
	s64 columns_measurement;
	s64 position;           /* of the next row in its interval */
	int failed;             /* error because of which the interval cannot be written */
	struct store_progress progress;
	bool told;              /* the reason why an interval was not written has been reported */
	/* For writing within limits.bytes. */
	char *log;              /* path of the write-ahead log */
	u64 unchecked;          /* approximate bytes added since the sizes were checked */
	u64 used_before, log_before;    /* bytes of the file and the log when the interval began */
	u64 largest;            /* most bytes that an interval has added */
};

/*
 * Converts a result of SQLite to a negative errno, without a message. Returns 0 for SQLITE_OK, _ROW
 * and _DONE.
 */
int store__error(int result);

/* Reports err and returns it. */
int store__complain(struct store *s, int err);

/* Returns the statement, which is prepared on first use. On failure returns NULL and sets *err. */
sqlite3_stmt *store__statement(struct store *s, enum store_statement which, int *err);
int store__prepare(struct store *s, sqlite3_stmt **statement, const char *text);

/* Runs a statement to its end, and resets it. */
int store__run(struct store *s, sqlite3_stmt *statement);
int store__exec(struct store *s, const char *text);

/* Gets the single number that a query returns; 0 if it returns none. */
int store__number(struct store *s, const char *query, s64 *number);

/* Escapes and binds a text; NULL becomes SQL NULL. Returns 0, -ENOMEM or -EIO. */
int store__bind_text(struct store *s, sqlite3_stmt *statement, int index, const char *raw);

/* Returns a column, unescaped and allocated. NULL for SQL NULL, or without memory. */
char *store__column_text(struct store *s, sqlite3_stmt *statement, int index);

/*
 * The tables of rows. shapes__load() reads the list of tables from the file. shapes__find(), for
 * writing, returns the table for these cells, and adds it if it is missing; on failure it returns NULL
 * and sets *err. The result is owned by the store.
 */
int shapes__load(struct store *s);
struct shape *shapes__find(struct store *s, s64 measurement, enum shape_kind kind, const struct shape_column *column,
			   size_t n, int *err);
void shapes__free(struct store *s);

/*
 * Keep the file and its log within the limits. room__begin() is called once, before the first interval. room__make() is
 * called between two intervals, without a transaction, and drops the oldest ones. room__check() returns -EFBIG if the
 * interval is larger than the limits allow, -ETXTBSY if a reader prevents the log from being emptied. room__added()
 * counts bytes added to the interval, and calls room__check() from time to time.
 */
int room__begin(struct store *s);
int room__make(struct store *s);
int room__check(struct store *s);
int room__added(struct store *s, size_t bytes);

/* Time that SQLite waits for another process. */
#define STORE_BUSY_MS 5000

/* Values of _flags in rows of single events. */
#define LINE_HAS_ELAPSED 1

/* Columns of a table in addition to its cells. */
extern const char *const shape_own_columns[SHAPE_KINDS];

/* Names of shape_kind in the file. */
extern const char *const shape_kind_names[SHAPE_KINDS];

#endif /* HAVE_SQLITE */

#endif /* TALLY_RECORD_FILE_H */
