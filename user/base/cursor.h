/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads consecutive little-endian numbers, as on x86, from untrusted bytes. */
#ifndef TALLY_BASE_CURSOR_H
#define TALLY_BASE_CURSOR_H

#include "base/types.h"

struct cursor {
	const u8 *at, *end;
	bool failed;            /* a read went past the end; later reads return 0 */
};

static inline struct cursor cursor__of(const void *at, size_t size)
{
	return (struct cursor){ .at = at, .end = (const u8 *)at + size };
}

static inline size_t cursor__left(const struct cursor *c)
{
	return c->end - c->at;
}

static inline void cursor__fail(struct cursor *c)
{
	c->at = c->end;
	c->failed = true;
}

/* Reads a number of at most 8 bytes. */
static inline u64 cursor__take(struct cursor *c, u32 bytes)
{
	u64 n = 0;
	u32 i;

	if (cursor__left(c) < bytes) {
		cursor__fail(c);
		return 0;
	}
	for (i = 0; i < bytes; i++)
		n |= (u64)c->at[i] << 8 * i;
	c->at += bytes;
	return n;
}

static inline s64 cursor__take_signed(struct cursor *c, u32 bytes)
{
	u32 unused = 64 - 8 * bytes;

	return (s64)(cursor__take(c, bytes) << unused) >> unused;
}

/* LEB128: seven bits per byte, lowest first. Bits beyond 64 are dropped. */
static inline u64 cursor__take_leb(struct cursor *c, bool is_signed)
{
	u64 n = 0, byte;
	u32 shift = 0;

	do {
		byte = cursor__take(c, 1);
		if (shift < 64)
			n |= (byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		n |= ~0ULL << shift;
	return n;
}

static inline u64 cursor__take_uleb(struct cursor *c)
{
	return cursor__take_leb(c, false);
}

static inline s64 cursor__take_sleb(struct cursor *c)
{
	return (s64)cursor__take_leb(c, true);
}

/* Returns the next size bytes as a separate cursor. */
static inline struct cursor cursor__cut(struct cursor *c, u64 size)
{
	struct cursor part = { .at = c->at, .end = c->at };

	if (cursor__left(c) < size) {
		cursor__fail(c);
		part.failed = true;
		return part;
	}
	part.end = c->at += size;
	return part;
}

#endif /* TALLY_BASE_CURSOR_H */
