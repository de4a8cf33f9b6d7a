/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of Go programs, from the table that their runtime needs (.gopclntab), which strip(1) and `go build
 * -ldflags=-s` leave: of Go 1.2 and later. The bytes are untrusted: nothing outside of them is read, and time and
 * output are linear in their size.
 */
#ifndef TALLY_TYPES_GO_FUNCTIONS_H
#define TALLY_TYPES_GO_FUNCTIONS_H

#include "base/types.h"

struct go_table {
	const u8 *bytes;
	size_t size;
	u32 word;               /* bytes of an address: 4 or 8 */
	u32 version;            /* 12, 116 or 118 for Go 1.2, 1.16 and 1.18, with which the layouts began */
	u64 n;                  /* functions */
	u64 text;               /* the address that places are relative to, since 1.18; 0: not in the table */
	u64 text_at;            /* where in the table that is: a relocation may replace it; 0: nowhere */
	u64 names, entries;     /* where these parts begin */
	u32 flags_at;           /* where a function's description has its flags; 0: nowhere */
};

/* The language that a function was written in. */
enum go_kind {
	GO_UNKNOWN,             /* of tables before 1.18: not told */
	GO_COMPILED,            /* Go */
	GO_ASSEMBLY,            /* assembly of a Go package */
	GO_FOREIGN,             /* another language: the linker of Go knows nothing but its place */
};

/* From start to end; the name has len bytes and is not terminated. */
struct go_function {
	u64 start, end;
	const char *name;
	size_t len;
	enum go_kind kind;
	u8 id;                  /* what the runtime knows it as; most are 0 */
};

/* Returns 0, or -EBADMSG: no such table, or damaged. The bytes must outlive *t. */
int go_table__open(struct go_table *t, const void *bytes, size_t size);

/* Another result than 0 ends the walk. */
typedef int (*go_visit)(void *arg, const struct go_function *function);

/* Visits the functions by address; those that are damaged are left out. Returns 0 or what visit() did. */
int go_table__each(const struct go_table *t, go_visit visit, void *arg);

#endif /* TALLY_TYPES_GO_FUNCTIONS_H */
