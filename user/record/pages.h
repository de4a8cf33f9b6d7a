/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checksums of a recording's pages. SQLite has none in the file itself, so a flipped bit on a disk or in a copy would
 * change a figure silently.
 *
 * Each page ends with 8 reserved bytes (byte 20 of the header:
 * https://www.sqlite.org/fileformat.html#the_database_header), which hold the checksum of the rest, as SQLite's own
 * extension does (https://www.sqlite.org/cksumvfs.html). Programs without checksums can read such a file. The log has
 * pages with 8 zeros instead, because SQLite has already computed the checksum of a frame when it writes the page: a
 * program without checksums may move such pages into the file, so 8 zeros mean a page without a checksum.
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

/* The size of a file with checksums, for sqlite3_vfs.szOsFile. os: the VFS below. Call it before pages__check(). */
int pages__file_bytes(const sqlite3_vfs *os);

/*
 * Adds checksums to a file that the VFS below has just opened, if it is a recording of this version: reading a page
 * whose checksum is wrong, or of another size, returns SQLITE_CORRUPT.
 */
void pages__check(sqlite3_file *file);

#endif /* HAVE_SQLITE */

#endif /* TALLY_RECORD_PAGES_H */
