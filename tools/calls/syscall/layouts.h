/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs of the kernel's ABI that are shown member by member: tables of the place and the meaning
 * of each member (layouts.c). Structs that need code have functions in structs.c.
 */
#ifndef TALLY_SYSCALL_LAYOUTS_H
#define TALLY_SYSCALL_LAYOUTS_H

#include <stdio.h>

#include "calls/syscall/table.h"

struct member;

struct layout {
	u8 size;                /* number of bytes read */
	u8 least;               /* least size that the kernel accepts */
	u8 alike;               /* 32-bit programs have the same layout */
	u8 more;                /* the kernel's struct is longer: adds "..." */
	const struct member *members;   /* ends with an entry without a name; NULL: only a value is shown, "[3]" */
};

/* layout: at least STRUCT_OF_MEMBERS. */
const struct layout *layouts__find(enum struct_layout layout);

/*
 * Puts the members that lie within these bytes. Returns false and puts nothing if there are too few
 * bytes.
 */
bool layouts__put(FILE *f, enum struct_layout layout, const void *data, size_t bytes);

#endif /* TALLY_SYSCALL_LAYOUTS_H */
