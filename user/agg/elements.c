// SPDX-License-Identifier: BSD-2-Clause
#include "agg/elements.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg/variable.h"
#include "base/array.h"

#include "bpf/lib/writer.h"

#define BATCH 256               /* initial elements per system call */

static int elements__grow(struct elements *e, size_t room)
{
	size_t keys_room = e->room;

	return array__reserve(&e->keys, &keys_room, room, e->key_size) ?:
	       array__reserve(&e->values, &e->room, room, e->value_size);
}

/*
 * Reads all elements of a map. The kernel returns whole hash buckets. It returns -ENOSPC if the next bucket does not
 * fit into the batch, which must then grow (kernel/bpf/hashtab.c, since 5.6).
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

volatile u32 *elements__generation(const struct bpf_object *obj)
{
	return object_variable(obj, ".bss", "writer_generation");
}

u64 elements__room(u64 elements, bool on_demand)
{
	return elements + (on_demand ? elements : elements / 3);
}

/* Returns 1 if the map must be emptied, 0 if not, or a negative errno. */
static int map_is_due(int fd, size_t n)
{
	struct bpf_map_info info = {};
	u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) ? -errno : n && n >= info.max_entries / 4;
}

/*
 * Waits until all programs that were running at the call have ended. The kernel waits for them after each change of a
 * map of maps (maybe_wait_bpf_programs(), kernel/bpf/syscall.c, since 4.20). membarrier(2) would also work, but not
 * with tickless CPUs (nohz_full).
 */
int elements__await_programs(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	int inner, outer = -1, err;
	u32 zero = 0;

	inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "inner", sizeof(u32), sizeof(u32), 1, NULL);
	if (inner < 0)
		return inner;
	options.inner_map_fd = inner;
	outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "outer", sizeof(u32), sizeof(u32), 1,
			       &options);
	err = outer < 0 ? outer : bpf_map_update_elem(outer, &zero, &inner, BPF_ANY);
	close(inner);
	if (outer >= 0)
		close(outer);
	return err;
}

/*
 * Returns the generation: the bits above the CPU in the u32 of the key that identifies the writer (bpf/lib/writer.h).
 */
static u32 generation_of(const struct elements *e, size_t i, const struct writer_place *writer)
{
	u32 value;

	memcpy(&value, (const char *)elements__key(e, i) + writer->at, sizeof(value));
	return WRITER_GENERATION(value);
}

/* Drops the elements of the current generation. */
static void leave_out(struct elements *e, const struct writer_place *writer, u32 generation)
{
	size_t i, n = 0;

	for (i = 0; i < e->n; i++) {
		if (generation_of(e, i, writer) == generation)
			continue;
		memmove(e->keys + n * e->key_size, elements__key(e, i), e->key_size);
		memmove(e->values + n * e->value_size, elements__value(e, i), e->value_size);
		n++;
	}
	e->n = n;
}

static int delete_all(const struct elements *e, int fd)
{
	size_t i;
	int err = 0;

	for (i = 0; i < e->n && !err; i++)
		err = bpf_map_delete_elem(fd, elements__key(e, i));
	return err;
}

int elements__next_generation(volatile u32 *generation, u32 *writes)
{
	*writes = (*generation + 1) & WRITER_GENERATION(~0U);
	*generation = *writes;
	return elements__await_programs();
}

int elements__take(struct elements *e, int fd, const struct writer_place *writer, bool *anew)
{
	bool always = writer->generation && writer->each_time;
	int err = always ? 0 : elements__read(e, fd), is_due = always;
	u32 next;

	*anew = false;
	if (err || !writer->generation)
		return err;
	if (!always)
		is_due = map_is_due(fd, e->n);
	if (is_due <= 0)
		return is_due;
	err = elements__next_generation(writer->generation, &next);
	e->n = 0;
	if (!err)
		err = elements__read(e, fd);
	if (err)
		return err;
	leave_out(e, writer, next);
	*anew = true;
	return delete_all(e, fd);
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

struct element *elements__sorted(const struct elements *e,
				 int (*compare)(const void *a, const void *b))
{
	struct element *sorted = calloc(e->n ?: 1, sizeof(*sorted));
	size_t i;

	if (!sorted)
		return NULL;
	for (i = 0; i < e->n; i++)
		sorted[i] = (struct element){ e, i };
	qsort(sorted, e->n, sizeof(*sorted), compare);
	return sorted;
}
