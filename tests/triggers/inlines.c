// SPDX-License-Identifier: BSD-2-Clause
/*
 * inlines N: N times main() -> work() -> outer() -> leaf(), on two paths
 *
 *   outer() -> middle() -> inner() -> leaf()     the two in between are inlined
 *   outer() -> inner() -> leaf()
 *
 * The lines of the calls are marked, so that a test can find their numbers.
 *
 *   ready
 *   done
 */
#include "trigger.h"

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

#define NOIPA __attribute__((noipa))
#define INLINED static inline __attribute__((always_inline))

static volatile long sink;

void leaf(long value);
void outer(long value);

/* A function that asks for its frame address has a frame, even if it calls nothing. */
NOIPA void leaf(long value)
{
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	sink = value;
}

INLINED void inner(long value)
{
	sink++;
	leaf(value);                    /* line: inner */
	sink++;
}

INLINED void middle(long value)
{
	sink++;
	inner(value);                   /* line: middle */
	sink++;
}

NOIPA void outer(long value)
{
	middle(value);                  /* line: outer by middle */
	inner(value);                   /* line: outer by inner */
	sink++;
}

static NOIPA void work(long n)
{
	while (n--)
		outer(n);               /* line: work */
	sink++;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1);

	trigger__name();
	trigger__say("ready");
	trigger__wait();
	work(n);                        /* line: main */
	trigger__say("done");
	trigger__end();
}
