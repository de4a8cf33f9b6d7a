// SPDX-License-Identifier: BSD-2-Clause
/*
 * hotspot32: a 32-bit program without a C library. Prints ready, and after a line uses some 400 ms of CPU time, nearly
 * all of it in hot(), whose one-byte inc and dec are prefixes of the next instruction to a 64-bit CPU. Prints done, and
 * waits for the end of its input.
 */
#define ROUNDS 3000000
#define CLOCK_THREAD_CPUTIME_ID 3
#define MS 400

static int call(int number, int a, const void *b, int c)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

int hot(int rounds);

__asm__(".pushsection .text, \"ax\", @progbits\n"
	".globl hot\n"
	".type hot, @function\n"
	"hot:\n"
	"	pushl %ebp\n"
	"	movl %esp, %ebp\n"
	"	movl 8(%ebp), %ecx\n"
	"	xorl %eax, %eax\n"
	"1:	inc %eax\n"
	"	inc %edx\n"
	"	dec %edx\n"
	"	addl %eax, %edx\n"
	"	dec %ecx\n"
	"	jnz 1b\n"
	"	popl %ebp\n"
	"	ret\n"
	".size hot, . - hot\n"
	".popsection\n");

static void wait(void)
{
	char c = 0;

	while (call(3, 0, &c, 1) == 1 && c != '\n')
		;
}

static int used_ms(void)
{
	int time[2] = { 0, 0 };

	call(265, CLOCK_THREAD_CPUTIME_ID, time, 0);
	return time[0] * 1000 + time[1] / 1000000;
}

void _start(void);

void _start(void)
{
	call(4, 1, "ready\n", 6);
	wait();
	while (used_ms() < MS)
		hot(ROUNDS);
	call(4, 1, "done\n", 5);
	wait();
	call(1, 0, 0, 0);
}
