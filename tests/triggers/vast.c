// SPDX-License-Identifier: BSD-2-Clause
/*
 * vast: a program whose own allocator grants any size. Prints ready, and after a line calls malloc(2^63 - 1) five
 * times, and frees two of the results. Prints done, and waits for the end of its input.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define NOIPA __attribute__((noipa))

static char memory[64];
static size_t used;

NOIPA void *malloc(size_t n)
{
	(void)n;
	return memory + used++;
}

NOIPA void free(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

static void wait_line(void)
{
	char c = 0;

	while (read(0, &c, 1) == 1 && c != '\n')
		;
}

int main(void)
{
	void *volatile kept[5];
	int i;

	if (write(1, "ready\n", 6) != 6)
		return 1;
	wait_line();
	for (i = 0; i < 5; i++)
		kept[i] = malloc(INT64_MAX);
	for (i = 0; i < 2; i++)
		free(kept[i]);
	if (write(1, "done\n", 5) != 5)
		return 1;
	wait_line();
	return 0;
}
