/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs of the kernel's ABI that are shown member by member: tables of where each member is and
 * what it means (layouts.c). Those that need more are functions of structs.c.
 */
#ifndef TALLY_SYSCALL_LAYOUTS_H
#define TALLY_SYSCALL_LAYOUTS_H

#include <stdio.h>

#include "calls/syscall/table.h"

struct member;

struct layout {
	u8 size;                /* bytes that are read */
	u8 least;               /* the kernel takes no fewer */
	u8 alike;               /* 32-bit programs have the same */
	u8 more;                /* the kernel has more of it: "..." */
	const struct member *members;   /* up to one without a name; NULL: the first one, "[3]" */
};

/* layout: from STRUCT_OF_MEMBERS on. */
const struct layout *layouts__find(enum struct_layout layout);

/* The members within that many bytes. False, and nothing written, if they are too few for it. */
bool layouts__put(FILE *f, enum struct_layout layout, const void *data, size_t bytes);

#endif /* TALLY_SYSCALL_LAYOUTS_H */
