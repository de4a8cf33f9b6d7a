// SPDX-License-Identifier: BSD-2-Clause
/* execs32: a 32-bit program that executes a 64-bit one, /bin/true. */

static int call(int number, const void *a, const void *b, const void *c)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

void _start(void);

void _start(void)
{
	const char *argv[] = { "/bin/true", 0 }, *environment[] = { 0 };

	(void)*(volatile const char *)argv[0];  /* faults it in, for readers of this memory */
	call(11, argv[0], argv, environment);   /* execve() */
	call(1, (void *)1, 0, 0);               /* exit() */
}
