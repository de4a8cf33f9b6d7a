// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/python_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

/* --- texts ------------------------------------------------------------------------------------- */

static char *put_utf8(char *to, u32 c)
{
	if (!c || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = '?';
	if (c < 0x80) {
		*to++ = c;
	} else if (c < 0x800) {
		*to++ = 0xc0 | c >> 6;
		*to++ = 0x80 | (c & 0x3f);
	} else if (c < 0x10000) {
		*to++ = 0xe0 | c >> 12;
		*to++ = 0x80 | (c >> 6 & 0x3f);
		*to++ = 0x80 | (c & 0x3f);
	} else {
		*to++ = 0xf0 | c >> 18;
		*to++ = 0x80 | (c >> 12 & 0x3f);
		*to++ = 0x80 | (c >> 6 & 0x3f);
		*to++ = 0x80 | (c & 0x3f);
	}
	return to;
}

char *python_text(const struct python_text *t, const u8 *bytes, size_t room)
{
	u32 each = t->state >> 2 & 7, i, n;
	struct cursor c;
	char *text, *to;

	if ((each != 1 && each != 2 && each != 4) || t->bytes > room)
		return NULL;
	n = t->bytes / each;
	to = text = malloc(4 * (size_t)n + 4);
	if (!text)
		return NULL;
	c = cursor__of(bytes, t->bytes);
	for (i = 0; i < n; i++)
		to = put_utf8(to, cursor__take(&c, each));
	stpcpy(to, n < t->length ? "..." : "");
	return text;
}

/* --- lines ------------------------------------------------------------------------------------- */

/* Kinds of entries other than the short forms, which only add columns. */
enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };

/* Takes a number with six bits per byte, lowest bits first. */
static u32 take_number(struct cursor *c)
{
	u32 n = 0, shift = 0, byte;

	do {
		byte = cursor__take(c, 1);
		if (shift < 32)
			n |= (byte & 0x3f) << shift;
		shift += 6;
	} while (byte & 0x40 && !c->failed);
	return n;
}

static int take_signed(struct cursor *c)
{
	u32 n = take_number(c);

	return n & 1 ? -(int)(n >> 1) : (int)(n >> 1);
}

/* Returns the line increment of an entry, and skips its other data. */
static int take_entry(struct cursor *c, u32 kind)
{
	int lines = 0;
	u32 i;

	switch (kind) {
	case NONE:
		return 0;
	case LONG:
		lines = take_signed(c);
		for (i = 0; i < 3; i++)
			take_number(c);
		return lines;
	case NO_COLUMNS:
		return take_signed(c);
	case ONE_LINE:
	case ONE_LINE + 1:
	case ONE_LINE + 2:
		cursor__take(c, 2);
		return kind - ONE_LINE;
	default:
		cursor__take(c, 1);
		return 0;
	}
}

static u32 line_by_locations(struct cursor c, u32 first_line, u32 instruction)
{
	u32 line = first_line, units, kind;
	u64 at = 0;
	u8 byte;

	while (cursor__left(&c)) {
		byte = cursor__take(&c, 1);
		/* Only the first byte of an entry has the top bit set. */
		if (!(byte & 0x80))
			return 0;
		kind = byte >> 3 & 15;
		units = (byte & 7) + 1;
		line += take_entry(&c, kind);
		if (c.failed)
			return 0;
		if (instruction < at + units)
			return kind == NONE || (int)line <= 0 ? 0 : line;
		at += units;
	}
	return 0;
}

/* The table has pairs of the distance to the next instruction in bytes (unsigned) and in lines (signed). */
static u32 line_by_lnotab(struct cursor c, u32 first_line, u32 instruction)
{
	u32 line = first_line;
	u64 at = 0;

	while (cursor__left(&c) >= 2) {
		at += cursor__take(&c, 1);
		if (at > 2ULL * instruction)
			break;
		line += (int)cursor__take_signed(&c, 1);
	}
	return (int)line <= 0 ? 0 : line;
}

#define NO_LINE -128

/* The table has pairs of the number of instruction bytes on a line and the distance to that line. */
static u32 line_by_linetable(struct cursor c, u32 first_line, u32 instruction)
{
	u32 line = first_line;
	u64 end = 0;
	int lines;

	while (cursor__left(&c) >= 2) {
		end += cursor__take(&c, 1);
		lines = cursor__take_signed(&c, 1);
		if (lines != NO_LINE)
			line += lines;
		if (2ULL * instruction < end)
			return lines == NO_LINE || (int)line <= 0 ? 0 : line;
	}
	return 0;
}

u32 python_line(enum python_lines kind, const u8 *table, size_t size, u32 first_line, u32 instruction)
{
	struct cursor c = cursor__of(table, size);

	switch (kind) {
	case PYTHON_LOCATIONS:
		return line_by_locations(c, first_line, instruction);
	case PYTHON_LINETABLE:
		return line_by_linetable(c, first_line, instruction);
	case PYTHON_LNOTAB:
		return line_by_lnotab(c, first_line, instruction);
	}
	return 0;
}
