/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays that grow by doubling; the only place that calls realloc() for this. An array is a pointer (NULL: empty) and
 * its number of elements. The caller owns it, and frees it with free(). Growing may move it.
 *
 * Most arrays do not store their capacity. It is derived from n: the smallest power of two that is at least n. An array
 * that was allocated elsewhere must have this capacity before it grows here. Removing elements does not shrink it.
 *
 * Functions and macros that return int return 0, or -ENOMEM, also if a size overflows. On failure, the array, n and
 * room are unchanged. Macros take an array's pointer and its number of elements, not their addresses, and evaluate both
 * several times. n may be of any integer type.
 */
#ifndef TALLY_BASE_ARRAY_H
#define TALLY_BASE_ARRAY_H

#include <string.h>

#include "base/types.h"

/*
 * Makes room for more elements, uninitialised. array: the address of the pointer to n elements of this size. If n is 0,
 * an existing array is resized to this room.
 */
int array__grow(void *array, size_t n, size_t more, size_t size) MUST_CHECK;

/*
 * Makes *room at least wanted, for an array that stores its capacity, for example because it is emptied and refilled.
 */
int array__reserve(void *array, size_t *room, size_t wanted, size_t size) MUST_CHECK;

/* Like array__reserve(), but zeroes the new room: for arrays that are used up to their room. */
int array__reach(void *array, size_t *room, size_t wanted, size_t size) MUST_CHECK;

/* Makes room for one element after n, uninitialised. */
#define ARRAY_ROOM(array, n) array__grow(&(array), n, 1, sizeof(*(array)))

/*
 * Adds an element: ARRAY_APPEND(c->count, c->n, *count). The value is evaluated after growing, so it must not be part
 * of the array.
 */
#define ARRAY_APPEND(array, n, ...) (ARRAY_ROOM(array, n) ?: ((array)[n] = (__VA_ARGS__), (n)++, 0))

/* Adds a zeroed element and returns its address, or NULL without memory. */
#define ARRAY_ADD(array, n)                                                                                            \
	((typeof(array))(ARRAY_ROOM(array, n) ? NULL : memset(&(array)[(n)++], 0, sizeof(*(array)))))

/* Raises room, a size_t, to at least wanted; ARRAY_REACH zeroes the new room. */
#define ARRAY_RESERVE(array, room, wanted) array__reserve(&(array), &(room), wanted, sizeof(*(array)))
#define ARRAY_REACH(array, room, wanted) array__reach(&(array), &(room), wanted, sizeof(*(array)))

#endif /* TALLY_BASE_ARRAY_H */
