/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash table of indexes into an array that the caller keeps. Elements cannot be removed. */
#ifndef TALLY_BASE_TABLE_H
#define TALLY_BASE_TABLE_H

#include "base/types.h"

/* Initialise to all zeros: empty. */
struct table {
	size_t n, room;                 /* room: 0 or a power of two */
	struct table_slot {
		u64 hash;
		u32 index_and_1;        /* index + 1; 0 if empty */
	} *slot;
};

/* Whether the caller's element array[index] matches key. */
typedef bool (*table_same_fn)(const void *array, u32 index, const void *key);

/* Returns a hash of n bytes. Chain calls for several pieces, starting with hash 0. */
u64 table_hash(u64 hash, const void *bytes, size_t n);

/* Returns the index of the matching element, or -1. */
s64 table__find(const struct table *t, u64 hash, table_same_fn same, const void *array,
		const void *key);

/* Adds an element, which must not be in the table yet. Returns 0 or -ENOMEM. */
int table__add(struct table *t, u64 hash, u32 index);
void table__free(struct table *t);

#endif /* TALLY_BASE_TABLE_H */
