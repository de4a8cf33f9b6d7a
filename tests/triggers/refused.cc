// SPDX-License-Identifier: BSD-2-Clause
/*
 * refused N: a program with an allocator of its own, like those that are linked in for speed: operator new does not
 * call malloc(). It throws std::bad_alloc when out of memory, N times.
 *
 *   refuses(i)     N times: requests more than there is, and catches the exception
 *   keeps(i)       after each: 48 bytes by new, never deleted, from further down the stack
 *   returns(i)     after each: 64 bytes by new[], which are deleted
 *   plainly(i)     after each: 32 bytes by malloc(), never freed; and 40, which are
 *
 *   done REFUSED
 *
 * ALLOCATIONS: 5 for each i, 2 of which are deleted or freed at once. The exception is one of the others: it is
 * allocated by malloc(), and freed once it has been caught.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#define NOIPA __attribute__((noipa))

#ifndef IN_OPERATOR_NEW
#define IN_OPERATOR_NEW
#endif

static char memory[64 << 20] __attribute__((aligned(16)));
static size_t used;
static volatile long sink;
static void *volatile held;

static void *take(size_t size)
{
	size_t at = used;

	if (size > sizeof(memory) - used)
		return nullptr;
	used += (size + 15) & ~15UL;
	return memory + at;
}

static bool is_ours(void *address)
{
	return address >= memory && address < memory + sizeof(memory);
}

extern "C" {

NOIPA void *malloc(size_t size)
{
	return take(size);
}

NOIPA void free(void *address)
{
	sink = is_ours(address);
}

NOIPA void *calloc(size_t n, size_t size)
{
	return take(n * size);          /* fresh memory, so it is zero */
}

NOIPA void *realloc(void *old, size_t size)
{
	void *fresh = take(size);

	if (old && fresh)
		memcpy(fresh, old, size);
	return fresh;
}

}

NOIPA void *operator new(size_t size)
{
	void *address = take(size);

	IN_OPERATOR_NEW;
	if (!address)
		throw std::bad_alloc();
	return address;
}

void *operator new[](size_t size)
{
	return operator new(size);
}

NOIPA void operator delete(void *address) noexcept
{
	free(address);
}

NOIPA void operator delete[](void *address) noexcept
{
	free(address);
}

NOIPA void operator delete(void *address, size_t) noexcept
{
	free(address);
}

NOIPA void operator delete[](void *address, size_t) noexcept
{
	free(address);
}

extern "C" {

NOIPA long refuses(long i)
{
	try {
		held = operator new((1UL << 40) + i);
	} catch (const std::bad_alloc &) {
		return 1;
	}
	return 0;
}

/* The memory in between is never written. */
NOIPA void keeps(long i)
{
	char room[2000];

	asm volatile("" : : "r"(room) : "memory");
	held = operator new(48);
	sink = i;
}

NOIPA void returns(long i)
{
	held = operator new[](64);
	operator delete[](held);
	sink = i;
}

NOIPA void plainly(long i)
{
	char room[2000];

	asm volatile("" : : "r"(room) : "memory");
	held = malloc(32);
	held = malloc(40);
	free(held);
	sink = i;
}

}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0, refused = 0, i;
	char line[16];

	printf("ready\n");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		sink = 0;               /* end of file: runs without a test */
	for (i = 0; i < n; i++) {
		refused += refuses(i);
		keeps(i);
		returns(i);
		plainly(i);
	}
	printf("done %ld\n", refused);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return refused == n ? 0 : 1;
}
