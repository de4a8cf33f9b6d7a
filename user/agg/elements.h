/* SPDX-License-Identifier: BSD-2-Clause */
/* All elements of a hash map, as they are while it is read: many with each system call. */
#ifndef TALLY_AGG_ELEMENTS_H
#define TALLY_AGG_ELEMENTS_H

#include <bpf/libbpf.h>

#include "base/types.h"

/* key_size and value_size are the map's, set by the caller; all else zeroed. */
struct elements {
	size_t n, room, key_size, value_size;
	char *keys, *values;
};

/*
 * What is made or deleted meanwhile may be in it or not. Returns 0 or a negative errno; to be freed
 * by elements__free() in any case.
 */
int elements__read(struct elements *e, int map_fd);
void elements__free(struct elements *e);

/*
 * Where the writer of an element stands in the keys of a map, and the generation that programs write
 * in (bpf/lib/writer.h).
 */
struct writer_place {
	size_t at;
	volatile u32 *generation;       /* elements__generation(); NULL: elements stay for ever */
	bool each_time;                 /* elements__take() does not wait until the map is fuller */
};

/* Of a loaded object; NULL: it has none. */
volatile u32 *elements__generation(const struct bpf_object *obj);

/*
 * Begins a new generation, which *writes gets, and waits until no program writes in the one before.
 * Takes as long as an RCU grace period, some 10 ms. Returns 0 or a negative errno.
 */
int elements__next_generation(volatile u32 *generation, u32 *writes);

/* Waits until no program goes on that was running when this began. Returns 0 or a negative errno. */
int elements__await_programs(void);

/*
 * As elements__read(). Where the map has become a quarter full or more, begins a new generation and
 * takes all older elements out of the map: *anew is true, only they are in *e, no program writes them
 * any more, and the next read begins from nothing. So keys that are not seen again are gone, and not a
 * count is lost or there twice. Takes as long as an RCU grace period then, some 10 ms.
 */
int elements__take(struct elements *e, int map_fd, const struct writer_place *writer, bool *anew);

/*
 * How large to make a map for so many elements in one interval: those of the next one are made while
 * the last ones are still there. Twice as many; a third more where the kernel takes all memory at
 * once, and not as elements are made.
 */
u64 elements__room(u64 elements, bool on_demand);

/* Element i, i < n. */
const void *elements__key(const struct elements *e, size_t i);
const void *elements__value(const struct elements *e, size_t i);

/* One of them, in an order of its own. */
struct element {
	const struct elements *of;
	size_t i;
};

/*
 * All e->n in the order of compare(), whose arguments are struct element, as for qsort(3). New memory, also
 * of none; NULL: there is none.
 */
struct element *elements__sorted(const struct elements *e,
				 int (*compare)(const void *a, const void *b));

#endif /* TALLY_AGG_ELEMENTS_H */
