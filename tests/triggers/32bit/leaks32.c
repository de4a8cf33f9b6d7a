// SPDX-License-Identifier: BSD-2-Clause
/*
 * leaks32: a 32-bit program with an allocator of its own, and no C library. Prints ready, and after a line calls
 *
 *   malloc(48)               100 times, 60 of which are freed
 *   calloc(7, 11)            5 times
 *   realloc(p, 200)          of one of the calloc(7, 11) blocks
 *   posix_memalign(64)       3 times
 *   work(i)                  100 times, returns 3 * i; deep(100) once, which makes 101 calls
 *
 * Prints done, and waits for the end of its input. 40 + 5 + 3 blocks are left: 1920 + 308 + 200 + 192 bytes.
 */
typedef unsigned int size;

#define NOIPA __attribute__((noipa))

static char memory[1 << 16];
static size used;
static volatile int sink;

static int call(int number, int a, const void *b, int c)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

NOIPA void *malloc(size n)
{
	void *p = memory + used;

	used += (n + 63) / 64 * 64;
	return p;
}

NOIPA void free(void *p)
{
	sink = (int)p;
}

NOIPA void *calloc(size n, size each)
{
	char *p = memory + used;

	used += (n * each + 63) / 64 * 64;
	return p;
}

NOIPA void *realloc(void *p, size n)
{
	void *larger = memory + used;

	sink = (int)p;
	used += (n + 63) / 64 * 64;
	return larger;
}

NOIPA int posix_memalign(void **p, size alignment, size n)
{
	sink = alignment;
	*p = memory + used;
	used += (n + 63) / 64 * 64;
	return 0;
}

NOIPA int work(int i)
{
	sink = i;
	return 3 * i;
}

NOIPA int deep(int n)
{
	int below = n ? deep(n - 1) : 0;

	sink = below;
	return below + 1;
}

static void wait(void)
{
	char c = 0;

	while (call(3, 0, &c, 1) == 1 && c != '\n')
		;
}

void _start(void);

void _start(void)
{
	void *kept[100], *p = 0;
	int i;

	call(4, 1, "ready\n", 6);
	wait();
	for (i = 0; i < 100; i++)
		kept[i] = malloc(48);
	for (i = 0; i < 60; i++)
		free(kept[i]);
	for (i = 0; i < 5; i++)
		p = calloc(7, 11);
	p = realloc(p, 200);
	for (i = 0; i < 3; i++)
		posix_memalign(&p, 64, 64);
	for (i = 0; i < 100; i++)
		work(i);
	deep(100);
	call(4, 1, "done\n", 5);
	wait();
	call(1, 0, 0, 0);
}
