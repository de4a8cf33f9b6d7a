/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of a store (record/store.h): the file, its statements, the tables that rows are in. */
#ifndef TALLY_RECORD_FILE_H
#define TALLY_RECORD_FILE_H

#ifdef HAVE_SQLITE

#include <jansson.h>

#include "base/table.h"
#include "record/sqlite.h"
#include "record/store.h"

/* Statements that are used again and again. */
enum store_statement {
	BEGIN, COMMIT, ROLLBACK,
	ADD_INTERVAL, END_INTERVAL, ADD_MEASUREMENT, FIND_MEASUREMENT, ADD_HEAD, FIND_HEAD, ADD_REPORT,
	ADD_SHAPE, CHANGE_SHAPE, ADD_FRAME, FIND_FRAME, ADD_STACK, FIND_STACK,
	STATEMENTS,
};

enum shape_kind { SHAPE_ROWS, SHAPE_HISTOGRAMS, SHAPE_STACKS, SHAPE_LINES, SHAPE_KINDS };

/* A column of a table: a cell of rows, without its value. */
struct shape_column {
	char *name;
	enum field_kind kind;   /* of its numbers; FIELD_NONE: none has been seen yet */
	u8 decimals;
	bool label, machine, word, adds_up;
	bool escaped, seconds;  /* of lines */
};

/* Rows that have the same cells are in a table of their own. */
struct shape {
	s64 id, measurement;
	enum shape_kind kind;
	char *table;            /* quoted, as SQL wants it */
	struct shape_column *column;
	size_t n;
	sqlite3_stmt *add;      /* NULL: not used yet */
};

/* A dictionary's entry in memory: heads, frames. */
struct store_head {
	s64 id;
	json_t *json;
	s64 *bound;             /* of histograms with bounds of their own */
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
	bool writes;
	sqlite3_stmt *statement[STATEMENTS];
	struct shape *shape;
	size_t nshapes;
	struct store_head *head;
	size_t nheads;
	struct store_frame *frame;
	size_t nframes;
	struct table frames;    /* by id */
	/* Writing. */
	struct store_limits limits;
	s64 recording;
	u32 recorder;           /* reading: who wrote what is being read */
	s64 interval;           /* the one that is being added to; 0: none */
	u64 start_ns, end_ns;   /* of it, as far as is known */
	s64 lines_report;       /* the report that single events of a measurement hang on, and whose */
	s64 lines_measurement;
	s64 position;           /* of the next row in its interval */
	int failed;             /* the interval cannot be written */
	struct store_progress progress;
	bool told;              /* that there is no room */
};

/* What SQLite's result means, as an errno, without a word; 0 for SQLITE_OK, _ROW, _DONE. */
int store__error(int result);

/* Says what went wrong, and returns it. */
int store__complain(struct store *s, int err);

/* Prepares once. NULL: *err has why. */
sqlite3_stmt *store__statement(struct store *s, enum store_statement which, int *err);
int store__prepare(struct store *s, sqlite3_stmt **statement, const char *text);

/* Runs to its end, and resets. */
int store__run(struct store *s, sqlite3_stmt *statement);
int store__exec(struct store *s, const char *text);

/* One number that a query has; 0 where it has none. */
int store__number(struct store *s, const char *query, s64 *number);

/* NULL is NULL; texts are escaped. 0, -ENOMEM or -EIO. */
int store__bind_text(struct store *s, sqlite3_stmt *statement, int index, const char *raw);

/* A column as it was, in new memory; NULL if it is NULL or there is no memory. */
char *store__column_text(struct store *s, sqlite3_stmt *statement, int index);

/*
 * The tables. find: the one for such cells, or NULL. Both keep what they return until the store is closed.
 * load: reads those that the file has.
 */
int shapes__load(struct store *s);
struct shape *shapes__find(struct store *s, s64 measurement, enum shape_kind kind, const struct shape_column *column,
			   size_t n, int *err);
void shapes__free(struct store *s);

/* _flags of single events. */
#define LINE_HAS_ELAPSED 1

/* Columns of a table besides its cells. */
extern const char *const shape_own_columns[SHAPE_KINDS];

/* The names of shape_kind, in the file. */
extern const char *const shape_kind_names[SHAPE_KINDS];

#endif /* HAVE_SQLITE */

#endif /* TALLY_RECORD_FILE_H */
