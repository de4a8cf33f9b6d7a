/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays that grow by doubling: the one place with realloc() for it. An array is a pointer (NULL: empty) beside its
 * number of elements; the caller owns it, and frees it with free(). Growing moves it.
 *
 * Most arrays store no capacity. Theirs is derived: the least power of two that is at least n. An array that is made in
 * another way has to have it before it grows here; it still has it once elements are removed.
 *
 * Functions and macros that return int return 0 or -ENOMEM, also where a size overflows; on failure the array, n and
 * room are as before. Macros take an array's pointer and its number of elements, not their addresses, and evaluate
 * both several times; n may be of any integer type.
 */
#ifndef TALLY_BASE_ARRAY_H
#define TALLY_BASE_ARRAY_H

#include <string.h>

#include "base/types.h"

/*
 * array: the address of the pointer to n elements of this size. Makes room for more of them, uninitialised. If n is 0,
 * an array that there is gets that size.
 */
int array__grow(void *array, size_t n, size_t more, size_t size) MUST_CHECK;

/*
 * The same for an array that stores its capacity, as one that is emptied and filled again: makes *room at least wanted.
 */
int array__reserve(void *array, size_t *room, size_t wanted, size_t size) MUST_CHECK;

/* The same, and what is new is all zero: for an array that is used up to its room. */
int array__reach(void *array, size_t *room, size_t wanted, size_t size) MUST_CHECK;

/* Makes room for one element after n, uninitialised. */
#define ARRAY_ROOM(array, n) array__grow(&(array), n, 1, sizeof(*(array)))

/* Adds an element: ARRAY_APPEND(c->count, c->n, *count). The value is evaluated after growing, so not of the array. */
#define ARRAY_APPEND(array, n, ...) (ARRAY_ROOM(array, n) ?: ((array)[n] = (__VA_ARGS__), (n)++, 0))

/* Adds an element of zeros, and points to it; NULL: no memory. */
#define ARRAY_ADD(array, n)                                                                                            \
	((typeof(array))(ARRAY_ROOM(array, n) ? NULL : memset(&(array)[(n)++], 0, sizeof(*(array)))))

/* Makes room, a size_t, at least wanted; ARRAY_REACH with zeros. */
#define ARRAY_RESERVE(array, room, wanted) array__reserve(&(array), &(room), wanted, sizeof(*(array)))
#define ARRAY_REACH(array, room, wanted) array__reach(&(array), &(room), wanted, sizeof(*(array)))

#endif /* TALLY_BASE_ARRAY_H */
