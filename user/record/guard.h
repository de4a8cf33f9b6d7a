/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLite finds files by name: a recording, and its journal and write-ahead log beside it. Other users
 * who can put files into that directory would choose what it reads, rolls back and deletes: a rollback
 * journal names a further file, which is deleted wherever it is
 * (https://www.sqlite.org/fileformat.html#the_rollback_journal). A recording may come from another
 * machine, so its contents are not trusted either (https://www.sqlite.org/security.html).
 *
 * So a recording is opened only if it, its directory and those above are root's, the caller's or, under
 * sudo(8), its user's, and no other user can replace it. The files beside it are made first where others
 * could make them. Rollback journals do not exist in the VFS that is used; recordings have a write-ahead
 * log.
 */
#ifndef TALLY_RECORD_GUARD_H
#define TALLY_RECORD_GUARD_H

#include "record/file.h"

#ifdef HAVE_SQLITE

/*
 * Checks the recording at path; makes it, readable by its owner only, if it is written and there is none. Returns a URI
 * for SQLITE_OPEN_URI, allocated, or NULL after reporting the error. A recording without a log on a read-only file
 * system is immutable: SQLite needs no files beside it then.
 *
 * A process may have one store of a file open at a time: the descriptors that are closed here take SQLite's locks of
 * that file with them (fcntl(2)).
 */
char *guard__recording(const char *path, bool writes);

/* The name of the VFS without rollback journals, registered on first use. NULL: SQLite has no VFS, or no memory. */
const char *guard__vfs(const struct sqlite *sql);

/* Limits what the contents of the file can do: no views, triggers or attached files, cells of bounded size. */
int guard__connection(struct store *s);

/* -EPROTO after reporting it, if the schema has views, triggers or virtual tables. */
int guard__schema(struct store *s);

#endif /* HAVE_SQLITE */

#endif /* TALLY_RECORD_GUARD_H */
