/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of a BPF hash whose elements are plain sums by key, sorted by key bytes. Elements of
 * several CPUs are added up. Sums are cumulative; an interval is the difference of two snapshots.
 * elements__take() removes elements from the map after a final read.
 *
 * An element of the map is a key of arbitrary bytes without padding, and a value of
 *
 *   u64 sum[nsums];
 *   struct interval_maximum maximum[nmaxima][MAXIMUM_SLOTS];      bpf/lib/maximum.h; timed: struct timed_maximum
 *   u64 name_stamp;        these two only if named; the newest name of a key is kept
 *   char name[SUM_NAME_LEN];
 *
 * In a snapshot, an element is the key, then the value at the next multiple of 8: a struct of the two
 * types that tool and program share.
 */
#ifndef TALLY_AGG_SUM_SET_H
#define TALLY_AGG_SUM_SET_H

#include "agg/elements.h"
#include "base/types.h"
#include "bpf/lib/maximum.h"

#define SUM_NAME_LEN 16         /* TASK_KEY_COMM_LEN */
#define SUM_NO_WRITER SIZE_MAX

struct sum_layout {
	size_t key_size, value_size;    /* of the map; its keys may be shorter if the missing part is zero */
	size_t writer_at;       /* offset in the key of the u32 of bpf/lib/writer.h, zeroed here; or SUM_NO_WRITER */
	u32 nsums, nmaxima;
	bool named;
	bool timed;             /* maxima have timestamps */
	u64 measured;           /* bits of the sums that count the events of the maxima; 0 if unknown */
};

/* Size of an element in a snapshot, in bytes. */
size_t sum_layout__size(const struct sum_layout *l);

/* The sums and the name of an element of a snapshot; the name is NULL if the layout has none. */
const u64 *sum_layout__sums(const struct sum_layout *l, const void *element);
const char *sum_layout__name(const struct sum_layout *l, const void *element);

/* Adds the value of an element to that of another. */
void sum_layout__add_up(const struct sum_layout *l, void *to, const void *from);

/* All zeros: empty. The layout is borrowed and outlives the set. */
struct sum_set {
	const struct sum_layout *layout;
	size_t n, room;         /* room: number of elements the array has memory for, or 0 */
	char *element;
};

/* Reads a map. Returns 0, or a negative errno with *set empty. */
int sum_set__read(struct sum_set *set, const struct sum_layout *layout, int map_fd);

/* Makes a set from elements already read. Returns 0, or -ENOMEM with *set empty. */
int sum_set__make(struct sum_set *set, const struct sum_layout *layout, const struct elements *e);

/*
 * Sets *out = later - earlier, without keys whose sums did not grow. Maxima are those of later, but are omitted if no
 * measured sum grew: they belong to another interval then. Both sets must have the same layout; earlier may be empty.
 * Returns 0, or -ENOMEM with *out empty.
 */
int sum_set__difference(struct sum_set *out, const struct sum_set *later,
			const struct sum_set *earlier);

/*
 * Raises each sum of later to at least that of earlier: an operation that was reported while in progress, and that
 * ended after the map was read, must not be reported again.
 */
void sum_set__raise(struct sum_set *later, const struct sum_set *earlier);

struct sum_source {
	const struct sum_layout *layout;
	int map_fd;
	volatile u32 *generation;       /* elements__generation(); NULL if never removed, or without a writer */
	const struct bpf_link *running; /* iterator over operations in progress, not yet in the map; or NULL */
};

/*
 * For reports: stores the change since the last call in *out. *last is the state at that call, zero at first, and is
 * updated. Returns 0, or a negative errno with *out empty and *last unchanged.
 *
 * The map is read before the iterator runs: an operation that ends in between is missing here and counted by the next
 * call, never twice.
 */
int sum_set__since(struct sum_set *out, struct sum_set *last, const struct sum_source *source);

/* Adds the elements read from a descriptor until its end. Returns 0 or a negative errno. */
int sum_set__read_elements(struct sum_set *set, int fd);

/*
 * Inserts n elements of the set's layout, which must be set, and adds up equal keys. Returns 0, or -ENOMEM with the set
 * unchanged.
 */
int sum_set__insert(struct sum_set *set, const void *elements, size_t n);

/*
 * Applies change() to all keys, to group more coarsely than the map, and adds up equal keys.
 */
void sum_set__regroup(struct sum_set *set, void (*change)(void *context, void *key), void *context);

/* Returns element i, i < n: its key, then its value. Valid until the set changes. */
const void *sum_set__at(const struct sum_set *set, size_t i);
void sum_set__free(struct sum_set *set);

#endif /* TALLY_AGG_SUM_SET_H */
