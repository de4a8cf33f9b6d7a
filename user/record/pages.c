// SPDX-License-Identifier: BSD-2-Clause
#include "record/pages.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers.h"
#include "record/store.h"

#ifdef HAVE_SQLITE

#define CHECKSUM_BYTES 8
#define SMALLEST_PAGE 512

/* Offsets into the header. */
#define MAGIC 0
#define PAGE_SIZE 16
#define WRITE_VERSION 18
#define READ_VERSION 19
#define RESERVED 20
#define LARGEST_PAYLOAD 21
#define SMALLEST_PAYLOAD 22
#define LEAF_PAYLOAD 23
#define PAGES 28
#define USER_VERSION 60
#define APPLICATION_ID 68
#define HEADER_BYTES 100

static const char magic[16] = "SQLite format 3";

/*
 * Our part of an open file, which follows SQLite's own part. SQLite calls the methods with its own part, so methods
 * that are not replaced remain those of the VFS.
 */
struct checked {
	const sqlite3_io_methods *os;
	sqlite3_io_methods methods;
	u8 page[PAGE_BYTES]; /* being written */
};

/* Offset of struct checked in an open file. It follows SQLite's own part, whose size is known once the VFS is. */
static size_t checked_offset;

static struct checked *checked_of(sqlite3_file *file)
{
	return (struct checked *)((char *)file + checked_offset);
}

/* Computes the checksum that SQLite uses for its log: https://www.sqlite.org/fileformat.html#checksum_algorithm */
static void sum_page(const u8 *page, u8 sum[CHECKSUM_BYTES])
{
	u32 word[2], s1 = 0, s2 = 0;
	size_t i;

	for (i = 0; i < PAGE_BYTES - CHECKSUM_BYTES; i += sizeof(word)) {
		memcpy(word, page + i, sizeof(word));
		s1 += le32toh(word[0]) + s2;
		s2 += le32toh(word[1]) + s1;
	}
	word[0] = htole32(s1);
	word[1] = htole32(s2);
	memcpy(sum, word, sizeof(word));
}

static int read_checked(sqlite3_file *file, void *to, int bytes, sqlite3_int64 offset)
{
	static const u8 none[CHECKSUM_BYTES];
	u8 *end = (u8 *)to + PAGE_BYTES - CHECKSUM_BYTES, sum[CHECKSUM_BYTES];
	int result = checked_of(file)->os->xRead(file, to, bytes, offset);

	/* SQLite also reads parts of the header. */
	if (result != SQLITE_OK || bytes < SMALLEST_PAGE)
		return result;
	if (bytes != PAGE_BYTES || offset % PAGE_BYTES)
		return SQLITE_CORRUPT;
	if (!memcmp(end, none, sizeof(none)))
		return SQLITE_OK;
	sum_page(to, sum);
	if (memcmp(end, sum, sizeof(sum)))
		return SQLITE_CORRUPT;
	memset(end, 0, sizeof(sum)); /* the log gets the page, and the sum of a changed page would be wrong there */
	return SQLITE_OK;
}

static int write_checked(sqlite3_file *file, const void *from, int bytes, sqlite3_int64 offset)
{
	struct checked *c = checked_of(file);

	if (bytes == PAGE_BYTES && offset % PAGE_BYTES == 0) {
		memcpy(c->page, from, PAGE_BYTES);
		sum_page(c->page, c->page + PAGE_BYTES - CHECKSUM_BYTES);
		from = c->page;
	}
	return c->os->xWrite(file, from, bytes, offset);
}

/* Maps no pages, so that SQLite reads them: a mapped page would not be checked. */
static int fetch_none(sqlite3_file *file, sqlite3_int64 offset, int bytes, void **page)
{
	(void)file;
	(void)offset;
	(void)bytes;
	*page = NULL;
	return SQLITE_OK;
}

int pages__file_bytes(const sqlite3_vfs *os)
{
	checked_offset = ((size_t)os->szOsFile + _Alignof(struct checked) - 1) / _Alignof(struct checked) *
			 _Alignof(struct checked);
	return checked_offset + sizeof(struct checked);
}

static u32 number_at(const u8 *header, size_t offset)
{
	u32 number;

	memcpy(&number, header + offset, sizeof(number));
	return be32toh(number);
}

static void put_number(u8 *header, size_t offset, u32 number)
{
	number = htobe32(number);
	memcpy(header + offset, &number, sizeof(number));
}

void pages__check(sqlite3_file *file)
{
	struct checked *c = checked_of(file);
	u8 header[HEADER_BYTES];

	if (file->pMethods->xRead(file, header, sizeof(header), 0) != SQLITE_OK ||
	    memcmp(header + MAGIC, magic, sizeof(magic)) || number_at(header, APPLICATION_ID) != PAGES_APPLICATION ||
	    number_at(header, USER_VERSION) != STORE_VERSION)
		return;
	c->os = file->pMethods;
	c->methods = *c->os;
	c->methods.xRead = read_checked;
	c->methods.xWrite = write_checked;
	if (c->methods.iVersion >= 3)
		c->methods.xFetch = fetch_none;
	file->pMethods = &c->methods;
}

int pages__begin(int fd)
{
	/* The root page of the list of tables: an empty leaf, whose cells would begin at its end. */
	static const u8 leaf[] = {
		13, 0, 0, 0, 0, (PAGE_BYTES - CHECKSUM_BYTES) >> 8, (PAGE_BYTES - CHECKSUM_BYTES) & 0xff, 0
	};
	u8 page[PAGE_BYTES] = {};
	ssize_t n;
	int err;

	memcpy(page + MAGIC, magic, sizeof(magic));
	page[PAGE_SIZE] = PAGE_BYTES >> 8;
	page[WRITE_VERSION] = page[READ_VERSION] = 2; /* with a log */
	page[RESERVED] = CHECKSUM_BYTES;
	/* SQLite allows no other values. */
	page[LARGEST_PAYLOAD] = 64;
	page[SMALLEST_PAYLOAD] = page[LEAF_PAYLOAD] = 32;
	put_number(page, PAGES, 1);
	put_number(page, APPLICATION_ID, PAGES_APPLICATION);
	put_number(page, USER_VERSION, STORE_VERSION);
	memcpy(page + HEADER_BYTES, leaf, sizeof(leaf));
	sum_page(page, page + PAGE_BYTES - CHECKSUM_BYTES);
	n = pwrite(fd, page, sizeof(page), 0);
	if (n == sizeof(page))
		return 0;
	/* After a partial write, the next one fails with the reason: ENOSPC, EDQUOT, or EFBIG for ulimit -f. */
	if (n >= 0)
		n = pwrite(fd, page + n, sizeof(page) - n, n);
	err = n < 0 ? -errno : -ENOSPC;
	/* The next recorder would take a partial page for a damaged recording. */
	return ftruncate(fd, 0) ? -errno : err;
}

#endif /* HAVE_SQLITE */
