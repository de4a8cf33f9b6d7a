// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer's entry: whatever a process says are texts and tables of lines of CPython, and whatever a file says is its
 * layout, is read, and what comes of it is what the headers promise. The first byte says which it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/python_code.h"
#include "runtime/python_layout.h"

#define MOST_INSTRUCTIONS 256

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* A table says the same of an instruction whenever it is asked, and nothing of those behind its end. */
static void read_lines(enum python_lines kind, const u8 *table, size_t size)
{
	u32 most = kind == PYTHON_LINETABLE ? 64 : 8;   /* instructions of a byte of the table */
	u32 first, at, line;

	if (size < sizeof(first))
		return;
	memcpy(&first, table, sizeof(first));
	table += sizeof(first);
	size -= sizeof(first);
	for (at = 0; at < MOST_INSTRUCTIONS; at++) {
		line = python_line(kind, table, size, first, at);
		require(line <= INT32_MAX);
		require(!line || kind == PYTHON_LNOTAB || at < most * size);
		require(line == python_line(kind, table, size, first, at));
	}
	/* The last line of a table of 3.9 has no end. */
	require(kind == PYTHON_LNOTAB || !python_line(kind, table, size, first, UINT32_MAX));
}

static void read_locations(const u8 *table, size_t size)
{
	read_lines(PYTHON_LOCATIONS, table, size);
}

static void read_linetable(const u8 *table, size_t size)
{
	read_lines(PYTHON_LINETABLE, table, size);
}

static void read_lnotab(const u8 *table, size_t size)
{
	read_lines(PYTHON_LNOTAB, table, size);
}

/* How many bytes a character of UTF-8 has; 0: that is none. */
static size_t character(const u8 *at)
{
	size_t n = *at < 0x80 ? 1 : *at >> 5 == 6 ? 2 : *at >> 4 == 14 ? 3 : *at >> 3 == 30 ? 4 : 0;
	size_t i;

	for (i = 1; i < n; i++)
		if (at[i] >> 6 != 2)
			return 0;
	return n;
}

static void read_text(const u8 *data, size_t size)
{
	struct python_text t;
	size_t n;
	char *text;
	u8 *at;

	if (size < sizeof(t))
		return;
	memcpy(&t, data, sizeof(t));
	text = python_text(&t, data + sizeof(t), size - sizeof(t));
	require(!text || t.bytes <= size - sizeof(t));
	for (at = (u8 *)text; text && *at; at += n) {
		n = character(at);
		require(n);
	}
	free(text);
}

static void read_layout(const u8 *data, size_t size)
{
	struct python_layout l;
	u32 version;
	int err;

	if (size < sizeof(version))
		return;
	memcpy(&version, data, sizeof(version));
	err = python_layout__find(&l, version, data + sizeof(version), size - sizeof(version));
	require(!err || err == -EOPNOTSUPP || err == -EBADMSG);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const readers[])(const u8 *, size_t) = {
		read_locations, read_text, read_layout, read_linetable, read_lnotab,
	};

	if (size)
		readers[data[0] % ARRAY_SIZE(readers)](data + 1, size - 1);
	return 0;
}
