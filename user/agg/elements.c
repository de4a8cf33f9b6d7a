// SPDX-License-Identifier: BSD-2-Clause
#include "agg/elements.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#define BATCH 256               /* elements per system call at first */

static int elements__grow(struct elements *e, size_t room)
{
	void *keys, *values;

	keys = realloc(e->keys, room * e->key_size);
	if (!keys)
		return -ENOMEM;
	e->keys = keys;
	values = realloc(e->values, room * e->value_size);
	if (!values)
		return -ENOMEM;
	e->values = values;
	e->room = room;
	return 0;
}

/*
 * The kernel returns whole hash buckets, and -ENOSPC when the next one does not fit in what is
 * asked for; then the batch has to be larger (kernel/bpf/hashtab.c, since 5.6).
 */
int elements__read(struct elements *e, int map_fd)
{
	size_t batch = BATCH;
	void *position = NULL;
	u32 cursor = 0, n;
	int err = 0;

	while (err != -ENOENT) {
		if (e->room - e->n < batch) {
			err = elements__grow(e, e->n + 2 * batch);
			if (err)
				return err;
		}
		n = batch;
		err = bpf_map_lookup_batch(map_fd, position, &cursor, e->keys + e->n * e->key_size,
					   e->values + e->n * e->value_size, &n, NULL);
		if (err == -ENOSPC) {
			batch *= 2;
			continue;
		}
		if (err && err != -ENOENT)
			return err;
		e->n += n;
		position = &cursor;
	}
	return 0;
}

void elements__free(struct elements *e)
{
	free(e->keys);
	free(e->values);
	*e = (struct elements){ .key_size = e->key_size, .value_size = e->value_size };
}

const void *elements__key(const struct elements *e, size_t i)
{
	return e->keys + i * e->key_size;
}

const void *elements__value(const struct elements *e, size_t i)
{
	return e->values + i * e->value_size;
}
