// SPDX-License-Identifier: BSD-2-Clause
/*
 * astray [FILE]: threads that sleep with registers from which their stack cannot be walked
 *
 *   low          the stack pointer is 16
 *   nowhere      the stack pointer is in no mapping
 *   denied       it is in a page that may not be read
 *   high         it is near the end of the address space
 *   around       the frame pointer points to a frame that is its own caller's
 *   endless      64 MiB of adjacent frames, linked by frame pointers, with return addresses in code
 *   chain        64 MiB of return addresses in code that keeps nothing else on its stack
 *   hung         the stack pointer is in a mapping of FILE, whose file system may never answer a read
 *
 *   ready TID ...          in this order, without hung if there is no FILE
 */
#include <fcntl.h>
#include <sys/syscall.h>

#include "trigger.h"

enum { LOW, NOWHERE, DENIED, HIGH, AROUND, ENDLESS, CHAIN, HUNG, PLACES };

#define PAGE 4096
#define ROOM (64 << 20)

static volatile pid_t tids[PLACES];
static volatile int ready[PLACES];
static unsigned long sp[PLACES], fp[PLACES];

/* ppoll() without files and without a timeout. */
static __attribute__((noipa)) void sleep_at(unsigned long stack, unsigned long frame)
{
#if defined(__x86_64__)
	__asm__ volatile("mov %0, %%rsp\n\t"
			 "mov %1, %%rbp\n\t"
			 "xor %%edi, %%edi\n\t"
			 "xor %%esi, %%esi\n\t"
			 "xor %%edx, %%edx\n\t"
			 "xor %%r10d, %%r10d\n"
			 "1:\n\t"
			 "mov $271, %%eax\n\t"
			 "syscall\n\t"
			 "jmp 1b"
			 : : "r"(stack), "r"(frame) : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("mov x9, %0\n\t"
			 "mov x10, %1\n\t"
			 "mov sp, x9\n\t"
			 "mov x29, x10\n\t"
			 "mov x0, #0\n\t"
			 "mov x1, #0\n\t"
			 "mov x2, #0\n\t"
			 "mov x3, #0\n"
			 "1:\n\t"
			 "mov x8, #73\n\t"
			 "svc #0\n\t"
			 "b 1b"
			 : : "r"(stack & ~15UL), "r"(frame) : "memory", "x9", "x10");
#endif
	__builtin_unreachable();
}

static char *map(size_t size, int protection)
{
	char *room = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		error(1, errno, "mmap");
	return room;
}

/* Each frame points to the next one, and returns to the same code. */
static unsigned long make_frames(void)
{
	unsigned long *word = (unsigned long *)map(ROOM, PROT_READ | PROT_WRITE), i;

	for (i = 0; i + 4 < ROOM / sizeof(*word); i += 2) {
		word[i] = (unsigned long)&word[i + 2];
		word[i + 1] = (unsigned long)sleep_at + 8;
	}
	return (unsigned long)word;
}

static unsigned long make_circle(void)
{
	unsigned long *word = (unsigned long *)map(PAGE, PROT_READ | PROT_WRITE);

	word[64] = (unsigned long)&word[64];
	word[65] = (unsigned long)sleep_at + 8;
	return (unsigned long)&word[64];
}

static unsigned long make_chain(void)
{
	unsigned long *word = (unsigned long *)map(ROOM, PROT_READ | PROT_WRITE), i;

	for (i = 0; i < ROOM / sizeof(*word); i++)
		word[i] = (unsigned long)sleep_at + 8;
	return (unsigned long)word;
}

/* The pages are not read here. */
static unsigned long map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *room = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	if (fd < 0 || room == MAP_FAILED)
		error(1, errno, "%s", path);
	return (unsigned long)room + 64;
}

static void go(long i)
{
	tids[i] = syscall(SYS_gettid);
	ready[i] = 1;
	sleep_at(sp[i], fp[i]);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? PLACES : HUNG, i;
	struct crew crew;

	trigger__name();
	sp[LOW] = 16;
	sp[NOWHERE] = (unsigned long)map(PAGE, PROT_READ);
	munmap((void *)sp[NOWHERE], PAGE);
	sp[DENIED] = (unsigned long)map(PAGE, PROT_NONE) + 64;
	sp[HIGH] = -64UL;
	sp[AROUND] = fp[AROUND] = make_circle();
	sp[ENDLESS] = fp[ENDLESS] = make_frames();
	sp[CHAIN] = make_chain();
	sp[HUNG] = argc > 1 ? map_file(argv[1]) : 0;
	for (i = 0; i < PLACES; i++)
		fp[i] = fp[i] ? fp[i] : sp[i] + 16;
	crew__hire(&crew, n, go);
	crew__start(&crew);
	for (i = 0; i < n; i++)
		while (!ready[i])
			usleep(1000);
	printf("ready");
	for (i = 0; i < n; i++)
		printf(" %d", tids[i]);
	trigger__say("%s", "");
	trigger__wait();
	exit(0);
}
