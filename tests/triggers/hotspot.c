// SPDX-License-Identifier: BSD-2-Clause
/*
 * hotspot MS CPU [NAME]: uses MS ms of CPU time on CPU (-1: anywhere), nearly all of it in the loop of hot(), between
 * the symbols hot_loop and hot_loop_end: a division, and cheap instructions. The instructions around the loop run once
 * per 1,000,000 iterations.
 *
 * With NAME it runs a copy of that code in anonymous memory, as a JIT compiler would, and names it NAME in
 * /tmp/perf-PID.map.
 */
#include <string.h>
#include <sys/mman.h>

#include "trigger.h"

#define ROUNDS 1000000

/* The code is position-independent. The result is unused. */
long hot(long rounds);
extern const char hot_end[];

#if defined(__x86_64__)
asm(".pushsection .text, \"ax\", @progbits\n"
    ".globl hot, hot_loop, hot_loop_end, hot_end\n"
    ".type hot, @function\n"
    "hot:\n"
    "	pushq %rbp\n"
    "	movq %rsp, %rbp\n"
    "	movl $7, %ecx\n"
    "	leaq hot(%rip), %rsi\n"
    "	.rept 20\n"
    "	nop\n"
    "	.endr\n"
    "hot_loop:\n"
    "	movl $1000003, %eax\n"
    "	xorl %edx, %edx\n"
    "	divl %ecx\n"
    "	addq $1, %rsi\n"
    "	decq %rdi\n"
    "	jnz hot_loop\n"
    "hot_loop_end:\n"
    "	.rept 20\n"
    "	nop\n"
    "	.endr\n"
    "	popq %rbp\n"
    "	ret\n"
    ".size hot, . - hot\n"
    "hot_end:\n"
    ".popsection\n");
#elif defined(__aarch64__)
asm(".pushsection .text, \"ax\", @progbits\n"
    ".globl hot, hot_loop, hot_loop_end, hot_end\n"
    ".type hot, %function\n"
    "hot:\n"
    "	mov x1, #7\n"
    "	movz x2, #0x4243\n"
    "	movk x2, #0xf, lsl #16\n"
    "	.rept 20\n"
    "	nop\n"
    "	.endr\n"
    "hot_loop:\n"
    "	udiv x3, x2, x1\n"
    "	add x4, x4, x3\n"
    "	subs x0, x0, #1\n"
    "	b.ne hot_loop\n"
    "hot_loop_end:\n"
    "	.rept 20\n"
    "	nop\n"
    "	.endr\n"
    "	ret\n"
    ".size hot, . - hot\n"
    "hot_end:\n"
    ".popsection\n");
#endif

static char map_path[64];

static void remove_map(void)
{
	unlink(map_path);
}

static long (*copy(const char *name))(long)
{
	size_t size = hot_end - (const char *)hot;
	void *to = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *map;

	if (to == MAP_FAILED)
		error(1, errno, "mmap");
	memcpy(to, (const void *)hot, size);
	__builtin___clear_cache(to, (char *)to + size);
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
	map = fopen(map_path, "wx");
	if (!map)
		error(1, errno, "%s", map_path);
	atexit(remove_map);
	fprintf(map, "%lx %zx %s\n", (unsigned long)to, size, name);
	fclose(map);
	return (long (*)(long))to;
}

int main(int argc, char **argv)
{
	uint64_t ns = trigger__number(argc, argv, 1) * 1000000ULL, end;
	long (*work)(long) = argc > 3 ? copy(argv[3]) : hot;

	trigger__name();
	trigger__pin(0, trigger__number(argc, argv, 2));
	trigger__say("ready");
	trigger__wait();
	end = trigger__now(CLOCK_THREAD_CPUTIME_ID) + ns;
	while (trigger__now(CLOCK_THREAD_CPUTIME_ID) < end)
		work(ROUNDS);
	trigger__say("done");
	trigger__end();
}
