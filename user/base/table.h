/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding things again: a hash table of indexes into an array that the caller keeps. Nothing is
 * ever taken out of it.
 */
#ifndef TALLY_BASE_TABLE_H
#define TALLY_BASE_TABLE_H

#include "base/types.h"

/* All zero is an empty one. */
struct table {
	size_t n, room;                 /* room: 0 or a power of two */
	struct table_slot {
		u64 hash;
		u32 index_and_1;        /* 0: empty */
	} *slot;
};

/* Is the caller's element number index the one that key stands for? */
typedef bool (*table_same_fn)(const void *array, u32 index, const void *key);

/* A hash of bytes, of which those of several pieces can be chained: begin with 0. */
u64 table_hash(u64 hash, const void *bytes, size_t n);

/* The index of the element, or -1. */
s64 table__find(const struct table *t, u64 hash, table_same_fn same, const void *array,
		const void *key);

/* Adds an element that is not in it. Returns 0 or -ENOMEM. */
int table__add(struct table *t, u64 hash, u32 index);
void table__free(struct table *t);

#endif /* TALLY_BASE_TABLE_H */
