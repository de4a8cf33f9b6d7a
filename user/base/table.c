// SPDX-License-Identifier: BSD-2-Clause
#include "base/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_ROOM 64

u64 table_hash(u64 hash, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	u64 word;
	size_t len;

	hash ^= n;
	for (; n; p += len, n -= len) {
		len = n < sizeof(word) ? n : sizeof(word);
		word = 0;
		memcpy(&word, p, len);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash;
}

s64 table__find(const struct table *t, u64 hash, table_same_fn same, const void *array,
		const void *key)
{
	size_t mask = t->room - 1, i;
	const struct table_slot *s;

	if (!t->room)
		return -1;
	for (i = hash & mask;; i = (i + 1) & mask) {
		s = &t->slot[i];
		if (!s->index_and_1)
			return -1;
		if (s->hash == hash && same(array, s->index_and_1 - 1, key))
			return s->index_and_1 - 1;
	}
}

static void put(struct table *t, u64 hash, u32 index_and_1)
{
	size_t mask = t->room - 1, i = hash & mask;

	while (t->slot[i].index_and_1)
		i = (i + 1) & mask;
	t->slot[i] = (struct table_slot){ hash, index_and_1 };
}

static int grow(struct table *t)
{
	struct table larger = { t->n, t->room ? 2 * t->room : LEAST_ROOM, NULL };
	size_t i;

	larger.slot = calloc(larger.room, sizeof(*larger.slot));
	if (!larger.slot)
		return -ENOMEM;
	for (i = 0; i < t->room; i++)
		if (t->slot[i].index_and_1)
			put(&larger, t->slot[i].hash, t->slot[i].index_and_1);
	free(t->slot);
	*t = larger;
	return 0;
}

int table__add(struct table *t, u64 hash, u32 index)
{
	int err = 2 * (t->n + 1) > t->room ? grow(t) : 0;

	if (err)
		return err;
	put(t, hash, index + 1);
	t->n++;
	return 0;
}

void table__free(struct table *t)
{
	free(t->slot);
	memset(t, 0, sizeof(*t));
}
