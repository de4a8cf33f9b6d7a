/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording: the reports of measurements, interval by interval, in an SQLite file described in
 * docs/recordings.md. It has one writer and any number of concurrent readers. An interval is one
 * transaction in write-ahead mode, so it is complete or absent, and a killed writer loses only its
 * current interval.
 *
 * Texts are stored escaped (report/escape.h), so that they cannot control a terminal if other programs
 * print them. They are unescaped when read.
 *
 * All functions report errors. Errors are negative errnos: -ENOSPC (disk full), -EBUSY (another
 * process records into the file), -EUCLEAN (damaged), -EPROTO (another version of tally, or not a
 * recording), -EIO, -ENOMEM, -ENOSYS (built without SQLite, or SQLite is not installed).
 */
#ifndef TALLY_RECORD_STORE_H
#define TALLY_RECORD_STORE_H

#include "base/types.h"
#include "report/report.h"
#include "report/stream.h"

#define STORE_VERSION 2         /* version 1 has no checksums */

struct store;

/* The source of a recording. */
struct store_origin {
	const char *kernel;     /* uname -r */
	const char *host;       /* host name */
	int cpus;
	u64 interval_ns;
};

/* If a limit is exceeded, the oldest intervals are removed. 0: no limit. */
struct store_limits {
	u64 keep_ns;            /* measured time, so setting the clock has no effect */
	u64 bytes;              /* size of the file; freed space is reused */
};

/*
 * Creates the file, with mode 0600, or continues an existing recording. Does not change a file with
 * other contents. Locks out other writers until store__close().
 */
int store__create(struct store **store, const char *path, const struct store_origin *origin,
		  const struct store_limits *limits);

/*
 * Opens a recording for reading. If it is being written, the store has its state at the time of the
 * call.
 */
int store__open(struct store **store, const char *path);

/* Drops everything added since the last store__end_interval(). s may be NULL. */
void store__close(struct store *s);

/*
 * --- writing -----------------------------------------------------------------------------------
 */

/*
 * Adds a report to the interval. Returns 0, or an error that ends the recording (-EBUSY, -EUCLEAN,
 * -ENOMEM). An interval that does not fit on the disk is dropped as a whole when it ends.
 */
int store__add_report(struct store *s, const struct report *r);

/* Adds a single event. command: command line of its measurement, as in struct report. */
int store__add_line(struct store *s, const char *tool, const char *command, const struct stream_line *line);

/* Sets the columns of the measurement's lines, before its report of each interval. like: a line with any values. */
int store__add_columns(struct store *s, const char *tool, const char *command, const struct stream_line *like);

/* Commits the interval and removes intervals beyond the limits. */
int store__end_interval(struct store *s);

struct store_progress {
	u64 intervals;          /* intervals written */
	u64 left_out;           /* intervals dropped because they did not fit */
	u64 bytes;              /* size of the file without its journal */
};
struct store_progress store__progress(const struct store *s);

/*
 * --- reading -----------------------------------------------------------------------------------
 */

/* One line of a recording: a measurement. */
struct store_measurement {
	s64 id;
	const char *tool, *command;     /* valid until the store is closed */
	u64 reports;
	u64 events;             /* in the reports; UINT64_MAX if they count no events */
	u64 begin_ns, end_ns;           /* CLOCK_REALTIME: start of the first interval, end of the last */
	u64 duration_ns;                /* total measured time */
};

/* Lists the measurements in command-line order. The caller frees *list. */
int store__measurements(struct store *s, struct store_measurement **list, size_t *n);

/* Stores start and end of the recording; both 0 if it is empty. */
int store__extent(struct store *s, u64 *begin_ns, u64 *end_ns);

/*
 * A window of time, CLOCK_REALTIME. It includes the intervals whose middle it contains, so of adjacent
 * windows exactly one includes an interval.
 */
struct store_window {
	u64 from_ns, to_ns;
};

/*
 * Callbacks, called in the order in which the data were recorded. Reports are owned by the store and
 * valid only during the call, except names, texts of the head and frames, which are valid until the
 * store is closed. end() is called after each interval. Each may be NULL. A nonzero result ends the
 * reading.
 */
struct store_reader {
	void *context;
	int (*report)(void *context, const struct report *r);
	int (*line)(void *context, const char *tool, const struct stream_line *line);
	int (*end)(void *context, u64 start_ns, u64 duration_ns);
};

/*
 * Returns the PID of the process that recorded the data being read, which excludes itself from its
 * measurements. 0 if unknown.
 */
u32 store__recorder(const struct store *s);

/* Returns the recording host or hosts; owned by the store. NULL if unknown. */
const char *store__host(struct store *s);

/* Reads one measurement, or all (0). Returns the callback's nonzero result, 0, or an error. */
int store__read(struct store *s, const struct store_window *window, s64 measurement, const struct store_reader *reader);

#endif /* TALLY_RECORD_STORE_H */
