/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checksums of a recording's pages. SQLite's file format has none, so a flipped bit on a disk or in a copy would
 * silently change a figure.
 *
 * Each page ends with 8 reserved bytes (byte 20 of the header:
 * https://www.sqlite.org/fileformat.html#the_database_header), which contain the checksum of the rest, as in SQLite's
 * own extension (https://www.sqlite.org/cksumvfs.html). Programs that do not know the checksums can read such a file.
 * Pages in the log have 8 zeros instead, because SQLite has already computed the checksum of a frame when it writes the
 * page. A program that does not know the checksums may move these pages into the file, so 8 zeros mean no checksum.
 */
#ifndef TALLY_RECORD_PAGES_H
#define TALLY_RECORD_PAGES_H

#include "record/sqlite.h"

#ifdef HAVE_SQLITE

#define PAGE_BYTES 4096

/* "taly", in the header of the file: https://www.sqlite.org/pragma.html#pragma_application_id */
#define PAGES_APPLICATION 0x74616c79

/*
 * Writes the first page of a recording into an empty file, so that its pages have room for checksums. Returns 0, or a
 * negative errno without a message.
 */
int pages__begin(int fd);

/* Returns szOsFile (sqlite3_vfs) for files with checksums. os: the VFS below. Must be called before pages__check(). */
int pages__file_bytes(const sqlite3_vfs *os);

/*
 * Adds checksums to a file that the VFS below has just opened, if it is a recording of this version: reading a page
 * with a wrong checksum, or of another size, returns SQLITE_CORRUPT.
 */
void pages__check(sqlite3_file *file);

#endif /* HAVE_SQLITE */

#endif /* TALLY_RECORD_PAGES_H */
