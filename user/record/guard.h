/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLite finds files by name: a recording, and its journal and write-ahead log in the same directory.
 * Other users who can create files in that directory could choose what SQLite reads, rolls back and
 * deletes: a rollback journal names another file, which is deleted wherever it is
 * (https://www.sqlite.org/fileformat.html#the_rollback_journal). A recording may come from another
 * machine, so its contents are untrusted, too (https://www.sqlite.org/security.html).
 *
 * A recording is therefore opened only if the file, its directory and all parents are owned by root, by the caller or,
 * under sudo(8), by the invoking user, and no other user can replace it. If other users could create the accompanying
 * files, they are created first. The VFS in use has no rollback journals; recordings have a write-ahead log.
 */
#ifndef TALLY_RECORD_GUARD_H
#define TALLY_RECORD_GUARD_H

#include "record/file.h"

#ifdef HAVE_SQLITE

/*
 * Checks the recording at path. For writing, creates it if it does not exist, readable by its owner only. Returns a URI
 * for SQLITE_OPEN_URI, allocated, or NULL after reporting the error. A recording without a log on a read-only file
 * system is immutable, so SQLite needs no other files.
 *
 * For writing, sets *writer_fd to a descriptor that locks out other recorders, also between two transactions of this
 * one. Close it after SQLite has closed the file. It is not set for reading.
 *
 * A process must not have more than one store of a file open at a time: closing a descriptor here also drops SQLite's
 * locks on that file (fcntl(2)).
 */
char *guard__recording(const char *path, bool writes, int *writer_fd);

/* Returns the name of the VFS without rollback journals, registered on first use. NULL without a VFS or memory. */
const char *guard__vfs(const struct sqlite *sql);

/* Limits what the contents of the file can do: no views, triggers or attached files, cells of bounded size. */
int guard__connection(struct store *s);

/* Returns -EPROTO, after reporting it, if the schema has views, triggers or virtual tables. */
int guard__schema(struct store *s);

#endif /* HAVE_SQLITE */

#endif /* TALLY_RECORD_GUARD_H */
