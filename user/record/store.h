/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording: what measurements have reported, interval by interval, in an SQLite file that docs/record.md
 * describes. One process writes it, any number read it meanwhile. An interval is there whole or not at
 * all: it is one transaction, in write-ahead mode, so that a writer that is killed loses the interval it was
 * in and nothing else.
 *
 * Texts are kept escaped (report/escape.h), so that what other programs read of the file steers no terminal; they
 * are given back as they were.
 *
 * All functions say what is wrong. Errors are negative errnos: -ENOSPC (disk full), -EBUSY (somebody else
 * records into the file), -EUCLEAN (damaged), -EPROTO (of another version of tally, or no recording), -EIO, -ENOMEM,
 * -ENOSYS (built without SQLite, or it is not here).
 */
#ifndef TALLY_RECORD_STORE_H
#define TALLY_RECORD_STORE_H

#include "base/types.h"
#include "report/report.h"
#include "report/stream.h"

#define STORE_VERSION 1

struct store;

/* Where what is recorded comes from, and how much of it is kept. */
struct store_origin {
	const char *kernel;     /* uname -r */
	const char *host;       /* its name */
	int cpus;
	u64 interval_ns;
};

/* The oldest intervals go when there is more than either; 0: no limit. */
struct store_limits {
	u64 keep_ns;            /* of measured time: clocks that are set do not matter */
	u64 bytes;              /* of the file; space that becomes free is used again */
};

/*
 * Makes the file, mode 0600, or goes on with one that is a recording. A file that holds something else is left
 * alone. From here on nobody else can record into it.
 */
int store__create(struct store **store, const char *path, const struct store_origin *origin,
		  const struct store_limits *limits);

/* Of what is being recorded meanwhile everything up to now is read, and nothing that comes later. */
int store__open(struct store **store, const char *path);

/* What was added since the last store__end_interval() is dropped. NULL is none. */
void store__close(struct store *s);

/*
 * --- writing -----------------------------------------------------------------------------------
 */

/*
 * Adds to the interval. 0, or an error after which nothing can be recorded any more (-EBUSY, -EUCLEAN,
 * -ENOMEM). An interval that the disk has no room for is left out as a whole when it ends.
 */
int store__add_report(struct store *s, const struct report *r);

/* command: the command line of the measurement whose event it is, as in struct report. */
int store__add_line(struct store *s, const char *tool, const char *command, const struct stream_line *line);

/* The interval is written, and what is too old or too much goes. */
int store__end_interval(struct store *s);

struct store_progress {
	u64 intervals;          /* written */
	u64 left_out;           /* not written, for want of room */
	u64 bytes;              /* of the file, its journal not included */
};
struct store_progress store__progress(const struct store *s);

/*
 * --- reading -----------------------------------------------------------------------------------
 */

/* One line of a recording. */
struct store_measurement {
	s64 id;
	const char *tool, *command;     /* the store's, until it is closed */
	u64 reports, lines;
	u64 begin_ns, end_ns;           /* CLOCK_REALTIME: of the first interval, of the last */
	u64 duration_ns;                /* measured in all */
};

/* In the order in which they were typed. The caller frees *list. */
int store__measurements(struct store *s, struct store_measurement **list, size_t *n);

/* From when to when it was recorded; both 0 if there is nothing. */
int store__extent(struct store *s, u64 *begin_ns, u64 *end_ns);

/*
 * An interval belongs to the window in which its middle is: windows that follow each other have each
 * interval once. CLOCK_REALTIME.
 */
struct store_window {
	u64 from_ns, to_ns;
};

/*
 * Takes what is read, in the order in which it was measured. Reports are the store's: what they point to is gone
 * when the function returns, except for names, texts of the head and frames, which are there until the store is
 * closed. end: of each interval; may be NULL, as all of them. What they return but 0 ends the reading.
 */
struct store_reader {
	void *context;
	int (*report)(void *context, const struct report *r);
	int (*line)(void *context, const char *tool, const struct stream_line *line);
	int (*end)(void *context, u64 start_ns, u64 duration_ns);
};

/* The process that recorded what a reader is being given: it is no part of what it has measured. 0: not known. */
u32 store__recorder(const struct store *s);

/* Of one measurement, or of all (0). Returns what the reader returned, 0, or an error. */
int store__read(struct store *s, const struct store_window *window, s64 measurement, const struct store_reader *reader);

#endif /* TALLY_RECORD_STORE_H */
