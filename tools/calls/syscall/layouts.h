/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs of the kernel's ABI that are shown member by member: tables of the place and the meaning
 * of each member (layouts.c). Structs that need more have functions in structs.c.
 */
#ifndef TALLY_SYSCALL_LAYOUTS_H
#define TALLY_SYSCALL_LAYOUTS_H

#include <stdio.h>

#include "calls/syscall/table.h"

struct member;

struct layout {
	u8 size;                /* bytes that are read */
	u8 least;               /* the kernel accepts no fewer */
	u8 alike;               /* the same in 32-bit programs */
	u8 more;                /* the kernel's struct is longer: "..." */
	const struct member *members;   /* ends with a nameless one; NULL: only the value, "[3]" */
};

/* layout: from STRUCT_OF_MEMBERS on. */
const struct layout *layouts__find(enum struct_layout layout);

/*
 * Puts the members within the first bytes. Returns false and puts nothing if there are too few
 * bytes.
 */
bool layouts__put(FILE *f, enum struct_layout layout, const void *data, size_t bytes);

#endif /* TALLY_SYSCALL_LAYOUTS_H */
