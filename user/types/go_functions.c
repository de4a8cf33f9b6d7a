// SPDX-License-Identifier: BSD-2-Clause
/* The layouts follow go's src/debug/gosym/pclntab.go and src/cmd/link/internal/ld/pcln.go. */
#include "types/go_functions.h"

#include <errno.h>
#include <string.h>

#include "base/cursor.h"

#define HEADER 8                /* magic, two zeroes, instruction size, address size */

enum { GO_1_2 = 12, GO_1_16 = 116, GO_1_18 = 118 };

enum { MAGIC_1_2 = 0xfffffffb, MAGIC_1_16 = 0xfffffffa, MAGIC_1_18 = 0xfffffff0, MAGIC_1_20 = 0xfffffff1 };

/*
 * Offsets in descriptions since 1.18 (struct _func of runtime/runtime2.go). Since 1.20, a line number precedes the
 * flags. The byte before the flags is the id (funcID).
 */
enum { FILES_AT = 20, FLAGS_AT_1_18 = 37, FLAGS_AT_1_20 = 41 };

/* funcFlag_ASM, since 1.17 (internal/abi/symtab.go). */
#define FLAG_ASSEMBLY 4

static u32 version_of(u32 magic)
{
	switch (magic) {
	case MAGIC_1_2:
		return GO_1_2;
	case MAGIC_1_16:
		return GO_1_16;
	case MAGIC_1_18:        /* 1.18, 1.19 */
	case MAGIC_1_20:
		return GO_1_18;
	default:
		return 0;
	}
}

static u32 flags_at(u32 magic)
{
	return magic == MAGIC_1_18 ? FLAGS_AT_1_18 : magic == MAGIC_1_20 ? FLAGS_AT_1_20 : 0;
}

/* Reads a number of the given width at an offset. Returns false if it is not in the table. */
static bool read_at(const struct go_table *t, u64 at, u32 bytes, u64 *n)
{
	struct cursor c;

	if (at > t->size)
		return false;
	c = cursor__of(t->bytes + at, t->size - at);
	*n = cursor__take(&c, bytes);
	return !c.failed;
}

/* Reads field i of the header. Fields are as wide as an address. */
static bool read_field(const struct go_table *t, u32 i, u64 *n)
{
	return read_at(t, HEADER + (u64)i * t->word, t->word, n);
}

static bool read_parts(struct go_table *t)
{
	switch (t->version) {
	case GO_1_2:
		t->names = 0;
		t->entries = HEADER + t->word;
		return true;
	case GO_1_16:
		return read_field(t, 2, &t->names) && read_field(t, 6, &t->entries);
	default:
		t->text_at = HEADER + 2 * t->word;
		return read_field(t, 2, &t->text) && read_field(t, 3, &t->names) && read_field(t, 7, &t->entries);
	}
}

/* Returns the width in bytes of the numbers in the list of functions. */
static u32 width(const struct go_table *t)
{
	return t->version == GO_1_18 ? 4 : t->word;
}

int go_table__open(struct go_table *t, const void *bytes, size_t size)
{
	struct cursor c = cursor__of(bytes, size);
	u32 magic = cursor__take(&c, 4), zeroes, step;

	*t = (struct go_table){
		.bytes = bytes, .size = size, .version = version_of(magic), .flags_at = flags_at(magic),
	};
	zeroes = cursor__take(&c, 2);
	step = cursor__take(&c, 1);
	t->word = cursor__take(&c, 1);
	if (c.failed || !t->version || zeroes || (step != 1 && step != 2 && step != 4) ||
	    (t->word != 4 && t->word != 8))
		return -EBADMSG;
	if (!read_field(t, 0, &t->n) || !read_parts(t) || t->names > size || t->entries > size)
		return -EBADMSG;
	/* Each function has two numbers. One more number is the end of the last function. */
	if (t->n > (size - t->entries) / (2 * width(t)))
		return -EBADMSG;
	return 0;
}

/* Limit on the length of a name. With many functions, it would be slow to search the rest of the table for its end. */
#define MOST_NAME 4096

/* Finds the name of the function whose description is at an offset. Returns false if it is damaged. */
static bool find_name(const struct go_table *t, u64 description, const char **name, size_t *len)
{
	const char *end;
	u64 at, offset;

	/* A description begins with the address, followed by the name's offset. */
	if (__builtin_add_overflow(t->version == GO_1_2 ? 0 : t->entries, description, &at) ||
	    __builtin_add_overflow(at, width(t), &at) || !read_at(t, at, 4, &offset) || offset >= t->size - t->names)
		return false;
	*name = (const char *)t->bytes + t->names + offset;
	offset = t->size - t->names - offset;
	end = memchr(*name, 0, offset < MOST_NAME ? offset : MOST_NAME);
	*len = end ? end - *name : 0;
	return *len;
}

/* Only functions written in Go, or for its assembler, have source files. */
static enum go_kind kind_of(const struct go_table *t, u64 description, u8 *id)
{
	u64 at = t->entries + description, files, flags, number;

	*id = 0;
	if (!t->flags_at || !read_at(t, at + FILES_AT, 4, &files) || !read_at(t, at + t->flags_at - 1, 1, &number) ||
	    !read_at(t, at + t->flags_at, 1, &flags))
		return GO_UNKNOWN;
	*id = number;
	return !files ? GO_FOREIGN : flags & FLAG_ASSEMBLY ? GO_ASSEMBLY : GO_COMPILED;
}

static int visit_one(const struct go_table *t, u64 i, go_visit visit, void *arg)
{
	u64 at = t->entries + i * 2 * width(t), start, end, description;
	struct go_function f;

	if (!read_at(t, at, width(t), &start) || !read_at(t, at + width(t), width(t), &description) ||
	    !read_at(t, at + 2 * width(t), width(t), &end) || end <= start)
		return 0;
	if (!find_name(t, description, &f.name, &f.len))
		return 0;
	f.start = t->text + start;
	f.end = t->text + end;
	f.kind = kind_of(t, description, &f.id);
	return visit(arg, &f);
}

int go_table__each(const struct go_table *t, go_visit visit, void *arg)
{
	u64 i;
	int err = 0;

	for (i = 0; i < t->n && !err; i++)
		err = visit_one(t, i, visit, arg);
	return err;
}
