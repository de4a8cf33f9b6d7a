// SPDX-License-Identifier: BSD-2-Clause
/*
 * throws N: calls that end in every possible way, and return known results, traced or not.
 *
 *   thrower(i)     N times below middle(i), i = 0 .. N - 1: throws if i is odd, else returns i
 *   middle(i)      returns thrower(i) + 1, or is left by the exception
 *   cleaner(i)     N times, as middle(i), with an object to destroy when the exception passes
 *   deep(100)      10 times, calls itself until it has been entered 101 times each
 *   jumper(i)      N times: leaves itself by longjmp() if i is odd, else returns i
 *   handing(i)     N times: ends by jumping to handed(i), which is also called 5 times directly
 *   choosing(i)    N times: a switch with a jump table, returns one of eight numbers
 *   split(i)       N times: its unlikely half is split off, and entered for each i divisible by 7
 *
 *   done CAUGHT JUMPED SUM
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <stdexcept>

#define NOIPA __attribute__((noipa))

static volatile long sink;
static jmp_buf back;

struct cleanup {
	~cleanup() { sink = sink + 1; }
};

extern "C" {

NOIPA long thrower(long i)
{
	sink = i;
	if (i & 1)
		throw std::runtime_error("odd");
	return i;
}

NOIPA long middle(long i)
{
	long n = thrower(i);

	sink = n;
	return n + 1;
}

NOIPA long cleaner(long i)
{
	cleanup c;

	return thrower(i) + 2;
}

NOIPA long deep(long n)
{
	long below = n ? deep(n - 1) : 0;

	sink = below;
	return below + 1;
}

NOIPA long jumper(long i)
{
	sink = i;
	if (i & 1)
		longjmp(back, 1);
	return i;
}

NOIPA long handed(long i)
{
	sink = i;
	return i + 3;
}

NOIPA long handing(long i)
{
	sink = i + 1;
	return handed(i + 1);
}

NOIPA long choosing(long i)
{
	switch (i & 7) {
	case 0: sink = 9; return 5;
	case 1: sink = 8; return sink + 11;
	case 2: sink = 7; return sink * 3;
	case 3: return handed(i);
	case 4: sink = 5; return sink - 4;
	case 5: sink = 4; return sink << 3;
	case 6: sink = 3; return sink ^ 2;
	default: sink = 2; return sink | 64;
	}
}

__attribute__((cold, noipa)) void seldom(long i)
{
	sink = i;
}

NOIPA long split(long i)
{
	if (__builtin_expect(i % 7 == 0, 0)) {
		seldom(i);
		seldom(i + 1);
		sink = i;
	}
	return i + sink % 2;
}

}

static void ready()
{
	char c;

	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) == 1 && c != '\n')
		;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	volatile long caught = 0, jumped = 0, sum = 0, i;

	ready();
	for (i = 0; i < n; i++) {
		try {
			sum = sum + middle(i);
		} catch (const std::exception &) {
			caught = caught + 1;
		}
		try {
			sum = sum + cleaner(i);
		} catch (const std::exception &) {
			caught = caught + 1;
		}
		if (setjmp(back))
			jumped = jumped + 1;
		else
			jumper(i);
		sum = sum + handing(i) + choosing(i) + split(i);
	}
	for (i = 0; i < 10; i++)
		sum = sum + deep(100);
	for (i = 0; i < 5; i++)
		sum = sum + handed(i);
	printf("done %ld %ld %ld\n", caught, jumped, sum);
	fflush(stdout);
	while (read(0, argv[0], 1) > 0)
		;
	return 0;
}
