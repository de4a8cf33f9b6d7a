/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of Go programs, from the table .gopclntab. The Go runtime needs it, so strip(1) and `go build -ldflags=-s`
 * keep it. Supports Go 1.2 and later. The bytes are untrusted: nothing outside them is read, and time and output are
 * linear in their size.
 */
#ifndef TALLY_TYPES_GO_FUNCTIONS_H
#define TALLY_TYPES_GO_FUNCTIONS_H

#include "base/types.h"

struct go_table {
	const u8 *bytes;
	size_t size;
	u32 word;               /* bytes of an address: 4 or 8 */
	u32 version;            /* 12, 116 or 118: Go 1.2, 1.16 and 1.18 introduced the layouts */
	u64 n;                  /* functions */
	u64 text;               /* base address of entries, since 1.18; 0: not in the table */
	u64 text_at;            /* offset of text in the table, where a relocation may replace it; 0: none */
	u64 names, entries;     /* offsets of these parts */
	u32 flags_at;           /* offset of the flags in a function's description; 0: none */
};

/* The language that a function was written in. */
enum go_kind {
	GO_UNKNOWN,             /* tables before 1.18 do not say */
	GO_COMPILED,            /* Go */
	GO_ASSEMBLY,            /* assembly of a Go package */
	GO_FOREIGN,             /* another language: Go's linker knows only its location */
};

/* The function covers start to end. The name has len bytes and is not NUL-terminated. */
struct go_function {
	u64 start, end;
	const char *name;
	size_t len;
	enum go_kind kind;
	u8 id;                  /* the runtime's number for special functions; mostly 0 */
};

/* Returns 0, or -EBADMSG: no such table, or damaged. The bytes must outlive *t. */
int go_table__open(struct go_table *t, const void *bytes, size_t size);

/* A non-zero result ends the walk. */
typedef int (*go_visit)(void *arg, const struct go_function *function);

/* Visits the functions by address, and skips damaged ones. Returns 0 or the non-zero result of visit(). */
int go_table__each(const struct go_table *t, go_visit visit, void *arg);

#endif /* TALLY_TYPES_GO_FUNCTIONS_H */
