/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads all elements of a BPF hash map, many per system call. */
#ifndef TALLY_AGG_ELEMENTS_H
#define TALLY_AGG_ELEMENTS_H

#include <bpf/libbpf.h>

#include "base/types.h"

/* The caller sets key_size and value_size to those of the map, and the rest to zero. */
struct elements {
	size_t n, room, key_size, value_size;
	char *keys, *values;
};

/*
 * Reads all elements. Elements added or deleted during the read may be missing. Returns 0 or a
 * negative errno. Call elements__free() in either case.
 */
int elements__read(struct elements *e, int map_fd);
void elements__free(struct elements *e);

/*
 * Position of an element's writer in the keys of a map, and the generation in which programs write
 * (bpf/lib/writer.h).
 */
struct writer_place {
	size_t at;
	volatile u32 *generation;       /* elements__generation(); NULL if elements are never removed */
	bool each_time;                 /* elements__take() empties the map on every call */
};

/* Returns the generation of a loaded object, or NULL if it has none. */
volatile u32 *elements__generation(const struct bpf_object *obj);

/*
 * Begins a new generation, stored in *writes, and waits until no program writes in the previous
 * one. Takes an RCU grace period, some 10 ms. Returns 0 or a negative errno.
 */
int elements__next_generation(volatile u32 *generation, u32 *writes);

/*
 * Waits until all programs that were running at the time of the call have returned. Returns 0 or a
 * negative errno.
 */
int elements__await_programs(void);

/*
 * Like elements__read(). If the map is at least a quarter full, also begins a new generation and removes all older
 * elements from the map. Then *anew is true, *e contains exactly the removed elements, no program writes to them any
 * more, and the next read begins from zero. This removes keys that no longer occur, and no count is lost or doubled. It
 * takes an RCU grace period, some 10 ms.
 */
int elements__take(struct elements *e, int map_fd, const struct writer_place *writer, bool *anew);

/*
 * Returns the map size for this many elements per interval, since elements of the next interval
 * coexist with those of the last: twice as many if allocated on demand, a third more if the kernel
 * preallocates them.
 */
u64 elements__room(u64 elements, bool on_demand);

/* Key and value of element i, i < n. */
const void *elements__key(const struct elements *e, size_t i);
const void *elements__value(const struct elements *e, size_t i);

/* Refers to one element, for sorting. */
struct element {
	const struct elements *of;
	size_t i;
};

/*
 * Returns all e->n elements in the order of compare(), a qsort(3) comparison of struct element.
 * Allocated, even if empty; NULL without memory.
 */
struct element *elements__sorted(const struct elements *e,
				 int (*compare)(const void *a, const void *b));

#endif /* TALLY_AGG_ELEMENTS_H */
