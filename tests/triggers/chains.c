// SPDX-License-Identifier: BSD-2-Clause
/*
 * chains N THREADS DEPTH: on each of THREADS threads, thread i on CPU i, N times for v = 1 .. N
 *
 *   work() -> left() -> target(v), bare(v), ask(), which calls getppid()
 *   work() -> right() -> middle() -> target(1000), and again target(1000)
 *
 * and once, each calling itself until it has been entered DEPTH times: pushing(), late(), marked(), marked_late(). If
 * THREADS is 0, main() itself does all of this. All functions have frame pointers, but
 *
 *   target, pushing          begin with push %rbp
 *   bare                     has no frame at all
 *   late                     makes its frame after another instruction
 *   marked, marked_late      do the same after endbr64
 *
 *   ready PUSHES BARE        whether target begins with push %rbp, and whether bare has no frame
 *   done
 */
#include <sys/syscall.h>

#include "trigger.h"

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

#define NOIPA __attribute__((noipa))

static long n, depth;
static volatile long sink;

void target(long value);
void bare(long value);
void ask(void);
void pushing(long left);
void late(long left);
void marked(long left);
void marked_late(long left);

/* A function that asks for its frame address has a frame, even if it calls nothing. */
#define MAKE_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

NOIPA void target(long value)
{
	MAKE_FRAME();
	sink = value;
}

NOIPA __attribute__((optimize("omit-frame-pointer"))) void bare(long value)
{
	sink = value;
}

NOIPA void ask(void)
{
	MAKE_FRAME();
	sink = trigger__call(SYS_getppid, NULL, NULL);
}

#ifdef __x86_64__
#define RECURSIVE(name, begin, early, behind)   \
	__asm__(".globl " name "\n"             \
		".type " name ", @function\n"   \
		name ":\n"                      \
		begin                           \
		early "push %rbp\n"             \
		"mov %rsp, %rbp\n"              \
		behind "dec %rdi\n"             \
		"jz 1f\n"                       \
		"call " name "\n"               \
		"1: pop %rbp\n"                 \
		"ret\n"                         \
		".size " name ", . - " name "\n")

__asm__(".text\n");
RECURSIVE("pushing", "", "", "nop\n");
RECURSIVE("late", "", "nop\n", "");
RECURSIVE("marked", "endbr64\n", "", "nop\n");
RECURSIVE("marked_late", "endbr64\n", "nop\n", "");
#else
#define RECURSIVE(name)                         \
	NOIPA void name(long left)              \
	{                                       \
		if (left > 1)                   \
			name(left - 1);         \
		sink++;                         \
	}

RECURSIVE(pushing)
RECURSIVE(late)
RECURSIVE(marked)
RECURSIVE(marked_late)
#endif

static NOIPA void middle(void)
{
	target(1000);
	target(1000);
	sink++;
}

static NOIPA void right(void)
{
	middle();
	sink++;
}

static NOIPA void left(long value)
{
	target(value);
	bare(value);
	ask();
	sink++;
}

static NOIPA void recurse(void)
{
	pushing(depth);
	late(depth);
	marked(depth);
	marked_late(depth);
	sink++;
}

static NOIPA void work(long thread)
{
	long value;

	if (thread >= 0)
		trigger__pin(0, thread);
	for (value = 1; value <= n; value++) {
		left(value);
		right();
	}
	recurse();
	sink++;
}

static bool begins_with_push(void (*function)(long))
{
	return *(volatile uint8_t *)(uintptr_t)function == 0x55;
}

int main(int argc, char **argv)
{
	long threads = trigger__number(argc, argv, 2);
	struct crew crew;

	n = trigger__number(argc, argv, 1);
	depth = trigger__number(argc, argv, 3);
	trigger__name();
	if (threads)
		crew__hire(&crew, threads, work);
	trigger__say("ready %d %d", begins_with_push(target), begins_with_push(bare));
	trigger__wait();
	if (threads) {
		crew__start(&crew);
		crew__finish(&crew);
	} else {
		work(-1);
	}
	trigger__say("done");
	trigger__end();
}
