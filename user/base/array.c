// SPDX-License-Identifier: BSD-2-Clause
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 16

/* Resizes an array. array: the address of a pointer of any type. */
static int resize(void *array, size_t room, size_t size)
{
	void *larger;
	size_t bytes;

	if (__builtin_mul_overflow(room, size, &bytes) || bytes > PTRDIFF_MAX)
		return -ENOMEM;
	memcpy(&larger, array, sizeof(larger));
	larger = realloc(larger, bytes);
	if (!larger)
		return -ENOMEM;
	memcpy(array, &larger, sizeof(larger));
	return 0;
}

/* Returns the smallest power of two that is at least n; 0 for 0; SIZE_MAX if none fits. */
static size_t round_up(size_t n)
{
	size_t power = n > 0;

	while (power && power < n)
		power *= 2;
	return n && !power ? SIZE_MAX : power;
}

int array__grow(void *array, size_t n, size_t more, size_t size)
{
	size_t wanted;

	/* Most calls add one element, which rarely crosses a power of two. */
	if (more == 1 && n & (n - 1))
		return 0;
	if (__builtin_add_overflow(n, more, &wanted))
		return -ENOMEM;
	wanted = round_up(wanted);
	return wanted == round_up(n) ? 0 : resize(array, wanted, size);
}

int array__reserve(void *array, size_t *room, size_t wanted, size_t size)
{
	int err;

	if (wanted <= *room)
		return 0;
	wanted = round_up(wanted < FIRST_ROOM ? FIRST_ROOM : wanted);
	err = resize(array, wanted, size);
	if (!err)
		*room = wanted;
	return err;
}

int array__reach(void *array, size_t *room, size_t wanted, size_t size)
{
	size_t before = *room;
	int err = array__reserve(array, room, wanted, size);
	char *start;

	if (err || *room == before)
		return err;
	memcpy(&start, array, sizeof(start));
	memset(start + before * size, 0, (*room - before) * size);
	return 0;
}
