/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions without frame pointers whose frames differ. Each makes the call INNERMOST(value), which the includer
 * defines.
 */
#ifndef TALLY_FRAMES_H
#define TALLY_FRAMES_H

#include <alloca.h>

#include "trigger.h"

#pragma GCC optimize("omit-frame-pointer", "no-optimize-sibling-calls")

#define NOIPA __attribute__((noipa))
#define KEEP(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

static volatile long sink;

static NOIPA int compare(const void *a, const void *b)
{
	INNERMOST(*(const int *)a);
	return *(const int *)a - *(const int *)b;
}

static NOIPA void sorting(void)
{
	int two[] = { 2, 1 };

	qsort(two, 2, sizeof(*two), compare);
	sink = two[0];
}

/* Its frame's size is known only at run time. */
static NOIPA void growing(long size)
{
	char *room = alloca(size + 100);

	KEEP(room);
	INNERMOST(size);
	KEEP(room);
}

/* It realigns its stack. */
static NOIPA void aligned(long size)
{
	char room[200] __attribute__((aligned(64)));
	char *more = alloca(size);

	KEEP(room);
	KEEP(more);
	INNERMOST(size);
	KEEP(room);
}

static NOIPA void large(void)
{
	char room[30000];

	KEEP(room);
	INNERMOST(1);
	KEEP(room);
}

static NOIPA void deep(long left)
{
	if (left > 1)
		deep(left - 1);
	else
		INNERMOST(left);
	sink++;
}

#endif /* TALLY_FRAMES_H */
